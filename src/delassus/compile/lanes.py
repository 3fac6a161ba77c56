"""The SIMD lane type: W numbers of W states that a kernel handles as if they were one number.

Three Numba types live here, and nowhere else:

- `Lane`: a vector of W floats with the arithmetic of a float;
- `Mask`: what comparing two lanes gives, read by `select` and `any_true`;
- `StateView`: an argument of W states, `x[i]` gathers and `x[i] = y` scatters entry i of each;
- `WorkMemory`: scratch rows of W numbers side by side, `w[i]` is one vector load.

Importing this module imports Numba and registers the types.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import populate_array

from . import cpu

_INDEX = ir.IntType(32)
_FLOAT_IR = {64: ir.DoubleType(), 32: ir.FloatType()}


class Lane(types.Type):
    """A vector of `width` floats of `bits` bits."""

    def __init__(self, bits: int):
        self.bits = bits
        self.width = cpu.lanes(bits // 8)
        self.element = types.float64 if bits == 64 else types.float32
        super().__init__(name=f"Lane{self.width}x{bits}")

    def can_convert_from(self, typingctx, other):
        if isinstance(other, (types.Float, types.Integer)):
            from numba.core.typeconv import Conversion

            return Conversion.safe
        return None

    def unify(self, typingctx, other):
        return self if isinstance(other, (types.Float, types.Integer)) else None


class Mask(types.Type):
    """One truth value a lane."""

    def __init__(self, lane: Lane):
        self.lane = lane
        self.width = lane.width
        super().__init__(name=f"Mask({lane})")


class StateView(types.Type):
    """W states of an argument: the address of the first, and the distance between two of them."""

    def __init__(self, lane: Lane):
        self.lane = lane
        super().__init__(name=f"StateView({lane})")


class WorkMemory(types.Type):
    """Scratch memory whose rows are lanes."""

    def __init__(self, lane: Lane):
        self.lane = lane
        super().__init__(name=f"WorkMemory({lane})")


def _vector(lane: Lane) -> ir.VectorType:
    return ir.VectorType(_FLOAT_IR[lane.bits], lane.width)


@register_model(Lane)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager, lane):
        super().__init__(manager, lane, _vector(lane))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, mask):
        super().__init__(manager, mask, ir.VectorType(ir.IntType(1), mask.width))


@register_model(StateView)
class _StateViewModel(models.StructModel):
    def __init__(self, manager, view):
        pointer = types.CPointer(view.lane.element)
        super().__init__(manager, view, [("first", pointer), ("stride", types.intp)])


@register_model(WorkMemory)
class _WorkMemoryModel(models.PrimitiveModel):
    def __init__(self, manager, memory):
        super().__init__(manager, memory, _vector(memory.lane).as_pointer())


LANES = {64: Lane(64), 32: Lane(32)}


# --- arithmetic -----------------------------------------------------------------------------------


def _splat(builder, scalar, vector_type):
    undefined = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, vector_type.count), [0] * vector_type.count)
    return builder.shuffle_vector(first, undefined, zeros)


def _as_vector(context, builder, value, from_type, lane):
    if isinstance(from_type, Lane):
        return value
    scalar = context.cast(builder, value, from_type, lane.element)
    return _splat(builder, scalar, _vector(lane))


@lower_cast(types.Float, Lane)
@lower_cast(types.Integer, Lane)
def _cast_to_lane(context, builder, from_type, to_type, value):
    return _as_vector(context, builder, value, from_type, to_type)


def _lane_of(args):
    """The lane type of an operation on lanes and numbers, or None if it is not one."""
    lane = next((a for a in args if isinstance(a, Lane)), None)
    if lane is None or not all(isinstance(a, (Lane, types.Float, types.Integer)) for a in args):
        return None
    return lane


def _register_binary(op, emit, result=lambda lane: lane):
    @infer_global(op)
    class _Binary(AbstractTemplate):
        def generic(self, args, kws):
            lane = _lane_of(args) if len(args) == 2 else None
            return lane and signature(result(lane), *args)

    def lower(context, builder, sig, args):
        lane = _lane_of(sig.args)
        x, y = (
            _as_vector(context, builder, a, t, lane) for a, t in zip(args, sig.args, strict=True)
        )
        return emit(builder, x, y)

    for pair in (
        (Lane, Lane),
        (Lane, types.Float),
        (types.Float, Lane),
        (Lane, types.Integer),
        (types.Integer, Lane),
    ):
        lower_builtin(op, *pair)(lower)


_register_binary(operator.add, lambda b, x, y: b.fadd(x, y))
_register_binary(operator.sub, lambda b, x, y: b.fsub(x, y))
_register_binary(operator.mul, lambda b, x, y: b.fmul(x, y))
_register_binary(operator.truediv, lambda b, x, y: b.fdiv(x, y))
for _op, _symbol in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _register_binary(_op, lambda b, x, y, s=_symbol: b.fcmp_ordered(s, x, y), Mask)


@infer_global(operator.neg)
class _Negate(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], Lane):
            return signature(args[0], args[0])


@lower_builtin(operator.neg, Lane)
def _negate(context, builder, sig, args):
    return builder.fneg(args[0])


def _register_mask(op, method):
    @infer_global(op)
    class _Logical(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and all(isinstance(a, Mask) for a in args):
                return signature(args[0], *args)

    @lower_builtin(op, Mask, Mask)
    def _lower(context, builder, sig, args):
        return getattr(builder, method)(*args)


_register_mask(operator.and_, "and_")
_register_mask(operator.or_, "or_")


# --- functions of one lane and of scalars ---------------------------------------------------------


def _llvm_function(name):
    """An LLVM intrinsic of one floating-point argument, for lanes and for scalars."""

    @intrinsic
    def function(typingctx, x):
        def generate(context, builder, sig, args):
            value = args[0]
            t = value.type
            count = f"v{t.count}" if isinstance(t, ir.VectorType) else ""
            element = t.element if count else t
            bits = "f64" if isinstance(element, ir.DoubleType) else "f32"
            declared = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(t, [t]), f"llvm.{name}.{count}{bits}"
            )
            return builder.call(declared, [value])

        return x(x), generate

    return function


square_root = _llvm_function("sqrt")
absolute = _llvm_function("fabs")
round_to_even = _llvm_function("rint")


@intrinsic
def choose(typingctx, mask, x, y):
    """x where the mask holds, y elsewhere."""
    lane = mask.lane

    def generate(context, builder, sig, args):
        a, b = (
            _as_vector(context, builder, v, t, lane)
            for v, t in zip(args[1:], sig.args[1:], strict=True)
        )
        return builder.select(args[0], a, b)

    return lane(mask, x, y), generate


@intrinsic
def any_lane(typingctx, mask):
    """Whether the mask holds in at least one lane."""

    def generate(context, builder, sig, args):
        width = sig.args[0].width
        bits = builder.bitcast(args[0], ir.IntType(width))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(mask), generate


@intrinsic
def lane_get(typingctx, x, index):
    """The number in one lane."""

    def generate(context, builder, sig, args):
        return builder.extract_element(args[0], builder.trunc(args[1], _INDEX))

    return x.element(x, types.intp), generate


@intrinsic
def lane_set(typingctx, x, index, value):
    """x with the number in one lane replaced."""

    def generate(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], builder.trunc(args[1], _INDEX))

    return x(x, types.intp, x.element), generate


# --- arguments of W states, and work memory -------------------------------------------------------


def _state_pointers(builder, view, index, width):
    stride = view.stride
    for lane_number in range(width):
        offset = builder.mul(stride, ir.Constant(stride.type, lane_number))
        yield lane_number, builder.gep(view.first, [builder.add(offset, index)])


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], (StateView, WorkMemory)) and isinstance(args[1], types.Integer):
            return signature(args[0].lane, args[0], types.intp)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], (StateView, WorkMemory)) and isinstance(args[1], types.Integer):
            return signature(types.none, args[0], types.intp, args[0].lane)


@lower_builtin(operator.getitem, StateView, types.intp)
def _gather(context, builder, sig, args):
    lane = sig.return_type
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    vector = ir.Constant(_vector(lane), ir.Undefined)
    for number, pointer in _state_pointers(builder, view, args[1], lane.width):
        vector = builder.insert_element(vector, builder.load(pointer), ir.Constant(_INDEX, number))
    return vector


@lower_builtin(operator.setitem, StateView, types.intp, Lane)
def _scatter(context, builder, sig, args):
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    for number, pointer in _state_pointers(builder, view, args[1], sig.args[2].width):
        builder.store(builder.extract_element(args[2], ir.Constant(_INDEX, number)), pointer)
    return context.get_dummy_value()


def _row(builder, memory, index, lane):
    pointer = builder.gep(memory, [index])
    return pointer, lane.bits // 8  # NumPy promises no more alignment than that of a number


@lower_builtin(operator.getitem, WorkMemory, types.intp)
def _load_row(context, builder, sig, args):
    pointer, alignment = _row(builder, args[0], args[1], sig.return_type)
    return builder.load(pointer, align=alignment)


@lower_builtin(operator.setitem, WorkMemory, types.intp, Lane)
def _store_row(context, builder, sig, args):
    pointer, alignment = _row(builder, args[0], args[1], sig.args[2])
    builder.store(args[2], pointer, align=alignment)
    return context.get_dummy_value()


@intrinsic
def clear_entries(typingctx, memory, count):
    """Set the first entries of each state, or the first rows of work memory, to zero."""

    def generate(context, builder, sig, args):
        lane = sig.args[0].lane
        if isinstance(sig.args[0], WorkMemory):
            size = ir.Constant(args[1].type, lane.width * lane.bits // 8)
            cgutils.memset(builder, args[0], builder.mul(args[1], size), 0)
        else:
            view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
            size = builder.mul(args[1], ir.Constant(args[1].type, lane.bits // 8))
            first = ir.Constant(args[1].type, 0)
            for _, pointer in _state_pointers(builder, view, first, lane.width):
                cgutils.memset(builder, pointer, size, 0)
        return context.get_dummy_value()

    return types.void(memory, types.intp), generate


@intrinsic
def is_present(typingctx, view):
    """Whether an argument that may be left out was given."""

    def generate(context, builder, sig, args):
        proxy = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        return cgutils.is_not_null(builder, proxy.first)

    return types.boolean(view), generate


@intrinsic
def state_view(typingctx, address, offset, stride, dtype):
    """The W states from `offset` numbers after an address on, `stride` numbers apart.

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
        return builder.bitcast(data, _vector(memory.lane).as_pointer())

    return memory(array), generate


