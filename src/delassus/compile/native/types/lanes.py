"""The SIMD lane type: W numbers of W states that a kernel handles as if they were one number.

Two Numba types live here:

- `Lane`: a vector of W floats with the arithmetic of a float;
- `Mask`: the result of a comparison of two lanes, for `select` and `any_true`.

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

from .. import cpu

INDEX = ir.IntType(32)
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
    """A truth value for each lane."""

    def __init__(self, lane: Lane):
        self.lane = lane
        self.width = lane.width
        super().__init__(name=f"Mask({lane})")


def vector_type(lane: Lane) -> ir.VectorType:
    """LLVM's type of a lane."""
    return ir.VectorType(_FLOAT_IR[lane.bits], lane.width)


@register_model(Lane)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager, lane):
        super().__init__(manager, lane, vector_type(lane))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, mask):
        super().__init__(manager, mask, ir.VectorType(ir.IntType(1), mask.width))


LANES = {64: Lane(64), 32: Lane(32)}


# --- arithmetic -----------------------------------------------------------------------------------


def _splat(builder, scalar, vector):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(INDEX, 0))
    zeros = ir.Constant(ir.VectorType(INDEX, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, zeros)


def _as_vector(context, builder, value, from_type, lane):
    if isinstance(from_type, Lane):
        return value
    scalar = context.cast(builder, value, from_type, lane.element)
    return _splat(builder, scalar, vector_type(lane))


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
def exceeds(typingctx, x, limit):
    """Where x > limit, or x is NaN."""

    def generate(context, builder, sig, args):
        limits = _as_vector(context, builder, args[1], sig.args[1], x)
        return builder.fcmp_unordered(">", args[0], limits)

    return Mask(x)(x, limit), generate


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
        return builder.extract_element(args[0], builder.trunc(args[1], INDEX))

    return x.element(x, types.intp), generate


@intrinsic
def lane_set(typingctx, x, index, value):
    """x with the number in one lane replaced."""

    def generate(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], builder.trunc(args[1], INDEX))

    return x(x, types.intp, x.element), generate


def _raised(builder, x, kind, bit):
    """The bits of a number, shifted so that bit `bit` is in the place of the sign."""
    bits = kind.bits if isinstance(kind, Lane) else kind.bitwidth
    pattern = ir.IntType(bits)
    distance = ir.Constant(pattern, bits - 1 - bit)
    if isinstance(kind, Lane):
        pattern = ir.VectorType(pattern, kind.width)
        distance = ir.Constant(pattern, [distance] * kind.width)
    return builder.shl(builder.bitcast(x, pattern), distance)


@intrinsic(prefer_literal=True)
def by_bit(typingctx, x, bit, y, z):
    """y where bit `bit` of x, counted from the lowest, is 0; z where it is 1."""

    def generate(context, builder, sig, args):
        raised = _raised(builder, args[0], x, bit.literal_value)
        is_set = builder.icmp_signed("<", raised, cgutils.get_null_value(raised.type))
        return builder.select(is_set, args[3], args[2])

    return y(x, bit, y, y), generate


@intrinsic(prefer_literal=True)
def flipped(typingctx, x, bit, y, sign):
    """y, negated where bit `bit` of x is 1. `sign` is -0.0."""

    def generate(context, builder, sig, args):
        raised = _raised(builder, args[0], x, bit.literal_value)
        flip = builder.and_(raised, builder.bitcast(args[3], raised.type))
        both = builder.xor(builder.bitcast(args[2], raised.type), flip)
        return builder.bitcast(both, args[2].type)

    return y(x, bit, y, sign), generate


def stored(name: str, values: tuple[float, ...], bits: int):
    """A function that loads constants from memory, as numbers of the type of its argument.

    On ARM, in code that may be anywhere in memory, LLVM builds a 64-bit constant by four
    instructions, again in each pass of a loop; and it copies a constant that is in a register
    before it adds to it. Constants of a table with weak linkage are loaded instead: LLVM must
    assume that another module replaces the table. For lanes the table has each constant in all
    lanes.
    """
    real = {64: types.float64, 32: types.float32}[bits]

    @intrinsic
    def read(typingctx, like):
        is_lane = isinstance(like, Lane)
        number = like if is_lane else real
        element = vector_type(like) if is_lane else _FLOAT_IR[bits]
        kind = ir.ArrayType(element, len(values))

        def constant(x):
            single = ir.Constant(_FLOAT_IR[bits], x)
            return ir.Constant(element, [single] * like.width) if is_lane else single

        def generate(context, builder, sig, args):
            module, label = builder.module, f"delassus.{name}.{number}"
            table = module.globals.get(label)
            if table is None:
                table = ir.GlobalVariable(module, kind, label)
                table.initializer = ir.Constant(kind, [constant(x) for x in values])
                table.linkage = "weak"
            found = [
                builder.load(builder.gep(table, [INDEX(0), INDEX(k)])) for k in range(len(values))
            ]
            return context.make_tuple(builder, sig.return_type, found)

        return types.UniTuple(number, len(values))(like), generate

    return read
