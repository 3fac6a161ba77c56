"""Mechanisms of files: what a URDF+ file declares is what is embedded, and files keep clusters."""

import itertools

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import belt, closed_states, differential
from trees import relative

INERTIAL = """<inertial><origin xyz="{com}"/><mass value="{mass}"/>
 <inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>"""


def link(name, mass=0.0, com="0 0 0", moments=(0.0, 0.0, 0.0)):
    ixx, iyy, izz = moments
    body = INERTIAL.format(com=com, mass=mass, ixx=ixx, iyy=iyy, izz=izz) if mass else ""
    return f'<link name="{name}">{body}</link>'


def joint(name, parent, child, at, axis="0 1 0", independent=None):
    declared = "" if independent is None else f'independent="{str(independent).lower()}"'
    return (
        f'<joint name="{name}" type="continuous" {declared}><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/></joint>'
    )


def pump(declared=(True, False, False, None, False)):
    """A beam pump: a crank turns a rod that rocks a beam; a winch on the beam has a motor.

    The joints are those of crank, rod, beam, winch and motor.
    """
    crank, rod, beam, winch, motor = declared
    return f"""<robot name="pump">
      {link("base")}
      {link("crank", 4.0, "0.1 0 0", (0.02, 0.05, 0.05))}
      {link("rod", 2.0, "0 0 0.5", (0.2, 0.2, 0.01))}
      {link("beam", 9.0, "0.2 0 0", (0.1, 1.5, 1.5))}
      {link("winch", 1.0, "0 0.02 -0.1", (0.01, 0.02, 0.01))}
      {link("motor", 0.3, "0 0 0", (2e-4, 3e-4, 2e-4))}
      {joint("crank_joint", "base", "crank", "0 0 0", independent=crank)}
      {joint("rod_joint", "crank", "rod", "0.3 0 0", independent=rod)}
      {joint("beam_joint", "base", "beam", "1.2 0 1.1", independent=beam)}
      {joint("motor_joint", "beam", "motor", "0.9 0.1 0", independent=motor)}
      {joint("winch_joint", "beam", "winch", "1 0 0", independent=winch)}
      <loop name="pin" type="revolute"><axis xyz="0 1 0"/>
        <predecessor link="rod"><origin xyz="0 0 1.0"/></predecessor>
        <successor link="beam"><origin xyz="-0.9 0 0"/></successor></loop>
      <coupling name="gear" type="rolling"><predecessor link="winch"/><successor link="motor"/>
        <ratio value="-8"/></coupling>
    </robot>"""


def built_pump():
    """The same mechanism, built."""
    Y = (0.0, 1.0, 0.0)
    b = dl.ModelBuilder("pump")

    def add(name, parent, at, mass, com, moments, independent):
        b.add_body(name, parent, dl.Revolute(Y), at, mass=mass, com=com,
                   inertia=np.diag(moments), independent=independent)  # fmt: skip

    add("crank", "world", [0, 0, 0], 4.0, [0.1, 0, 0], [0.02, 0.05, 0.05], True)
    add("rod", "crank", [0.3, 0, 0], 2.0, [0, 0, 0.5], [0.2, 0.2, 0.01], False)
    add("beam", "world", [1.2, 0, 1.1], 9.0, [0.2, 0, 0], [0.1, 1.5, 1.5], False)
    add("motor", "beam", [0.9, 0.1, 0], 0.3, [0, 0, 0], [2e-4, 3e-4, 2e-4], False)
    add("winch", "beam", [1, 0, 0], 1.0, [0, 0.02, -0.1], [0.01, 0.02, 0.01], True)
    b.add_frame("rod_end", "rod", [0, 0, 1.0])
    b.add_frame("beam_end", "beam", [-0.9, 0, 0])
    b.add_constraint(dl.Closure(dl.Revolute(Y), "beam_end", "rod_end"))
    b.add_constraint(dl.Gear("motor_joint", "winch_joint", -8.0))
    return b.build()


