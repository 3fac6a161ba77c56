"""Arrays as Python gives them to compiled entries, which look at NumPy's objects themselves.

Numba's own way takes 0.13 us an array, which is more than many kernels take: it finds out the types
of all arguments, and then makes an object for each array that counts references to it. Nor does it
look at the byte order of an array in all cases. An entry takes a `Given` for each array instead,
tests it by `is_array`, and makes an array of Numba's out of it by `opened`. The caller holds the
arrays while the entry runs.

The places below are those of `PyArrayObject_fields` and of `PyArray_Descr` in the headers of NumPy
1 and 2, to which all programs that use NumPy from C are bound.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import as_dtype

# Bytes from the start of an array's object, and of its dtype's.
_CLASS, _DATA, _AXES, _SHAPE, _DTYPE, _FLAGS = 8, 16, 24, 32, 56, 64
_BYTE_ORDER, _NUMBER_TYPE = 26, 28

_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
READ = _CONTIGUOUS | _ALIGNED
WRITTEN = READ | _WRITEABLE
_NATIVE = ord("=")

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)


class Given(types.Type):
    """Any object of Python's, not looked at yet."""

    def __init__(self):
        super().__init__("Given")


GIVEN = Given()


@register_model(Given)
class _GivenModel(models.OpaqueModel):
    pass


@unbox(Given)
def _unbox(given, obj, context):
    return NativeValue(obj)


def _read(builder, pointer, offset: int, kind):
    place = builder.gep(pointer, [ir.Constant(_WORD, offset)])
    return builder.load(builder.bitcast(place, kind.as_pointer()))


@intrinsic
def is_array(typingctx, given, array_class, array, flags):
    """Whether an object is an array of the type `array`, fit to be READ, or also to be WRITTEN.

    `array_class` is the address of NumPy's class: subclasses may be anything.
    """
    expected = array.instance_type

    def generate(context, builder, sig, args):
        pointer, address, _, flags = args

        def constant(value, kind):
            return ir.Constant(kind, value)

        def is_equal(offset, kind, value, within=pointer):
            return builder.icmp_unsigned("==", _read(builder, within, offset, kind), value)

        is_one = is_equal(_CLASS, _WORD, address)
        result = cgutils.alloca_once_value(builder, constant(0, ir.IntType(1)))
        with builder.if_then(is_one):  # other objects end before these places
            dtype = _read(builder, pointer, _DTYPE, pointer.type)
            own_flags = builder.and_(_read(builder, pointer, _FLAGS, _INT), flags)
            number = np.dtype(as_dtype(expected.dtype)).num
            tests = [
                is_equal(_AXES, _INT, constant(expected.ndim, _INT)),
                builder.icmp_unsigned("==", own_flags, flags),
                is_equal(_NUMBER_TYPE, _INT, constant(number, _INT), dtype),
                is_equal(_BYTE_ORDER, _BYTE, constant(_NATIVE, _BYTE), dtype),
            ]
            all_hold = tests[0]
            for test in tests[1:]:
                all_hold = builder.and_(all_hold, test)
            builder.store(all_hold, result)
        return builder.load(result)

    return types.boolean(given, types.int64, array, types.int32), generate


@intrinsic
def opened(typingctx, given, array):
    """The array of Numba's that an object is, which `is_array` has told."""
    expected = array.instance_type

    def generate(context, builder, sig, args):
        pointer = args[0]
        found = make_array(expected)(context, builder)
        lengths = _read(builder, pointer, _SHAPE, _WORD.as_pointer())
        shape = [
            builder.load(builder.gep(lengths, [ir.Constant(_WORD, axis)]))
            for axis in range(expected.ndim)
        ]
        itemsize = ir.Constant(_WORD, as_dtype(expected.dtype).itemsize)
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(
            found,
            data=_read(builder, pointer, _DATA, found.data.type),
            shape=shape,
            strides=strides[: expected.ndim],
            itemsize=itemsize,
            meminfo=None,
        )
        return found._getvalue()

    return expected(given, array), generate
