"""What stands still stays: heavy tops, a minute at rest."""

import numpy as np
import pytest

import delassus as dl
from simulation.cases.solids import add_solid, solid
from simulation.collision.scenes import bodies


@pytest.mark.parametrize("integrator", ["midpoint", "euler"])
@pytest.mark.parametrize("dt", [1e-3, 2e-3])
def test_ten_boxes_bear_one_of_a_thousand_times_their_mass(integrator, dt):
    builder, edge, boxes = dl.ModelBuilder("stack"), 0.2, 10
    for k in range(boxes):
        mass = 1000.0 if k == boxes - 1 else 1.0
        add_solid(builder, f"box {k}", "box", (edge, edge, edge), mass)
    model = builder.build()
    q = model.neutral().reshape(-1, 7)
    q[:, 2] = edge * (0.5 + np.arange(boxes))
    sim = dl.Simulator(model, dt=dt, integrator=integrator, contact_slots=48)
    sim.reset(q.ravel())
    rec = sim.rollout(round(10.0 / dt))
    moved = rec.q.reshape(-1, boxes, 7) - q
    assert np.abs(moved[:, :, [0, 1, 3, 4, 5]]).max() < 1e-6
    assert moved[:, :, 2].min() > -2e-6 * boxes  # each contact is a micrometre deep
    assert not sim.failures
    assert rec.metrics["natural_map"].max() <= 1e-6


@pytest.mark.parametrize("friction", [0.3, 0.8])
@pytest.mark.parametrize(
    ("kind", "size"), [("box", (0.4, 0.3, 0.2)), ("box", (0.2, 0.2, 0.2)), ("cylinder", (0.1, 0.3))]
)
def test_a_solid_at_rest_creeps_less_than_a_micrometre_in_a_minute(kind, size, friction):
    model, q = solid(kind, size, mass=2.0)
    sim = dl.Simulator(model, friction=friction)
    sim.reset(q)
    sim.rollout(1000)
    before = sim.q
    rec = sim.rollout(60_000)
    assert np.abs(rec.q - before).max() < 1e-6


@pytest.mark.parametrize(
    "friction",
    [0.3, 0.8],
)
def test_a_box_that_turns_with_difficulty_creeps_less_than_a_micrometre_in_a_minute(friction):
    sim = dl.Simulator(bodies("box"), friction=friction)  # 1 kg, but 1 kg m^2 about all axes
    q = sim.model.neutral()
    q[2] = 0.1
    sim.reset(q)
    sim.rollout(1000)
    before = sim.q
    assert np.abs(sim.rollout(60_000).q - before).max() < 1e-6