def loaded(folder, text):
    path = folder / "mechanism.urdf"
    path.write_text(text)
    return dl.load(path)


def test_a_file_is_embedded_as_the_mechanism_it_describes(tmp_path):
    emb, expected = dl.embed(loaded(tmp_path, pump())), dl.embed(built_pump())
    assert emb.clusters == expected.clusters
    assert emb.independent_joints == expected.independent_joints == ("crank_joint", "winch_joint")
    q, v, tau, forces = closed_states(expected, 0, 3)
    assert np.abs(emb.constraints.position_error(q)).max() < 1e-12
    found = dl.forward_dynamics(emb, q, v, tau, forces)
    assert relative(found, dl.forward_dynamics(expected, q, v, tau, forces)) < 1e-12


SAVED = {
    "crank-rocker": dl.robots.crank_rocker,
    "four-bar leg": dl.robots.four_bar_leg,
    "parallel ankle": dl.robots.parallel_ankle,
    "ankle of distances": lambda: dl.robots.parallel_ankle("distances"),
    "chains with a rod": lambda: dl.robots.parallel_chains(5, 2, "rod"),
    "mini cheetah": dl.robots.mini_cheetah,
    "mit humanoid leg": dl.robots.mit_humanoid_leg,
    "tello": dl.robots.tello,
    "belt, nothing declared": belt,
    "differential, nothing declared": differential,
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_keeps_its_clusters(tmp_path, name):
    model = SAVED[name]()
    model.save(tmp_path / "model.json")
    emb, again = dl.embed(model), dl.embed(dl.load(tmp_path / "model.json"))
    assert again.clusters == emb.clusters
    assert again.independent_joints == emb.independent_joints
    q, v, tau, _ = closed_states(emb, 1, 1)
    expected = dl.forward_dynamics(emb, q[0], v[0], tau[0])
    assert relative(dl.forward_dynamics(again, q[0], v[0], tau[0]), expected) < 1e-12


@pytest.mark.parametrize(
    ("declared", "independent"),
    [
        ((None, None, True, None, None), {"beam_joint"}),
        ((None, None, True, None, False), {"beam_joint", "winch_joint"}),
        ((False, None, False, False, None), {"rod_joint", "motor_joint"}),
        ((False, False, None, False, None), {"beam_joint", "motor_joint"}),
    ],
)
def test_joints_of_which_nothing_is_declared_take_what_is_left(tmp_path, declared, independent):
    emb = dl.embed(loaded(tmp_path, pump(declared)))
    assert emb.nv == 2 and independent <= set(emb.independent_joints)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ((True, True, None, None, None), r"crank, rod, beam has 1 .*\(crank_joint, rod_joint\) have"
         r" 2; take \w+_joint, for example"),
        ((False, False, False, None, None), r"crank, rod, beam has 1 .*\(none\) have 0; take"),
        ((None, None, None, True, True), r"motor, winch has 1 .*\(motor_joint, winch_joint\) have"),
    ],
)  # fmt: skip
def test_declarations_that_cannot_be_are_named(tmp_path, declared, message):
    with pytest.raises(dl.ModelError, match=message):
        dl.embed(loaded(tmp_path, pump(declared)))


def test_what_is_given_goes_before_what_is_declared(tmp_path):
    model = loaded(tmp_path, pump())
    emb = dl.embed(model, independent=["rod_joint"])
    assert emb.independent_joints == ("rod_joint", "winch_joint")
    assert dl.embed(model, independent=emb.independent_joints).clusters == emb.clusters


def test_actuators_are_first_among_those_of_which_nothing_is_declared(tmp_path):
    model = loaded(tmp_path, pump((None, None, False, None, None)))
    for name, motor in itertools.product(("crank", "rod"), ("winch", "motor")):
        emb = dl.embed(model, actuators=[f"{name}_joint", f"{motor}_joint", "beam_joint"])
        assert set(emb.independent_joints) == {f"{name}_joint", f"{motor}_joint"}
