"""Velocities of armatures in a step in which bodies move freely before and after the change of u.

An armature is a rotor that a joint drives. While bodies turn freely, it keeps its velocity r, and
that of its joint, J_a u, comes to differ from it. As joints do, it reflects this difference:

    r+ - J_a u+ = -(r- - J_a u-)

| symbol | here | what it is |
| --- | --- | --- |
| r- | v | velocities of joints at the start of the step; with EULER see below |
| J_a u- | work.v | those after the first free motion |
| 2 r- - J_a u- | work.rotors | what armatures have in the momentum of the step |

So bodies may turn as if there were no armatures. With EULER all of the free motion comes after the
change. Then r- are the velocities of joints before that of the last step, which are found by moving
back, and nothing is reflected: J_a u+ = r+.
"""

from __future__ import annotations

from ..compile import function, routine
from ..maximal.assembly import place_system
from ..maximal.rows.bodies import POSE, TWIST
from ..maximal.spinning import move_freely


@function
def has_armatures(model):
    """Whether a joint drives a rotor."""
    result = False
    for k in range(len(model.dofs)):
        result = result or model.armature[k] > 0.0
    return result


@function
def turn_around(n, twists):
    """Let all bodies move backwards."""
    for t in range(TWIST.size * n):
        twists[t] = -twists[t]


@routine
def put_rotors_before(model, dt, state, work):
    """Velocities of joints before the free motion of a step of EULER that ended here.

    Poses and twists stay as they are: they are kept in work.before_half and state.before.
    """
    n = len(model.bodies) - 1
    turn_around(n, state.twists)
    move_freely(model, state.poses, state.twists, dt)
    turn_around(n, state.twists)
    place_system(model, state.poses, state.twists, state.q, work)
    for k in range(len(model.dofs)):
        work.rotors[k] = work.v[k]
    for t in range(POSE.size * n):
        state.poses[t] = work.before_half[t]
    for t in range(TWIST.size * n):
        state.twists[t] = state.before[t]


@function
def put_rotors_between(model, v, work):
    """What armatures have between two free motions, of which the first is done."""
    for k in range(len(model.dofs)):
        work.rotors[k] = 2.0 * v[k] - work.v[k]
