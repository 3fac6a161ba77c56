"""Cone rows of one step: limits, then dry friction, then contacts.

They are scaled by P = mobility^-1/2, one number for each contact: see `contact.operators.dense`.

| symbol | here | what |
| --- | --- | --- |
| C | work.op.blocks | Jacobians of cone rows, with P |
| P | work.cones.scale | scale of each row |
| lambda_c | work.cones.reactions | scaled reactions, P^-1 times those as given |
| | work.bias | what a row adds to its velocity C u |
| R | work.op.compliance | softness, scaled: a row adds R lambda_c to its velocity, too |
"""

from __future__ import annotations

from ...compile import function, layout, maximum, routine, sqrt
from ...contact.kernels import CONES
from ...contact.laws.cones import natural_map
from ...contact.laws.relative import relative_map, unit_of
from ...contact.laws.request import OPTION
from ...contact.operators.bodies import first_cone_velocity
from ...contact.operators.elements import CONE, Cones, cone_at, place_of
from ...maximal.assembly import joint_blocks, joint_rows
from ...maximal.rows.blocks import PAIR, ROW
from ...maximal.rows.contacts import CONTACT, CONTACT_BLOCKS
from ...maximal.rows.limits import ACTIVE
from ...maximal.structure.packed import SIDE
from ..structure.world import bodies_of

# Elements of cone rows, their Jacobians with those of joints, how many elements there are, and R.
ELEMENTS = layout(elements="cone_table", blocks="n_blocks", tally=1, compliance="cone_rows")
CONE_ROWS = layout(cones=CONES, bias="cone_rows")


@function
def count_rows(counts):
    """Number of cone rows."""
    return counts[1] + counts[2] + 3 * counts[3]


@function
def cones_of(memory):
    """The elements of cone rows."""
    return Cones(int(memory.tally[0]), memory.elements, memory.blocks)


@function
def put_element(model, k, row, height, start, ends, work):
    """Element k of cone rows: rows from `row` on, blocks of its two bodies from `start` on."""
    at, n, count = k * CONE.size, work.op.elements, 0
    n[at + CONE.row], n[at + CONE.height] = 1.0 * row, 1.0 * height
    n[at + CONE.jacobian] = 1.0 * (start if ends[0] > 0 else start + SIDE * height)
    first = first_cone_velocity(bodies_of(model))
    for e in range(2):
        if ends[e] > 0:
            place = 6 * model.places[ends[e] - 1].position - first
            n[at + CONE.places + count] = 1.0 * place
            count += 1
    n[at + CONE.count] = 1.0 * count


@function
def scale_rows(n_held, row, height, start, rows, work):
    """P of an element's rows, in their blocks and in what is known of them."""
    first = (n_held + row) * ROW.size
    mobility, compliance = 0.0, 0.0
    for t in range(height):
        mobility = mobility + rows[first + t * ROW.size + ROW.mobility]
        compliance = compliance + rows[first + t * ROW.size + ROW.compliance]
    mobility, compliance = mobility / height, compliance / height
    scale = 1.0 / sqrt(mobility) if mobility > 0.0 else 1.0
    for t in range(2 * SIDE * height):
        work.op.blocks[start + t] = scale * work.op.blocks[start + t]
    for t in range(height):
        work.cones.scale[row + t] = scale
        work.cones.unit[row + t] = unit_of(mobility + compliance)
        at = first + t * ROW.size
        bias = rows[at + ROW.bias] + rows[at + ROW.regulation]
        work.bias[row + t] = scale * bias
        work.op.compliance[row + t] = scale * scale * rows[at + ROW.compliance]


