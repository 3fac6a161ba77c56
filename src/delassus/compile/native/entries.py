"""The compiled entries of a kernel, whose source is generated from its signature.

A kernel `f(model, shared..., inputs..., outputs..., work)` gets two entries. Both take the address
of the model's table (see `compile.tables`) and arrays. They check the arrays, and return 0, or 1 if
these do not fit.

The single entry evaluates one state with low latency. The batch entry evaluates states
start..stop-1 in blocks of W lanes, without the GIL:

- The last block is filled up with states of the block before it. If there are fewer than W states,
  they go through the same code one at a time, with a stride of 0: all lanes hold the same state.
- Matrices are first written to work memory, lanes side by side, and then copied to their places
  from the first entry to the last. If the kernel wrote them in place, in its own order, each entry
  would wait for its own cache line.
- While a block is computed, inputs and outputs of the next block are prefetched. What is prefetched
  and how matrices are copied follows the policy of `writing`.
- A kernel without lanes, whose loops depend on its numbers, gets one state after the other.
- With `is_checked` the arrays are not checked again. Inputs may then also have one row for all
  states, or no row if they are optional and left out.
"""

from __future__ import annotations

from itertools import combinations

from ..language.signature import Signature
from . import cache
from .writing import Writing

ARRAY_CLASS, FIRST_EXTENT = 0, 1  # places in a model's table, see `compile.tables`

_MODULE = __name__
_MOST_AXES = 4  # of arrays that kernels take, that of states included


def _names(kernel_function, signature: Signature, dtype) -> dict:
    """The names that an entry's source uses. Only compiling needs them, loading does not."""
    from numba import types
    from numba.np import numpy_support

    from . import cpu, operations, transfer
    from .types import given, memory, records

    operations.install()
    names = {
        "kernel": kernel_function,
        "WORK_TYPE": dtype,
        "WIDTH": cpu.lanes(dtype.itemsize),
        "INTEGERS": types.Array(types.int64, 1, "C"),
        "READ": given.READ,
        "WRITTEN": given.WRITTEN,
        "is_array": given.is_array,
        "opened": given.opened,
        "address_of": memory.address_of,
        "array_at": memory.array_at,
        "word_at": memory.word_at,
        "numbers": memory.numbers,
        "numbers_at": memory.numbers_at,
        "no_numbers": memory.no_numbers,
        "overlaps": memory.overlaps,
        "clear": operations.clear,
        "copy_out": transfer.copy_out,
        "copy_lines_out": transfer.copy_lines_out,
        "stream_out": transfer.stream_out,
        "wait_for_streams": transfer.wait_for_streams,
        "prefetch": transfer.prefetch,
        "ITEM_SIZE": dtype.itemsize,
        "part": operations.part,
        "state_view": memory.state_view,
        "work_memory": memory.work_memory,
    }
    number = _number_type(dtype)
    names |= {f"NUMBERS{axes}": types.Array(number, axes, "C") for axes in range(_MOST_AXES + 1)}
    dtypes = [numpy_support.from_dtype(t) for t in signature.model.array_types(dtype)]
    names["open_model"] = records.model_opener(signature.model, dtypes, _first_array(signature))
    names["divide"] = records.work_divider(signature.work, _first_part(signature))
    return names


def _first_array(signature: Signature) -> int:
    """Where addresses of arrays start in the model's table."""
    return FIRST_EXTENT + len(signature.model.dimensions)


def _first_part(signature: Signature) -> int:
    """Where starts of parts of work memory begin in the table, after address and length of that."""
    return _first_array(signature) + 2 * len(signature.model._fields) + 2


def _single_source(name: str, signature: Signature, left_out: int) -> str:
    memory = f"numbers(array_at(header, {_first_part(signature) - 2}, WORK_TYPE))"
    passed = [*signature.shared_names, *(f"numbers({a.name})" for a in signature.inputs)]
    passed += ["no_numbers(WORK_TYPE)"] * left_out
    passed += [f"numbers({a.name})" for a in signature.outputs]
    zeros = "".join(f"    clear(numbers({a.name}), {a.name}.size)\n" for a in signature.staged)
    return (
        f"def {name}(header, {', '.join(_given(signature))}):\n"
        + _open_lines(signature, ())
        + _check_lines(signature, ())
        + "    model = open_model(header)\n"
        + zeros
        + f"    memory = {memory}\n    work = {_work(signature)}\n"
        + f"    kernel(model, {', '.join(passed)}, work)\n    return 0\n"
    )


def _work(signature: Signature) -> str:
    """Source of the parts of the work memory that starts at `memory`."""
    return "divide(header, memory)" if signature.work.count > 0 else "None"


