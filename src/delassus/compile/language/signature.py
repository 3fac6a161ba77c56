"""The declared arguments of a kernel: names and shapes of inputs, outputs and work memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .slots import Layout


@dataclass(frozen=True)
class Argument:
    """An input or output: its name, and the extents of its axes for one state.

    An extent is a number, the name of an extent of the model ("nv"), or the length of a shared
    array ("len(frames)"). An optional input may be left out; it comes after the required ones, and
    the kernel tests it by `present`. A common input may have one row for all states of a batch.
    """

    name: str
    shape: tuple[int | str, ...]
    optional: bool = False
    common: bool = False


def argument(name: str, shape: str) -> Argument:
    """Read a shape from a few words: "nv", "nv nv", "n_bodies 6 optional", "nv common"."""
    words = shape.split()
    marks = {mark: mark in words for mark in ("optional", "common")}
    extents = [word for word in words if word not in marks]
    return Argument(name, tuple(int(w) if w.isdigit() else w for w in extents), **marks)


@dataclass(frozen=True)
class Signature:
    """The arguments of a kernel in order: shared index arrays, inputs, outputs, work memory."""

    model: type
    shared_names: tuple[str, ...]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    work: Layout
    lanes: bool = True  # whether batches are evaluated in lanes, or one state after the other

    @cached_property
    def required(self) -> int:
        """Number of required inputs. Optional ones come after them, and are given all or none."""
        return sum(not a.optional for a in self.inputs)

    def without_optional(self) -> Signature:
        """The signature of a call without the optional inputs."""
        return replace(self, inputs=self.inputs[: self.required])

    @cached_property
    def states(self) -> tuple[Argument, ...]:
        """Inputs and outputs: the arguments that have a row for each state of a batch."""
        return self.inputs + self.outputs

    @cached_property
    def staged(self) -> tuple[Argument, ...]:
        """Outputs of two or more axes. Batches write them to work memory first, and then copy them.

        They are filled with zeros before the call; the kernel writes the same entries of them for
        every state.
        """
        return tuple(a for a in self.outputs if len(a.shape) > 1)

    @property
    def names(self) -> list[str]:
        """The names of all arguments in order."""
        return [*self.shared_names, *(a.name for a in self.states)]

    def extents(self, a: Argument, dimensions: dict[str, int], shared: Sequence) -> tuple[int, ...]:
        """The extents of an argument for a model's dimensions and given shared arrays."""
        lengths = {f"len({n})": len(x) for n, x in zip(self.shared_names, shared, strict=True)}
        return tuple(
            e if isinstance(e, int) else lengths[e] if e in lengths else dimensions[e]
            for e in a.shape
        )
