"""Excluded and explicit pairs of contacts of a compiled MJCF model."""

from __future__ import annotations

import numpy as np

from ...builder import ModelBuilder
from ...parts.contacts import ContactExclusion, ContactPair, Softness
from ..report import Report
from .flags import is_disabled
from .names import MjcfNames, blamed

# MuJoCo's defaults of solref and solimp, which a simulator's own defaults stand for.
_DEFAULT_SOFTNESS = (0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0)
_ROLLING = 4  # the least condim of contacts with torsional or rolling friction


def add_contacts(builder: ModelBuilder, compiled, names: MjcfNames, report: Report) -> None:
    """Add <exclude> and <pair>; tell of what they hold beyond what is used."""
    for signature in compiled.exclude_signature:
        first, second = int(signature) >> 16, int(signature) & 0xFFFF
        with blamed("exclude of body", names.bodies[first]):
            exclusion = ContactExclusion(names.bodies[first], names.bodies[second])
            builder.add_contact_exclusion(exclusion)
    read = names.read_geoms
    for i in range(0 if is_disabled(compiled, "contact") else compiled.npair):
        geoms = int(compiled.pair_geom1[i]), int(compiled.pair_geom2[i])
        if not read.issuperset(geoms):
            report.ignore("<pair> of a geom that is not read")
            continue
        friction = compiled.pair_friction[i]
        if friction[0] != friction[1]:
            report.ignore("the second sliding friction of <pair>")
        report_contact(report, "pair", compiled.pair_dim[i], compiled.pair_gap[i])
        if np.any(getattr(compiled, "pair_solreffriction", np.zeros((i + 1, 1)))[i]):
            report.ignore("solreffriction= of <pair>")
        shapes = [names.geoms[geom] for geom in geoms]
        with blamed("pair of geom", shapes[0]):
            builder.add_contact_pair(
                ContactPair(
                    *shapes,
                    friction=0.0 if compiled.pair_dim[i] == 1 else float(friction[0]),
                    softness=softness(compiled.pair_solref[i], compiled.pair_solimp[i]),
                    margin=float(compiled.pair_margin[i]),
                )
            )


def softness(solref: np.ndarray, solimp: np.ndarray) -> Softness | None:
    """solref and solimp, None where they are MuJoCo's defaults."""
    found = tuple(map(float, (*solref, *solimp)))
    return None if found == _DEFAULT_SOFTNESS else found


def report_contact(report: Report, tag: str, condim: int, gap: float) -> None:
    """Tell of what a contact's parameters ask for beyond what is used."""
    if condim >= _ROLLING:
        report.ignore(f"torsional and rolling friction of <{tag}>")
    if gap:
        report.ignore(f"gap= of <{tag}>")