def _given(signature: Signature) -> list[str]:
    """Names of the arrays that an entry takes, before they are opened."""
    return [f"given_{name}" for name in signature.names]


def _open_lines(signature: Signature, lead: tuple[str, ...]) -> str:
    """Source that makes arrays of what is given; it returns 1 if that is none, or not ready."""
    kinds = dict.fromkeys(signature.shared_names, "INTEGERS")
    kinds |= {a.name: f"NUMBERS{len(lead) + len(a.shape)}" for a in signature.states}
    flags = dict.fromkeys(kinds, "READ") | {a.name: "WRITTEN" for a in signature.outputs}
    tested = "not is_checked and " if lead else ""
    tests = "".join(
        f"    if {tested}not is_array(given_{name}, array_class, {kind}, {flags[name]}):\n"
        "        return 1\n"
        for name, kind in kinds.items()
    )
    return (
        f"    array_class = word_at(header, {ARRAY_CLASS})\n"
        + tests
        + "".join(f"    {name} = opened(given_{name}, {kind})\n" for name, kind in kinds.items())
    )


def _check_lines(signature: Signature, lead: tuple[str, ...], indent: str = "    ") -> str:
    """Source that returns 1 if an array has wrong extents, or an output overlaps an input."""
    dimensions, checks = signature.model.dimensions, []
    for a in signature.states:
        extents = [
            f"word_at(header, {FIRST_EXTENT + dimensions.index(extent)})"
            if extent in dimensions
            else str(extent)
            for extent in a.shape
        ]
        wrong = [
            f"{a.name}.shape[{axis}] != {extent}" for axis, extent in enumerate([*lead, *extents])
        ]
        if lead and a.common:
            wrong[0] = f"({wrong[0]} and {a.name}.shape[0] != 1)"
        either = " or ".join(wrong)
        if lead and a.optional:
            either = f"{a.name}.shape != {(0,) * (len(a.shape) + 1)} and ({either})"
        checks += [either] if either else []
    checks += [
        f"overlaps({given.name}, {result.name})"
        for given in signature.inputs
        for result in signature.outputs
    ]
    checks += [f"overlaps({a.name}, {b.name})" for a, b in combinations(signature.outputs, 2)]
    return "".join(f"{indent}if {wrong}:\n{indent}    return 1\n" for wrong in checks)


def _places(signature: Signature) -> str:
    """Source of where the first state of each argument is, and how far apart states are."""
    lines = ""
    for a in signature.states:
        extents = [f"{a.name}.shape[{axis + 1}]" for axis in range(len(a.shape))]
        lines += f"    {a.name}_at = address_of({a.name})\n"
        lines += f"    {a.name}_size = {' * '.join(extents) or '1'}\n"
        lines += f"    {a.name}_stride = {a.name}_size if {a.name}.shape[0] > 1 else 0\n"
    return lines


def _batch_head(name: str, signature: Signature) -> str:
    """Source of a batch entry up to its work memory: open and check the arrays."""
    arguments = [*_given(signature), "scratch", "is_checked", *Writing._fields, "start", "stop"]
    return (
        f"def {name}(header, {', '.join(arguments)}):\n"
        + _open_lines(signature, ("stop",))
        + "    if not is_checked:\n"
        + _check_lines(signature, ("stop",), indent=8 * " ")
        + "    model = open_model(header)\n"
    )


def _batch_source_without_lanes(name: str, signature: Signature) -> str:
    views = {
        a: f"numbers_at({a.name}_at, i * {a.name}_stride, WORK_TYPE)" for a in signature.states
    }
    zeros = "".join(f"        clear({views[a]}, {a.name}_size)\n" for a in signature.staged)
    shared = "".join(f"{n}, " for n in signature.shared_names)
    return (
        _batch_head(name, signature)
        + "    memory = numbers(opened(scratch, NUMBERS1))\n"
        + f"{_places(signature)}    work = {_work(signature)}\n"
        + f"    for i in range(start, stop):\n{zeros}"
        + f"        kernel(model, {shared}{', '.join(views.values())}, work)\n    return 0\n"
    )


