"""Hostile calls: everything public, by its signature, with arguments that fit and some that do not.

    python -m tests.regimes.hostile SEED COUNT

makes so many calls in a process of its own, and prints each before it is made: so it is known which
call was a crash, did not come back, or raised an error that is not one of the library's.

A new public function joins by itself. Its arguments are found by name in `fitting`; those that are
not known there get hostile values always, unless they have a default.
"""

from __future__ import annotations

import faulthandler
import inspect
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import delassus as dl
from delassus.compile import is_compiled

LONGEST = 120.0  # s that a call may take, compiling included
MODULES = ("contact", "maximal", "mujoco", "robots")
# Records that functions answer with: plain named tuples, which anybody may fill as they like.
_PARAMETERS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# Methods that open windows or write files, and doors for other layers, which users do not call.
LEFT_OUT = {"view", "to_html", "plot", "save"}
DOORS = {"add", "check_rows", "closing", "kernel_for", "lumped_with", "paths", "remember"}
DOORS |= {"is_spanning_velocity", "serve", "serve_rows", "start"}


def robot() -> dl.Model:
    """A floating base with an arm, a slider, shapes and actuators."""
    b = dl.ModelBuilder("robot")
    matrix = 0.02 * np.eye(3)
    b.add_body("base", joint=dl.Free(), mass=2.0, inertia=matrix)
    b.add_body("arm", "base", dl.Revolute((0, 1, 0)), (0.1, 0, 0), mass=1.0, com=(0, 0, 0.2),
               inertia=matrix, lower=-1.0, upper=1.0)  # fmt: skip
    b.add_body("slide", "arm", dl.Prismatic((0, 0, 1)), (0, 0, 0.3), mass=0.5, inertia=matrix)
    b.add_frame("tip", "slide", (0, 0, 0.1))
    b.add_shape(dl.Shape("ball", "base", "collision", "sphere", size=(0.1,)))
    b.add_actuator(dl.Actuator("motor", "arm_joint"))
    b.add_keyframe(dl.Keyframe("home", [0, 0, 0.5, 0, 0, 0, 1, 0.1, 0.0]))
    return b.build()


@cache
def objects() -> dict[str, Any]:
    """One of each kind that has methods."""
    model = robot()
    constraints = dl.Constraints(model, [dl.Connect("tip"), dl.Distance("arm", "world", 0.5)])
    simulator = dl.Simulator(model, on_error="record", contact_slots=4, threads=1)
    many = dl.Simulator(model, worlds=2, on_error="record", contact_slots=4, threads=1)
    recording = simulator.rollout(3)
    rows, operator = 3, np.diag([2.0, 2.0, 3.0])
    problem = dl.contact.Problem(operator, -np.ones(rows), friction=0.5)
    q = model.neutral()
    return {
        "Model": model,
        "Embedding": dl.embed(model),
        "Constraints": constraints,
        "Simulator": simulator,
        "Simulators": many,
        "Recording": recording,
        "Problem": problem,
        "ModelBuilder": dl.ModelBuilder("m"),
        "DelassusOperator": dl.DelassusOperator(model, q, constraints, 1e-3),
        "KKTFactorization": dl.kkt_factorization(model, q, constraints, damping=1e-3),
        "Transform": dl.Transform(),
        "Inertia": dl.Inertia(),
        "Free": dl.Free(),
        "MaximalSystem": dl.maximal.MaximalSystem(model, contact_slots=2),
    }


@cache
def calls() -> dict[str, Callable]:
    """All public functions and classes, and methods of `objects`."""
    found: dict[str, Callable] = {}
    for name in dl.__all__:
        found |= _public(name, getattr(dl, name))
    for module in MODULES:
        for name, thing in vars(getattr(dl, module)).items():
            is_own = getattr(thing, "__module__", "").startswith(f"delassus.{module}")
            if is_own and not name.startswith("_"):
                found |= _public(f"{module}.{name}", thing)
    for name, made in objects().items():
        for method, thing in inspect.getmembers(type(made), inspect.isfunction):
            is_door = thing.__module__.startswith("delassus.compile") or method in DOORS
            if not (method.startswith("_") or is_door or method in LEFT_OUT):
                found[f"{name}.{method}"] = getattr(made, method)
    for name in ("q", "v"):
        for kind in ("Simulator", "Simulators"):
            found[f"{kind}.{name} ="] = _setter(objects()[kind], name)
    return found


def _public(name: str, thing: Any) -> dict[str, Callable]:
    is_record = isinstance(thing, type) and issubclass(thing, (BaseException, tuple))
    return {} if is_record or not callable(thing) else {name: thing}


def _setter(owner: Any, name: str) -> Callable:
    def put(value: Any) -> None:
        setattr(owner, name, value)

    return put


