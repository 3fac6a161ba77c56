"""The files of an installed collection of robot descriptions (example-robot-data)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import MissingDependencyError
from ..extras import install_command

_COLLECTION = "example-robot-data"
_SYSTEM_PREFIXES = ("/usr/local", "/usr", "/opt/openrobots")

_PENDULUMS = "double_pendulum_description/urdf"

# Robots that stand fixed, and their files in the folder of the collection.
FIXED = {
    "allegro_left": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "allegro_right": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "asr_twodof": "asr_twodof_description/urdf/TwoDofs.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "bravo7": "bravo7_description/urdf/bravo7_no_ee.urdf",
    "bravo7_gripper": "bravo7_description/urdf/bravo7_gripper.urdf",
    "double_pendulum": f"{_PENDULUMS}/double_pendulum.urdf",
    "double_pendulum_continuous": f"{_PENDULUMS}/double_pendulum_continuous.urdf",
    "double_pendulum_simple": f"{_PENDULUMS}/double_pendulum_simple.urdf",
    "finger_edu": "finger_edu_description/robots/finger_edu.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "so100": "so_arm_description/urdf/so100.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "talos_arm": "talos_data/robots/talos_left_arm.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "tiago_no_hand": "tiago_description/robots/tiago_no_hand.urdf",
    "tiago_pro": "tiago_pro_description/robots/tiago_pro.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur3_gripper": "ur_description/urdf/ur3_gripper.urdf",
    "ur3_limited": "ur_description/urdf/ur3_joint_limited_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur5_gripper": "ur_description/urdf/ur5_gripper.urdf",
    "ur5_limited": "ur_description/urdf/ur5_joint_limited_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "ur10_limited": "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}

# Robots whose base floats.
FLOATING = {
    "a1": "a1_description/urdf/a1.urdf",
    "alex": "alex_description/urdf/alex_nub_hands.urdf",
    "alex_psyonic": "alex_description/urdf/alex_psyonic_hands.urdf",
    "alex_sake": "alex_description/urdf/alex_sake_hands.urdf",
    "alexander": "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "anymal_kinova": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "b1": "b1_description/urdf/b1.urdf",
    "b1_z1": "b1_description/urdf/b1-z1.urdf",
    "bluevolta": "bluevolta_description/urdf/bluevolta.urdf",
    "bluevolta_bravo7": "bluevolta_description/urdf/bluevolta_bravo7_no_ee.urdf",
    "bluevolta_bravo7_gripper": "bluevolta_description/urdf/bluevolta_bravo7_gripper.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
    "borinot": "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "cassie": "cassie_description/robots/cassie.sdf",
    "cassie_reduced": "cassie_description/robots/cassie_reduced.sdf",
    "cassie_simple": "cassie_description/robots/cassie_simple.sdf",
    "cassie_v2": "cassie_description/robots/cassie_v2.sdf",
    "cassie_without_springs": "cassie_description/robots/cassie_wo_gearbox_spring.sdf",
    "centauro": "centauro_description/urdf/centauro.urdf",
    "falcon_bravo7": "falcon_description/urdf/falcon_bravo7_no_ee.urdf",
    "falcon_bravo7_gripper": "falcon_description/urdf/falcon_bravo7_gripper.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "g1_hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hector": "hector_description/robots/quadrotor_base.urdf",
    "hextilt": "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "human": "human_description/robots/human.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "icub_reduced": "icub_description/robots/icub_reduced.urdf",
    "iris": "iris_description/robots/iris.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "quadruped": "quadruped_description/urdf/quadruped.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "romeo_small": "romeo_description/urdf/romeo_small.urdf",
    "simple_humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "solo8": "solo_description/robots/solo.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "talos_box": "talos_data/robots/talos_reduced_box.urdf",
    "talos_full": "talos_data/robots/talos_full_v2.urdf",
    "talos_full_box": "talos_data/robots/talos_full_v2_box.urdf",
}

FILES = {**FIXED, **FLOATING}


def installed() -> list[str]:
    """Names of the robots whose files are there.

    Releases of the collection differ: a robot that has left it, or has not come yet, is not named.
    """
    folders = list(_collections())
    return [name for name, file in FILES.items() if any((f / file).is_file() for f in folders)]


def file_of(name: str) -> Path:
    """The file of a robot that is one of `FILES`."""
    searched = list(_collections())
    for folder in searched:
        if (folder / FILES[name]).is_file():
            return folder / FILES[name]
    if searched:
        raise MissingDependencyError(
            f"robot {name!r} is not in {', '.join(map(str, searched))}; another release of "
            f"{_COLLECTION} may hold it (the newest: {install_command('robots', '--upgrade')})"
        )
    raise MissingDependencyError(
        f"robot {name!r} comes from {_COLLECTION}, which is not installed: "
        f"{install_command('robots')}"
    )


def _collections() -> Iterator[Path]:
    """Folders of robots that are there."""
    for folder in _shares():
        robots = folder / _COLLECTION / "robots"
        if robots.is_dir():
            yield robots


def _shares() -> Iterator[Path]:
    """Folders of shared data: of Python packages, of this environment, of ROS, of the system."""
    for entry in sys.path:
        yield Path(entry) / "cmeel.prefix" / "share"
    prefixes = [sys.prefix]
    for variable in ("CONDA_PREFIX", "AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        prefixes += [p for p in os.environ.get(variable, "").split(os.pathsep) if p]
    for prefix in (*prefixes, *_SYSTEM_PREFIXES):
        yield Path(prefix) / "share"