def _batch_source(name: str, signature: Signature) -> str:
    if not signature.lanes:
        return _batch_source_without_lanes(name, signature)
    states, staged = signature.states, signature.staged
    prepare, ahead, flush = _places(signature), "", ""
    for a in states:
        size = f"ITEM_SIZE * {a.name}_stride"
        condition = f" if {size} <= most_ahead else 0" if a in signature.outputs else ""
        ahead += f"        prefetch({a.name}_at, {size}, i + WIDTH, WIDTH{condition})\n"
    views = {
        a: f"state_view({a.name}_at, i * {a.name}_stride, {a.name}_stride * apart, WORK_TYPE)"
        for a in states
    }
    for a in staged:
        rows, size = f"{a.name}_rows", f"{a.name}_size"
        place = f"{a.name}_at + i * {size} * ITEM_SIZE"
        prepare += f"    {rows} = memory\n    clear({rows}, {size})\n"
        prepare += f"    memory = part(memory, {size})\n"
        flush += (
            f"        if apart == 1 and ITEM_SIZE * {size} >= least_streamed:\n"
            f"            stream_out({rows}, {place}, {size}, ITEM_SIZE)\n"
            f"        elif apart == 1 and ITEM_SIZE * {size} >= least_by_lines:\n"
            f"            copy_lines_out({rows}, {place}, {size}, ITEM_SIZE)\n"
            "        else:\n"
            f"            copy_out({rows}, {views[a]}, {size})\n"
        )
    finish = "    wait_for_streams()\n" if staged else ""
    shared = "".join(f"{n}, " for n in signature.shared_names)
    passed = ", ".join(f"{a.name}_rows" if a in staged else views[a] for a in states)
    return (
        _batch_head(name, signature)
        + "    memory = work_memory(opened(scratch, NUMBERS1))\n"
        + f"{prepare}    work = {_work(signature)}\n"
        "    i = start\n"
        "    while i < stop:\n"
        "        if i + WIDTH > stop and start + WIDTH <= stop:\n"
        "            i = stop - WIDTH\n"
        "        apart = 1 if i + WIDTH <= stop else 0\n"
        f"{ahead}        kernel(model, {shared}{passed}, work)\n{flush}"
        f"        i += WIDTH if apart == 1 else 1\n{finish}    return 0\n"
    )


def describe_single(signature: Signature, with_optional: bool) -> str:
    """What the entry for one state is called for people."""
    optional = " and ".join(a.name for a in signature.inputs[signature.required :])
    return f"one state with {optional}" if with_optional else "one state"


def describe_batch(dtype) -> str:
    """What the entry for many states is called for people."""
    return f"batches of {dtype.name}"


def _compile(kernel_function, signature, dtype, source, name, description, types, **options):
    """Load the entry from the cache, or announce and compile it."""
    import numba

    from .lazy import machine_code_for_entries_only
    from .options import FAST

    scope = {"__name__": _MODULE}  # lets Numba find the module when it loads from the cache
    exec(compile(source, f"<{name}>", "exec"), scope)
    f = scope[name]
    f.__module__ = _MODULE
    dispatcher = numba.njit(**FAST, **options)(f)

    def before_compiling(not_kept: str = "") -> None:
        cache.announce(description, kernel_function, not_kept)
        scope.update(_names(kernel_function, signature, dtype))

    arrays = signature.model.array_types(dtype)
    try:
        key = cache.entry_key(
            kernel_function, source, str(types), signature.model, arrays, signature.work.outline
        )
        cache.attach(dispatcher, key, before_compiling)
    except cache.NotKept as reason:
        before_compiling(not_kept=str(reason))
    with machine_code_for_entries_only(dispatcher.targetctx, signature.lanes):
        dispatcher.compile(types)
    (compiled,) = dispatcher.overloads.values()
    return compiled.entry_point  # the dispatcher would find out the types of arguments in each call


def single(label: str, kernel_function, signature: Signature, dtype, with_optional: bool):
    """Compile, or load, the entry for one state, with the optional inputs or without them."""
    from numba import types

    from .types.given import GIVEN

    name = f"{kernel_function.__name__}_single" + "_full" * with_optional
    description = f"{label}, {describe_single(signature, with_optional)}"
    left_out = 0 if with_optional else len(signature.inputs) - signature.required
    if not with_optional:
        signature = signature.without_optional()
    argument_types = types.int64(types.int64, *[GIVEN] * len(signature.names))
    source = _single_source(name, signature, left_out)
    return _compile(kernel_function, signature, dtype, source, name, description, argument_types)


def batch(label: str, kernel_function, signature: Signature, dtype):
    """Compile, or load, the entry for many states."""
    from numba import types

    from .types.given import GIVEN

    name = f"{kernel_function.__name__}_batch{dtype.itemsize * 8}"
    argument_types = types.int64(
        types.int64,
        *[GIVEN] * (len(signature.names) + 1),
        types.boolean,
        *[types.int64] * (len(Writing._fields) + 2),
    )
    source = _batch_source(name, signature)
    description = f"{label}, {describe_batch(dtype)}"
    return _compile(
        kernel_function, signature, dtype, source, name, description, argument_types, nogil=True
    )


def _number_type(dtype):
    from numba import types

    return types.float64 if dtype.itemsize == 8 else types.float32
