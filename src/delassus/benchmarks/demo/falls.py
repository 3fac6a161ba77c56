"""A fall: the rollout of a mechanism, and what is plotted and told of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import Failure, Recording, Simulator
from ..measuring.timing import processor_clock
from .mechanisms import Mechanism

DT = 1e-3
STEPS = 2500
_GRAVITY = 9.81
_LAST = 200  # steps, over which forces at the end are averaged


@dataclass(frozen=True, eq=False)
class Fall:
    """A rollout with contacts, and the time it took, of a step in seconds."""

    mechanism: Mechanism
    start: np.ndarray  # with loops closed
    recording: Recording
    seconds: float
    failures: list[Failure]

    @property
    def joint_error(self) -> float:
        """The largest of all steps, in metres."""
        return float(self.recording.metrics["joint_error"].max())

    @property
    def weight(self) -> float:
        """In newtons."""
        return _GRAVITY * self.mechanism.model.mass

    def forces(self) -> dict[str, np.ndarray]:
        """What the ground pushes up with, of each step, by body."""
        contacts = self.recording.contacts
        pushed = {}
        for name in dict.fromkeys(contacts["second"].tolist()):
            own = contacts[(contacts["second"] == name) & (contacts["first"] == "world")]
            lift = own["force"][:, 2]
            pushed[name] = np.bincount(own["step"], lift, minlength=len(self.recording))
        return {name: lift for name, lift in pushed.items() if lift.any()}


def simulator(mechanism: Mechanism) -> Simulator:
    """A simulator at the start, with loops closed."""
    made = Simulator(mechanism.model, dt=DT, on_error="record", threads=1)
    made.reset(mechanism.q)
    return made


def fall(mechanism: Mechanism) -> Fall:
    """Let a mechanism fall."""
    sim = simulator(mechanism)
    start = np.array(sim.q)
    sim.rollout(1, mechanism.control)  # compiles
    sim.reset(start)
    clock = processor_clock()
    begun = clock()
    sim.rollout(STEPS, mechanism.control)
    seconds = (clock() - begun) / STEPS
    sim.reset(start)
    sim.failures.clear()
    recording = sim.rollout(STEPS, mechanism.control, contacts=True)
    return Fall(mechanism, start, recording, seconds, list(sim.failures))


def told(one: Fall) -> str:
    """A paragraph on a fall."""
    model, metrics, made = one.mechanism.model, one.recording.metrics, one.seconds
    steps = metrics["contacts"]
    first = int(np.argmax(steps > 0))
    energy = (metrics["kinetic_energy"] + metrics["potential_energy"])[:first]
    kept = np.ptp(energy) / metrics["kinetic_energy"][: first + 1].max()
    lift = np.mean(sum(one.forces().values(), np.zeros(STEPS))[-_LAST:])
    return (
        f"{one.mechanism.title}: {one.mechanism.about}.\n"
        f"  {model.n_bodies} bodies, {model.mass:.0f} kg; {STEPS} steps of {1e3 * DT:g} ms, "
        f"{1e6 * made:.0f} µs each, {DT / made:.0f} times real time\n"
        f"  falls for {first * DT:.2f} s, keeping its energy to {kept:.0e} of what it falls "
        f"with; largest joint error {one.joint_error:.1e} m\n"
        f"  at the end {steps[-1]:.0f} contacts carry {lift / one.weight:.2%} of its weight, and "
        f"it moves with {1e3 * metrics['kinetic_energy'][-1]:.2g} mJ"
    )
