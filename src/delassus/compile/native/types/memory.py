"""Memory as kernels see it: arguments of W states, work memory in lanes, a model's arrays.

Four Numba types live here:

- `StateView`: an argument of W states, `x[i]` gathers and `x[i] = y` scatters entry i of each;
- `WorkMemory`: rows of W numbers side by side, `w[i]` is one vector load;
- `Numbers`: an argument or work memory of one state. Unlike an array it has no negative indices: to
  test for them at each access would cost more than the access;
- `ModelArray`: one of a model's arrays, most often of records. It has no negative indices either:
  the test took up to a twentieth of the time of constrained dynamics.

Importing this module imports Numba and registers the types.
"""

from __future__ import annotations

import hashlib
import operator
import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

from .lanes import INDEX, LANES, Lane, vector_type

_CLOCK = getattr(time, "CLOCK_MONOTONIC", None)  # there is none on Windows: times are zero there


class StateView(types.Type):
    """W states of an argument: the address of the first, and the distance between two of them."""

    def __init__(self, lane: Lane):
        self.lane = lane
        super().__init__(name=f"StateView({lane})")


class WorkMemory(types.Type):
    """Work memory of W states: each row is a vector of W lanes."""

    def __init__(self, lane: Lane):
        self.lane = lane
        super().__init__(name=f"WorkMemory({lane})")


class Numbers(types.Type):
    """Numbers of one state, one after the other."""

    def __init__(self, lane: types.Float):
        self.lane = lane  # a float, used like a lane
        super().__init__(name=f"Numbers({lane})")


class ModelArray(types.Type):
    """One of the arrays that a model is made of: where it starts, and its length.

    The type is named by a hash: functions that take a model have the names of its types in their
    own names, and records are described at length.
    """

    def __init__(self, dtype: types.Type):
        self.dtype = dtype
        described = hashlib.sha256(str(dtype).encode()).hexdigest()
        super().__init__(name=f"ModelArray({described[:16]})")


MEMORY = (StateView, WorkMemory, Numbers)


@register_model(ModelArray)
class _ModelArrayModel(models.StructModel):
    # An array of Numba's has seven members, and a model has tens of arrays. To pass all of them
    # to each function took more than a tenth of the time to compile a kernel.
    def __init__(self, manager, array):
        super().__init__(
            manager, array, [("first", types.CPointer(array.dtype)), ("length", types.intp)]
        )


@register_model(StateView)
class _StateViewModel(models.StructModel):
    def __init__(self, manager, view):
        pointer = types.CPointer(view.lane.element)
        super().__init__(manager, view, [("first", pointer), ("stride", types.intp)])


@register_model(WorkMemory)
class _WorkMemoryModel(models.PrimitiveModel):
    def __init__(self, manager, memory):
        super().__init__(manager, memory, vector_type(memory.lane).as_pointer())


@register_model(Numbers)
class _NumbersModel(models.PrimitiveModel):
    def __init__(self, manager, numbers):
        super().__init__(manager, numbers, manager[numbers.lane].get_value_type().as_pointer())


def state_pointers(builder, view, index, width):
    """For each lane its number, and a pointer to entry `index` of its state."""
    stride = view.stride
    for lane_number in range(width):
        offset = builder.mul(stride, ir.Constant(stride.type, lane_number))
        yield lane_number, builder.gep(view.first, [builder.add(offset, index)])


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        if not isinstance(args[1], types.Integer):
            return None
        if isinstance(args[0], ModelArray):
            return signature(args[0].dtype, args[0], types.intp)
        if isinstance(args[0], MEMORY):
            return signature(args[0].lane, args[0], types.intp)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], MEMORY) and isinstance(args[1], types.Integer):
            return signature(types.none, args[0], types.intp, args[0].lane)


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], ModelArray):
            return signature(types.intp, args[0])


@lower_builtin(len, ModelArray)
def _length(context, builder, sig, args):
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).length


@lower_builtin(operator.getitem, ModelArray, types.intp)
def _entry(context, builder, sig, args):
    array = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    place = builder.gep(array.first, [args[1]])
    return context.unpack_value(builder, sig.args[0].dtype, place)


@lower_builtin(operator.getitem, StateView, types.intp)
def _gather(context, builder, sig, args):
    lane = sig.return_type
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    vector = ir.Constant(vector_type(lane), ir.Undefined)
    for number, pointer in state_pointers(builder, view, args[1], lane.width):
        vector = builder.insert_element(vector, builder.load(pointer), ir.Constant(INDEX, number))
    return vector


