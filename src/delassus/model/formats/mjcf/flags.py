"""What <flag> of <option> switches off, so that a model has none of it."""

from __future__ import annotations

from ..report import Report

# Parts of a model by the flags that switch them off, with MuJoCo's names of these; versions of
# MuJoCo differ in what they have. "constraint" is all that is solved for.
_FLAGS = {
    "actuation": ("ACTUATION",),
    "clampctrl": ("CLAMPCTRL",),
    "contact": ("CONTACT", "CONSTRAINT"),
    "damper": ("DAMPER", "PASSIVE"),
    "equality": ("EQUALITY", "CONSTRAINT"),
    "filterparent": ("FILTERPARENT",),
    "frictionloss": ("FRICTIONLOSS", "CONSTRAINT"),
    "gravity": ("GRAVITY",),
    "limit": ("LIMIT", "CONSTRAINT"),
    "spring": ("SPRING", "PASSIVE"),
}
_UNUSED = ("actuation", "filterparent")  # of these, what they switch off stays as it is


def is_disabled(compiled, part: str) -> bool:
    """Whether a flag of the file switches a part of the model off."""
    import mujoco

    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in _FLAGS[part])
    return any(compiled.opt.disableflags & int(bit) for bit in bits)


def report_flags(compiled, report: Report) -> None:
    """Tell of flags that change the motion in MuJoCo, but not here."""
    import mujoco

    for part in _UNUSED:
        if is_disabled(compiled, part):
            report.ignore(f"{part}= of <flag>")
    if compiled.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        report.ignore("override= of <flag>")