@routine
def put_cones(model, counts, active, contacts, rows, dt, state, work):
    """Elements, coefficients and first reactions of all cone rows."""
    _, n_limits, n_bounded, n_contacts = counts
    cones = work.cones
    start, k, n_held = joint_blocks(model), 0, joint_rows(model)
    for i in range(n_limits):
        limit = int(active[i * ACTIVE.size + ACTIVE.limit])
        joint = model.joints[model.limits[limit].joint]
        at = start + PAIR * i
        put_element(model, k, k, 1, at, (joint.base_body, joint.follower), work)
        scale_rows(n_held, k, 1, at, rows, work)
        cones.own_coefficients[k] = 0.0
        cones.reactions[k] = state.limits[limit] / cones.scale[k]
        k += 1
    start += PAIR * len(model.limits)
    for i in range(n_bounded):
        dof = model.bounded[i]
        joint = model.joints[model.dofs[dof].joint]
        at = start + PAIR * i
        put_element(model, k, k, 1, at, (joint.base_body, joint.follower), work)
        scale_rows(n_held, k, 1, at, rows, work)
        cones.own_coefficients[k] = dt * model.friction[dof]
        cones.reactions[k] = state.bounded[i] / cones.scale[k]
        k += 1
    start += PAIR * len(model.bounded)
    for c in range(n_contacts):
        at, record, row = start + CONTACT_BLOCKS * c, c * CONTACT.size, k + 3 * c
        ends = int(contacts[record + CONTACT.a]), int(contacts[record + CONTACT.b])
        put_element(model, k + c, row, 3, at, ends, work)
        scale_rows(n_held, row, 3, at, rows, work)
        cones.own_coefficients[row] = 0.0
        cones.own_coefficients[row + 1] = 0.0
        cones.own_coefficients[row + 2] = contacts[record + CONTACT.friction]
        for t in range(3):
            cones.reactions[row + t] = state.reactions[3 * c + t] / cones.scale[row + t]
    work.op.tally[0] = 1.0 * (k + n_contacts)
    for t in range(k + 3 * n_contacts):
        x = cones.own_coefficients[t]
        cones.coefficients[t] = x / cones.scale[t] if t < k else x


@function
def stop_parting(counts, work):
    """Ask no row to part or to bounce: joints may not allow it, but that all rests they do.

    Returns whether a row was asked to.
    """
    n_limits, single = counts[1], counts[1] + counts[2]
    was_asked = False
    for t in range(count_rows(counts)):
        is_normal = t < n_limits or (t >= single and (t - single) % 3 == 2)
        if is_normal and work.bias[t] < 0.0:
            work.bias[t], was_asked = 0.0, True
    return was_asked


@function
def forget_reactions(model, counts, work):
    """Start from no reactions: where there is no solution, those found grow without bound."""
    for t in range(count_rows(counts)):
        work.cones.reactions[t] = 0.0
    for t in range(joint_rows(model)):
        work.held[t] = 0.0


@function
def put_floors(counts, work):
    """Sizes of rows, see `contact.laws.relative`, are STEADY |g| dt W at least.

    So where bodies rest, a tolerance of 1e-6 is 1e-4 of what gravity adds to velocities in a step.
    For rows of joints these are divided by the length of links, where it is more than a metre.
    """
    cones, singles = work.cones, counts[1] + counts[2]
    for i in range(count_rows(counts)):
        speed = work.steady[0] if i >= singles else work.steady[1]
        cones.least[i] = maximum(cones.least[i], cones.unit[i] * speed)


@function
def natural_map_now(model, counts, options, u, work):
    """The natural map as given, and the relative one; velocities of bodies are by position."""
    cones, view = work.cones, cones_of(work.op)
    first = first_cone_velocity(bodies_of(model))
    for k in range(view.count):
        element = cone_at(view, k)
        for r in range(element.height):
            t = element.row + r
            v = work.bias[t] + work.op.compliance[t] * cones.reactions[t]
            for e in range(element.count):
                start = element.jacobian + SIDE * (element.height * e + r)
                place = first + place_of(element, e)
                for m in range(SIDE):
                    v = v + work.op.blocks[start + m] * u[place + m]
            cones.own_velocity[t] = v / cones.scale[t]
            cones.own_reactions[t] = cones.scale[t] * cones.reactions[t]
    natural = natural_map(
        counts, cones.own_coefficients, options[OPTION.is_ncp], cones.own_reactions,
        cones.own_velocity,
    )  # fmt: skip
    return natural, relative_map(counts, cones, options[OPTION.is_ncp])