@lower_builtin(operator.setitem, StateView, types.intp, Lane)
def _scatter(context, builder, sig, args):
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    for number, pointer in state_pointers(builder, view, args[1], sig.args[2].width):
        builder.store(builder.extract_element(args[2], ir.Constant(INDEX, number)), pointer)
    return context.get_dummy_value()


def _row(builder, memory, index, lane):
    pointer = builder.gep(memory, [index])
    return pointer, lane.bits // 8  # NumPy guarantees only the alignment of a number


@lower_builtin(operator.getitem, WorkMemory, types.intp)
def _load_row(context, builder, sig, args):
    pointer, alignment = _row(builder, args[0], args[1], sig.return_type)
    return builder.load(pointer, align=alignment)


@lower_builtin(operator.setitem, WorkMemory, types.intp, Lane)
def _store_row(context, builder, sig, args):
    pointer, alignment = _row(builder, args[0], args[1], sig.args[2])
    builder.store(args[2], pointer, align=alignment)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, Numbers, types.intp)
def _load_number(context, builder, sig, args):
    return builder.load(builder.gep(args[0], [args[1]]))


@lower_builtin(operator.setitem, Numbers, types.intp, types.Float)
def _store_number(context, builder, sig, args):
    builder.store(args[2], builder.gep(args[0], [args[1]]))
    return context.get_dummy_value()


