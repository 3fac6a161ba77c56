"""How batch entries prefetch arguments, and copy matrices from work memory to the user's arrays.

A kernel first writes the matrices of a block of lanes to work memory, lanes side by side:

- `copy_out` copies them to their places entry by entry;
- `copy_lines_out` copies state by state, in whole cache lines, which is faster unless matrices are
  small;
- `stream_out` also copies in whole lines, but past the caches (non-temporal stores), for outputs
  that are larger than the caches. An ordinary store would first read the line that it writes to,
  and push another line out of the cache.

`writing` has the policy that chooses among them, and what it gains.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from .cpu import CACHE_LINE_BYTES
from .types.lanes import INDEX, vector_type
from .types.memory import address_of, state_pointers, width_of

_LINES_AT_ONCE = 16


@intrinsic
def _prefetch_line(typingctx, address):
    """Prefetch the cache line at an address."""

    def generate(context, builder, sig, args):
        pointer, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, integer, integer, integer])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_reading, near, data = (ir.Constant(integer, x) for x in (0, 3, 1))
        place = builder.inttoptr(args[0], pointer)
        builder.call(function, [place, for_reading, near, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@register_jitable
def prefetch(address, size, start, count):
    """Prefetch states start..start+count-1 of an argument, of `size` bytes each."""
    at = address + start * size
    end = at + count * size
    while at < end:
        _prefetch_line(at)
        at += CACHE_LINE_BYTES


@intrinsic
def _copy_block(typingctx, memory, view, start):
    """Copy rows start..start+W-1 of work memory to the same entries of each state."""

    def generate(context, builder, sig, args):
        lane = sig.args[0].lane
        view = cgutils.create_struct_proxy(sig.args[1])(context, builder, value=args[1])
        rows = []
        for k in range(lane.width):
            index = builder.add(args[2], ir.Constant(args[2].type, k))
            rows.append(builder.load(builder.gep(args[0], [index]), align=lane.bits // 8))
        for number, pointer in state_pointers(builder, view, args[2], lane.width):
            entries = ir.Constant(vector_type(lane), ir.Undefined)
            for k, row in enumerate(rows):
                entry = builder.extract_element(row, ir.Constant(INDEX, number))
                entries = builder.insert_element(entries, entry, ir.Constant(INDEX, k))
            target = builder.bitcast(pointer, vector_type(lane).as_pointer())
            builder.store(entries, target, align=lane.bits // 8)
        return context.get_dummy_value()

    return types.void(memory, view, types.intp), generate


@register_jitable
def copy_out(memory, view, count):
    """Copy the first `count` rows of work memory to the first entries of each state."""
    width = width_of(memory)
    i = 0
    while i + width <= count:
        _copy_block(memory, view, i)
        i += width
    while i < count:
        view[i] = memory[i]
        i += 1


@intrinsic
def _copy_number(typingctx, memory, source, target):
    """Copy a number, of the type that work memory has, from address `source` to `target`."""

    def generate(context, builder, sig, args):
        pointer = context.get_data_type(sig.args[0].lane.element).as_pointer()
        value = builder.load(builder.inttoptr(args[1], pointer))
        builder.store(value, builder.inttoptr(args[2], pointer))
        return context.get_dummy_value()

    return types.void(memory, types.int64, types.int64), generate


def _line_writer(is_past_caches):
    """An intrinsic that writes a cache line, by ordinary stores or past the caches."""

    @intrinsic
    def write_line(typingctx, memory, source, target):
        """Gather a cache line of one lane's numbers at `source`, and write it to `target`."""

        def generate(context, builder, sig, args):
            lane = sig.args[0].lane
            number = context.get_data_type(lane.element)
            first = builder.inttoptr(args[1], number.as_pointer())
            line = builder.inttoptr(args[2], vector_type(lane).as_pointer())
            is_set = builder.module.add_metadata([ir.Constant(INDEX, 1)])
            vector_bytes = lane.width * lane.bits // 8
            for part in range(CACHE_LINE_BYTES // vector_bytes):
                vector = ir.Constant(vector_type(lane), ir.Undefined)
                for k in range(lane.width):
                    row = ir.Constant(ir.IntType(64), (part * lane.width + k) * lane.width)
                    value = builder.load(builder.gep(first, [row]))
                    vector = builder.insert_element(vector, value, ir.Constant(INDEX, k))
                place = builder.gep(line, [ir.Constant(ir.IntType(64), part)])
                store = builder.store(vector, place, align=vector_bytes)
                if is_past_caches:
                    store.set_metadata("nontemporal", is_set)
            return context.get_dummy_value()

        return types.void(memory, types.int64, types.int64), generate

    return write_line


_copy_line, _stream_line = _line_writer(is_past_caches=False), _line_writer(is_past_caches=True)


@register_jitable
def _copy_numbers(memory, source, target, start, stop, item_size):
    """Copy the numbers of one lane that are bytes start..stop-1 of its state."""
    while start < stop:
        _copy_number(memory, source + start * width_of(memory), target + start)
        start += item_size


@register_jitable
def _write_lines(memory, address, count, item_size, write_line):
    """Copy the first rows of work memory to W states that lie side by side, in whole cache lines.

    It takes _LINES_AT_ONCE lines of one state, then as many of the next. To write one line of each
    state in turn would be slower. To write a whole state at a time would read large matrices from
    the second cache once for each lane.
    """
    width = width_of(memory)
    size = count * item_size
    lines = (size + item_size) // CACHE_LINE_BYTES - 1  # whole lines of any state
    for lane in range(width):
        source, target = address_of(memory) + lane * item_size, address + lane * size
        start = -target % CACHE_LINE_BYTES
        _copy_numbers(memory, source, target, 0, start, item_size)
        stop = start + lines * CACHE_LINE_BYTES
        _copy_numbers(memory, source, target, stop, size, item_size)
    for first in range(0, lines, _LINES_AT_ONCE):
        for lane in range(width):
            source, target = address_of(memory) + lane * item_size, address + lane * size
            at = -target % CACHE_LINE_BYTES + first * CACHE_LINE_BYTES
            for _ in range(min(_LINES_AT_ONCE, lines - first)):
                write_line(memory, source + at * width, target + at)
                at += CACHE_LINE_BYTES


@register_jitable
def copy_lines_out(memory, address, count, item_size):
    """Copy the first rows of work memory to W states side by side, each a line or longer."""
    _write_lines(memory, address, count, item_size, _copy_line)


@register_jitable
def stream_out(memory, address, count, item_size):
    """Copy the first rows of work memory to W states side by side, past the caches."""
    _write_lines(memory, address, count, item_size, _stream_line)


@intrinsic
def wait_for_streams(typingctx):
    """A memory fence: makes what was written past the caches visible to other threads."""

    def generate(context, builder, sig, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate
