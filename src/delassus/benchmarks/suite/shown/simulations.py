"""Tables of whole simulations, and of sweeps over stabilisation and softening."""

from __future__ import annotations

from collections.abc import Sequence

from ...reporting.tables import Column, Record, Table, named, numbers
from ..sweeping import KINDS

_NUMBERS = [
    *numbers(".1f", seconds_simulated="s simulated"),
    *numbers(".3g", energy_change="energy change, J", largest_kinetic_energy="kinetic, J"),
    *numbers(".0f", most_contacts="contacts"),
    *numbers(".0e", joint_error="joint error, m", penetration="penetration, m"),
    *numbers(".3f", converged="steps converged"),
    *numbers(".1f", iterations="iterations"),
    *numbers(".0f", steps_per_second="steps/s"),
]
_BESIDE = {
    "converged": ("Steps converged", ".3f"),
    "joint_error": ("Joint error, m", ".0e"),
    "penetration": ("Penetration, m", ".0e"),
    "energy_change": ("Change of energy, J", ".4g"),
    "steps_per_second": ("Steps a second", ".0f"),
}


def simulations_table(records: Sequence[Record]) -> Table:
    """What came of each simulation."""
    shown = [{**r, "wrong": ", ".join(r["failures"])} for r in records]
    columns = [*named("system", "driver"), *_NUMBERS, Column("wrong", "what went wrong")]
    note = (
        "The scenario of seed 0, 2 s in steps of 1 ms, one core. Servos and pushes do work:\n"
        "energy need not stay. Errors and kinetic energy are the largest, iterations a mean.\n"
        "MuJoCo: rows as soft as by default (time constant 0.02 s), and stiff (0.002 s); no\n"
        "joint error in trees, loops closed by a point each, meshes do not collide (arm7d,\n"
        "bdx, lima); steps converged are those that ended before its limit of iterations."
    )
    return Table("simulations", "Whole simulations, all numbers", columns, shown, note)


def beside_tables(records: Sequence[Record]) -> list[Table]:
    """One table for each number: systems by what drives them."""
    drivers = list(dict.fromkeys(r["driver"] for r in records))
    systems = list(dict.fromkeys(r["system"] for r in records))
    made = []
    for key, (title, form) in _BESIDE.items():
        found = [
            {"system": s} | {r["driver"]: r.get(key) for r in records if r["system"] == s}
            for s in systems
        ]
        columns = [Column("system"), *numbers(form, **{d: d for d in drivers})]
        made.append(Table(f"simulations_{key}", f"{title}, whole simulations", columns, found))
    return made


def sweeps_table(records: Sequence[Record]) -> Table:
    """What came of other parameters of stabilisation and softening."""
    shown = [
        {**r, "kind": KINDS.get(r["kind"], r["kind"]), "value": r["value"] if r["kind"] in KINDS
         else None, "wrong": ", ".join(r["failures"])}
        for r in records
    ]  # fmt: skip
    columns = [*named("system", "kind"), *numbers("g", value="value"), *_NUMBERS]
    columns.append(Column("wrong", "what went wrong"))
    note = (
        "Solver auto. Stabilisation and softening: semi-implicit Euler. Softened are joints and\n"
        "contacts, by the time constant at damping ratio 1, and by the damping ratio at 0.02 s."
    )
    return Table("sweeps", "Stabilisation and softening, swept", columns, shown, note)
