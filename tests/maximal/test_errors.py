"""Bad input has clear errors that name bodies and joints."""

import numpy as np
import pytest

import delassus as dl
from delassus.maximal.settings import Contact, Softening, Stabilization
from delassus.maximal.system import MaximalSystem
from maximal.mechanisms import ball, slider

pytestmark = pytest.mark.uncompiled

AT, UP = [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]


def step(system, dt=0.01, **options):
    model = system.model
    state = system.state(model.neutral(), np.zeros(model.nv))
    return system.dual_problem(*state, dt, **options)


def test_a_system_is_made_of_a_model_and_its_own_constraints():
    with pytest.raises(dl.DataTypeError, match="must be a Model"):
        MaximalSystem("ball")
    with pytest.raises(dl.DataTypeError, match="list of Constraint"):
        MaximalSystem(ball(), "ball")
    with pytest.raises(dl.ModelError, match="another model"):
        MaximalSystem(ball(), dl.Constraints(ball(), [dl.Weld("ball")]))
    with pytest.raises(dl.UnknownNameError, match="no frame 'bal'"):
        MaximalSystem(ball(), [dl.Weld("bal")])
    with pytest.raises(dl.ModelError, match="'ball_joint' has 6 degrees of freedom"):
        MaximalSystem(ball(), [dl.Coupling({"ball_joint": 1.0})])
    with pytest.raises(dl.ModelError, match="'ball_joint' is Free"):
        MaximalSystem(ball(), [dl.Implicit(lambda x: x[0], "ball_joint")])
    with pytest.raises(dl.ImmutableError):
        MaximalSystem(ball()).model = None


def test_frames_of_a_loop_are_on_two_bodies():
    builder = dl.ModelBuilder("one")
    builder.add_body("body", joint=dl.Free(), mass=1.0, inertia=np.eye(3))
    builder.add_frame("tip", "body", [0.1, 0.0, 0.0])
    with pytest.raises(dl.ModelError, match="'tip' and 'body' are on the same body"):
        MaximalSystem(builder.build(), [dl.Connect("tip", "body")])


def test_quaternions_have_no_limits():
    builder = dl.ModelBuilder("one")
    builder.add_body("body", joint=dl.Spherical(), mass=1.0, inertia=np.eye(3), lower=-0.5)
    with pytest.raises(dl.ModelError, match=r"joint 'body_joint'.*quaternion"):
        MaximalSystem(builder.build())


def test_a_body_without_mass_has_no_delassus_matrix_of_joint_rows():
    builder = dl.ModelBuilder("light")
    builder.add_body("ghost", joint=dl.Revolute())
    builder.add_body("load", "ghost", dl.Revolute([1, 0, 0]), mass=1.0, inertia=np.eye(3))
    system = MaximalSystem(builder.build())
    with pytest.raises(dl.ModelError, match="'ghost' has no mass"):
        step(system)
    assert step(system, joints="eliminated").size == 0


def test_states_have_the_shapes_of_the_system():
    system = MaximalSystem(slider())
    with pytest.raises(dl.ShapeError, match="q must"):
        system.state(np.zeros(2), np.zeros(1))
    with pytest.raises(dl.ShapeError, match="poses must"):
        system.coordinates(np.zeros((2, 7)), np.zeros((2, 6)))
    with pytest.raises(dl.ShapeError, match="tau must"):
        system.accelerations([0.0], [0.0], [0.0, 1.0])
    with pytest.raises(dl.ShapeError, match="external_forces"):
        system.accelerations([0.0], [0.0], [0.0], np.zeros((2, 6)))


@pytest.mark.parametrize(
    ("contact", "error", "says"),
    [
        (Contact("floor", "ball", AT, UP), dl.UnknownNameError, "no moving body 'floor'"),
        (Contact("ball", "ball", AT, UP), dl.ModelError, "does not touch itself"),
        (Contact("world", "ball", AT), dl.SettingError, "normal or a frame"),
        (Contact("world", "ball", AT, AT), dl.ModelError, "'ball': normal must not be zero"),
        (Contact("world", "ball", AT, frame=np.ones((3, 3))), dl.SettingError, "orthonormal"),
        (Contact("world", "ball", AT, frame=np.ones(3)), dl.ShapeError, "3x3"),
        (Contact("world", "ball", AT, UP, friction=-1.0), dl.SettingError, "friction"),
        (Contact("world", "ball", AT, UP, restitution=1.5), dl.SettingError, "at most 1"),
        (Contact("world", "ball", AT, UP, distance=np.nan), dl.DataTypeError, "distance"),
    ],
)
def test_contacts_are_checked(contact, error, says):
    with pytest.raises(error, match=says):
        step(MaximalSystem(ball()), contacts=[contact])


def test_too_few_slots_is_an_answer_and_never_a_cut():
    system = MaximalSystem(ball(), contact_slots=2)
    with pytest.raises(dl.SettingError, match="contact_slots=3"):
        step(system, contacts=[Contact("world", "ball", AT, UP)] * 3)


@pytest.mark.parametrize(
    "options",
    [
        {"midpoint": 0.0},
        {"midpoint": 1.0},
        {"power": 0.5},
        {"width": -1.0},
        {"impedance": 0.0},
        {"impedance_at_width": 1.1},
        {"time_constant": 0.0},
        {"damping_ratio": -1.0},
    ],
)
def test_parameters_of_softening_are_checked(options):
    with pytest.raises(dl.SettingError, match=next(iter(options))):
        Softening(**options)


def test_settings_of_a_step_are_checked():
    system = MaximalSystem(ball())
    with pytest.raises(dl.SettingError, match="dt must be positive"):
        step(system, 0.0)
    with pytest.raises(dl.UnknownNameError, match="joints"):
        step(system, joints="kept")
    with pytest.raises(dl.SettingError, match="contacts"):
        Stabilization(contacts=-0.1)
    with pytest.raises(dl.SettingError, match="depenetration_speed"):
        Stabilization(depenetration_speed=-1.0)
    with pytest.raises(dl.SettingError, match="joint_opening"):
        Stabilization(joint_opening=-1.0)
    with pytest.raises(dl.UnknownNameError, match="law"):
        Softening(law="newton")