@cache
def fitting() -> dict[str, Any]:
    """An argument that fits, by name."""
    known = objects()
    model, constraints = known["Model"], known["Constraints"]
    q, zero, rows = model.neutral(), np.zeros(model.nv), constraints.size
    return {
        "model": model, "other": model, "q": q, "q0": q, "q1": q, "qpos": q, "value": q,
        **dict.fromkeys(("v", "a", "tau", "dq", "dv", "da", "dtau", "w", "x", "qvel"), zero),
        "u": np.zeros(model.nu), "frame": "tip", "frames": ["tip"], "reference": "local",
        "constraints": constraints, "damping": 1e-3, "threads": 1, "targets": {"tip": [0, 0, 1]},
        "method": "ltl", "lock": {"arm_joint": 0.1}, "function": dl.mass_matrix, "matrix": None,
        "external_forces": np.zeros((model.n_bodies, 6)), "rng": 1, "N": 2, "steps": 2,
        "control": np.zeros(model.nu), "wrenches": np.zeros((model.n_bodies, 6)), "worlds": None,
        "state": known["Simulator"].state(), "name": "arm_joint", "joint": "arm_joint",
        "problem": known["Problem"], "delassus": np.eye(3), "free_velocity": -np.ones(3),
        "reactions": np.zeros(3), "warm_start": np.zeros(rows), "desired": np.zeros(rows),
        "axis": [0, 0, 1], "y": zero, "yd": zero, "b": np.zeros(model.nv + rows),
        "keyframe": None, "contact_slots": 4, "max_iterations": 3, "tolerance": 1e-6,
        "path": os.path.join(tempfile.gettempdir(), "delassus-hostile-nothing"),
    }  # fmt: skip


# --- hostile values -------------------------------------------------------------------------------

PLAIN = [
    None, True, -3, 0, 10**5000, -(2**63), 2**63, 1e300, -1.0, np.nan, np.inf, 1j, "nope", b"nope",
    "", [], (), {}, [[1.0], [2.0, 3.0]], [["a"]], {1: 2}, {"arm_joint": [1, 2]}, {1.0, 2.0},
    object(),
    [None], [10**400] * 3, "a\0b", "\ud800", len, dl.Model, lambda *_: None, np.float32(1.0),
    np.array(1.0), np.zeros(0), np.zeros((0, 0)), np.array([None, "x"], object), range(3),
    iter([1.0]),
    np.ma.array([1.0, 2.0], mask=[0, 1]), np.array(["2020-01-01"], "M8[D]"), np.zeros(3, "f8,i4"),
    np.ones((2, 2, 2, 2, 2)), np.array(["a", "b"]), slice(None), Ellipsis, NotImplemented, -0.0,
    np.int64(-1), np.uint8(255), np.bool_(False), memoryview(b"12345678"), bytearray(8), 1 + 0j,
]  # fmt: skip


class Liar:
    """An object that says it is an array, and fails when it is asked."""

    __array_interface__ = {"shape": (3,), "typestr": "<f8", "version": 3, "data": (0, True)}

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    def __iter__(self) -> Any:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def spoilt(rng: np.random.Generator, good: np.ndarray) -> Any:
    """An array like one that fits, with one thing wrong or odd."""
    n, many = good.size, np.repeat(good[None], 3, axis=0)
    bad = np.array(good)
    if n:
        bad.flat[rng.integers(n)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324])
    ways = [
        lambda: good[:-1], lambda: good[None, None], lambda: good[..., None],
        lambda: good.ravel()[0],
        lambda: np.append(good, good), lambda: good.T[::-1], lambda: many, lambda: many[:0],
        lambda: np.broadcast_to(good, (5, *good.shape)),
        lambda: np.repeat(many, 2, axis=-1)[..., ::2],
        lambda: np.asfortranarray(many), lambda: good.astype(complex), lambda: good.astype(object),
        lambda: good.astype(str), lambda: good.astype(np.float16), lambda: good.astype(np.float32),
        lambda: good.astype(">f8"), lambda: good.astype(np.longdouble), lambda: good.astype(bool),
        lambda: good.astype(np.int8), lambda: good.astype("M8[s]"), lambda: bad, lambda: bad,
        lambda: np.broadcast_to(bad, (2, *bad.shape)), lambda: good.tolist(),
        lambda: [*good.tolist(), []],
        lambda: np.ma.array(good), lambda: np.matrix(good.reshape(1, -1)), lambda: many[::-1],
        lambda: np.lib.stride_tricks.as_strided(good, good.shape, tuple(0 for _ in good.shape)),
        lambda: np.frombuffer(b"0" + good.tobytes(), np.uint8)[1:].view("f8"),  # not aligned
        lambda: np.empty((2**40, 0)), lambda: np.zeros((1, *good.shape, 0)),
    ]  # fmt: skip
    return ways[rng.integers(len(ways))]()