def _contiguous_array(context, builder, array_type, data, length):
    """A one-dimensional array over memory that somebody else keeps alive."""
    result = context.make_array(array_type)(context, builder)
    itemsize = context.get_abi_sizeof(context.get_data_type(array_type.dtype))
    size = ir.Constant(ir.IntType(64), itemsize)
    populate_array(result, data=data, shape=[length], strides=[size], itemsize=size, meminfo=None)
    return result._getvalue()


def _word(builder, address, index):
    table = builder.inttoptr(address, ir.IntType(64).as_pointer())
    return builder.load(builder.gep(table, [index]))


@intrinsic
def word_at(typingctx, header, index):
    """Integer number `index` of the table at address `header`."""

    def generate(context, builder, sig, args):
        return _word(builder, *args)

    return types.int64(types.int64, types.intp), generate


@intrinsic
def array_at(typingctx, header, index, dtype):
    """The array whose address and length stand at `index` and after it in the table `header`."""
    array = types.Array(dtype.dtype, 1, "C")

    def generate(context, builder, sig, args):
        header, index, _ = args
        pointer_type = context.get_data_type(array.dtype).as_pointer()
        data = builder.inttoptr(_word(builder, header, index), pointer_type)
        length = _word(builder, header, builder.add(index, ir.Constant(index.type, 1)))
        return _contiguous_array(context, builder, array, data, length)

    return array(types.int64, types.intp, dtype), generate