@intrinsic
def clear_entries(typingctx, memory, count):
    """Set the first `count` entries of each state, or rows of work memory, to zero."""

    def generate(context, builder, sig, args):
        lane = sig.args[0].lane
        if isinstance(sig.args[0], (WorkMemory, Numbers)):
            row = context.get_abi_sizeof(context.get_value_type(lane))
            size = ir.Constant(args[1].type, row)
            cgutils.memset(builder, args[0], builder.mul(args[1], size), 0)
        else:
            view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
            size = builder.mul(args[1], ir.Constant(args[1].type, lane.bits // 8))
            first = ir.Constant(args[1].type, 0)
            for _, pointer in state_pointers(builder, view, first, lane.width):
                cgutils.memset(builder, pointer, size, 0)
        return context.get_dummy_value()

    return types.void(memory, types.intp), generate


@intrinsic
def entries_from(typingctx, memory, start):
    """The entries of each state, or the rows of work memory, from `start` on."""

    def generate(context, builder, sig, args):
        if not isinstance(sig.args[0], StateView):
            return builder.gep(args[0], [args[1]])
        view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        view.first = builder.gep(view.first, [args[1]])
        return view._getvalue()

    return memory(memory, types.intp), generate


@intrinsic
def width_of(typingctx, memory):
    """The number of lanes of work memory."""

    def generate(context, builder, sig, args):
        return ir.Constant(ir.IntType(64), sig.args[0].lane.width)

    return types.intp(memory), generate


@intrinsic
def is_present(typingctx, view):
    """Whether an optional argument was given."""

    def generate(context, builder, sig, args):
        if isinstance(sig.args[0], Numbers):
            return cgutils.is_not_null(builder, args[0])
        proxy = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        return cgutils.is_not_null(builder, proxy.first)

    return types.boolean(view), generate


@intrinsic
def state_view(typingctx, address, offset, stride, dtype):
    """W states, `stride` numbers apart, of which the first is `offset` numbers after `address`.

    Address 0 stands for an argument that was left out.
    """
    view = StateView(LANES[dtype.dtype.bitwidth])

    def generate(context, builder, sig, args):
        pointer_type = context.get_data_type(view.lane.element).as_pointer()
        data = builder.inttoptr(args[0], pointer_type)
        is_absent = cgutils.is_null(builder, data)
        proxy = cgutils.create_struct_proxy(view)(context, builder)
        proxy.first = builder.select(is_absent, data, builder.gep(data, [args[1]]))
        proxy.stride = args[2]
        return proxy._getvalue()

    return view(types.int64, types.intp, types.intp, dtype), generate


@intrinsic
def work_memory(typingctx, array):
    """A flat array as rows of lanes."""
    memory = WorkMemory(LANES[array.dtype.bitwidth])

    def generate(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.bitcast(data, vector_type(memory.lane).as_pointer())

    return memory(array), generate


@intrinsic
def address_of(typingctx, memory):
    """The address of work memory or of a contiguous array; 0 for an array without rows."""

    def generate(context, builder, sig, args):
        if isinstance(sig.args[0], WorkMemory):
            return builder.ptrtoint(args[0], ir.IntType(64))
        array = context.make_array(sig.args[0])(context, builder, args[0])
        rows = builder.extract_value(array.shape, 0)
        address = builder.ptrtoint(array.data, ir.IntType(64))
        nothing = ir.Constant(address.type, 0)
        return builder.select(builder.icmp_signed("==", rows, nothing), nothing, address)

    return types.int64(memory), generate


@intrinsic
def numbers(typingctx, array):
    """The numbers of a contiguous array."""
    result = Numbers(array.dtype)

    def generate(context, builder, sig, args):
        if isinstance(sig.args[0], ModelArray):
            return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).first
        return context.make_array(sig.args[0])(context, builder, args[0]).data

    return result(array), generate


@intrinsic
def numbers_at(typingctx, address, offset, dtype):
    """Numbers of one state that start `offset` numbers after `address`."""
    result = Numbers(dtype.dtype)

    def generate(context, builder, sig, args):
        pointer_type = context.get_data_type(result.lane).as_pointer()
        return builder.gep(builder.inttoptr(args[0], pointer_type), [args[1]])

    return result(types.int64, types.intp, dtype), generate


@intrinsic
def no_numbers(typingctx, dtype):
    """A null pointer, which stands for an argument that was left out."""
    result = Numbers(dtype.dtype)

    def generate(context, builder, sig, args):
        return context.get_constant_null(result)

    return result(dtype), generate


def _word(builder, address, index):
    table = builder.inttoptr(address, ir.IntType(64).as_pointer())
    return builder.load(builder.gep(table, [index]))


@intrinsic
def word_at(typingctx, header, index):
    """Integer `index` of the table at address `header`."""

    def generate(context, builder, sig, args):
        return _word(builder, *args)

    return types.int64(types.int64, types.intp), generate


@intrinsic
def array_at(typingctx, header, index, dtype):
    """The array whose address and length are integers `index` and `index + 1` of a table."""
    array = ModelArray(dtype.dtype)

    def generate(context, builder, sig, args):
        header, index, _ = args
        found = cgutils.create_struct_proxy(array)(context, builder)
        found.first = builder.inttoptr(_word(builder, header, index), found.first.type)
        found.length = _word(builder, header, builder.add(index, ir.Constant(index.type, 1)))
        return found._getvalue()

    return array(types.int64, types.intp, dtype), generate


@intrinsic
def overlaps(typingctx, first, second):
    """Whether two contiguous arrays share memory."""

    def generate(context, builder, sig, args):
        word = ir.IntType(64)
        spans = []
        for array_type, value in zip(sig.args, args, strict=True):
            array = context.make_array(array_type)(context, builder, value)
            start = builder.ptrtoint(array.data, word)
            size = builder.mul(array.nitems, array.itemsize)
            spans.append((start, builder.add(start, size)))
        (a, a_end), (b, b_end) = spans
        return builder.and_(
            builder.icmp_unsigned("<", a, b_end), builder.icmp_unsigned("<", b, a_end)
        )

    return types.boolean(first, second), generate


@intrinsic
def call_address(typingctx, address, t, q, nq, v, nv, u, nu):
    """Call a function of `compiled_callback` at an address."""

    def generate(context, builder, sig, args):
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [x.type for x in args[1:]])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    lengths = [types.int64] * 3
    given = [x for pair in zip((q, v, u), lengths, strict=True) for x in pair]
    return types.int64(types.int64, types.float64, *given), generate


@intrinsic
def read_clock(typingctx):
    """Seconds since some moment, to the nanosecond."""

    def generate(context, builder, sig, args):
        if _CLOCK is None:
            return ir.Constant(ir.DoubleType(), 0.0)
        whole, word = ir.IntType(32), ir.IntType(64)
        pair = ir.ArrayType(word, 2)  # seconds, and nanoseconds beyond them
        place = cgutils.alloca_once(builder, pair)
        kind = ir.FunctionType(whole, [whole, pair.as_pointer()])
        ask = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(ask, [ir.Constant(whole, _CLOCK), place])
        told = builder.load(place)
        seconds, rest = (
            builder.sitofp(builder.extract_value(told, k), ir.DoubleType()) for k in range(2)
        )
        return builder.fadd(seconds, builder.fmul(rest, ir.Constant(ir.DoubleType(), 1e-9)))

    return types.float64(), generate