def outputs(rng: np.random.Generator, right: Any, inputs: list) -> Any:
    """An `out` that is odd: strides of zero, read-only, overlapping, of other shapes."""
    parts = [
        x for x in (right if isinstance(right, tuple) else [right]) if isinstance(x, np.ndarray)
    ]
    parts = parts or [np.zeros(3)]
    x = np.zeros_like(parts[0])
    constant = x.copy()
    constant.flags.writeable = False
    memory = np.zeros(2 * x.size + 1)
    strided = np.lib.stride_tricks.as_strided
    ways = [
        lambda: strided(memory, x.shape, (0,) * x.ndim),
        lambda: strided(memory, x.shape, (8,) * x.ndim),
        lambda: strided(memory, x.shape, (0, *(8,) * (x.ndim - 1)) if x.ndim else ()),
        lambda: constant, lambda: x[None], lambda: x.astype(np.int64), lambda: x.astype(object),
        lambda: x.tolist(), lambda: next((i for i in inputs if isinstance(i, np.ndarray)), None),
        lambda: np.asfortranarray(x), lambda: x[..., :-1] if x.ndim else x, lambda: x.astype(">f8"),
        lambda: memory[1 : 1 + x.size].reshape(x.shape),
    ]  # fmt: skip
    made = ways[rng.integers(len(ways))]()
    if len(parts) > 1 and rng.random() < 0.8:
        same = tuple(np.zeros_like(p) for p in parts[1:])
        return (rng.choice([0, 1, 2]) and (made, *same)) or (parts[0], *parts[:-1])
    return made


# --- calls ----------------------------------------------------------------------------------------


class Case:
    """A call with some arguments that fit and some that do not."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.name = list(calls())[rng.integers(len(calls()))]
        self.call = calls()[self.name]
        self.given = {}
        parameters = _parameters(self.call)
        hostile = [p.name for p in parameters if rng.random() < 1.2 / len(parameters)]
        hostile = hostile or [p.name for p in parameters][:1]
        for p in parameters:
            if p.name in hostile:
                self.given[p.name] = self._hostile(rng, p)
            elif p.name in fitting() and p.default is p.empty:
                self.given[p.name] = fitting()[p.name]
            elif p.default is p.empty:
                self.given[p.name] = self._hostile(rng, p)

    def _hostile(self, rng: np.random.Generator, p: inspect.Parameter) -> Any:
        if p.name == "out" and rng.random() < 0.8:
            return outputs(rng, self._answer(), list(self.given.values()))
        good = fitting().get(p.name)
        if p.name == "state" and rng.random() < 0.9:
            name = list(good)[rng.integers(len(good))]
            x = np.asarray(good[name])
            odd = (
                spoilt(rng, x) if x.ndim and rng.random() < 0.7 else PLAIN[rng.integers(len(PLAIN))]
            )
            return {**good, name: odd}
        if isinstance(good, np.ndarray) and rng.random() < 0.6:
            return spoilt(rng, good)
        return Liar() if rng.random() < 0.03 else PLAIN[rng.integers(len(PLAIN))]

    def _answer(self) -> Any:
        """What the call answers where all arguments fit."""
        given = {p.name: fitting()[p.name] for p in _parameters(self.call)
                 if p.default is p.empty and p.name in fitting()}  # fmt: skip
        try:
            return self.call(**given)
        except Exception:
            return None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{n}={_shown(x)}' for n, x in self.given.items())})"


def _parameters(call: Callable) -> list[inspect.Parameter]:
    found = inspect.signature(call).parameters.values()
    return [p for p in found if p.kind in _PARAMETERS and p.name != "self"]


def _shown(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"<{x.dtype}{x.shape} strides {x.strides}>"
    try:
        return repr(x)[:60]
    except Exception:
        return f"<{type(x).__name__}>"


def attempt(seed: int) -> str:
    """Make a call; what is wrong with how it ends, or nothing."""
    case = Case(seed)
    print(f"{seed}: {case}".encode("ascii", "replace").decode(), flush=True)
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    try:
        case.call(**case.given)
    except dl.DelassusError as error:
        try:
            return "" if str(error) else f"{case}: an error without a word"
        except Exception as worse:
            return f"{case}: the error cannot be shown: {worse!r}"
    except BaseException as error:
        if isinstance(error, ZeroDivisionError) and not is_compiled():
            return ""  # plain Python's numbers do not divide by zero
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{case}: {type(error).__name__}: {error} ({last.filename}:{last.lineno})"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return ""


def main(seed: int, count: int) -> int:
    """Make calls; the number of those that ended badly."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # some calls write files of hostile names
        bad = [told for k in range(count) if (told := attempt(seed + k))]
        os.chdir("/")
    for told in bad:
        print("BAD", told.encode("ascii", "replace").decode())
    print(f"DONE {count} calls, {len(bad)} bad", flush=True)
    return min(len(bad), 100)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