@intrinsic
def flat(typingctx, array):
    """A contiguous array of any dimension as one of a single dimension, without a copy."""
    result = types.Array(array.dtype, 1, "C")

    def generate(context, builder, sig, args):
        source = context.make_array(sig.args[0])(context, builder, args[0])
        length = ir.Constant(ir.IntType(64), 1)
        for extent in cgutils.unpack_tuple(builder, source.shape):
            length = builder.mul(length, extent)
        return _contiguous_array(context, builder, result, source.data, length)

    return result(array), generate


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
def bit_clear(typingctx, x, bit, y, z):
    """y where the given bit of x's representation is 0, z where it is 1."""
    kind = x if isinstance(x, Lane) else None
    bits = x.bits if kind else x.bitwidth

    def generate(context, builder, sig, args):
        word = ir.IntType(bits)
        pattern = ir.VectorType(word, kind.width) if kind else word
        wanted = builder.trunc(args[1], word) if bits == 32 else args[1]
        if kind:
            wanted = _splat(builder, wanted, pattern)
        found = builder.and_(builder.bitcast(args[0], pattern), wanted)
        is_zero = builder.icmp_unsigned("==", found, cgutils.get_null_value(pattern))
        return builder.select(is_zero, args[2], args[3])

    return y(x, types.int64, y, y), generate
