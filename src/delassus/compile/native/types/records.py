"""A model's arrays and parts of work memory by name, as kernels see them: looked up, not passed.

Two Numba types live here, which stand for named tuples of plain Python:

- `ModelRecord`: `model.joints` is one of a model's arrays;
- `WorkRecord`: `work.forces` is a part of work memory, `work.op` a record of parts.

Both hold the address of the model's table (see `compile.tables`), and each access reads the words
that it needs. Tuples of a hundred arrays, all handed to each function, took a sixth of the time to
compile a large kernel.

Importing this module imports Numba and registers the types.
"""

from __future__ import annotations

import hashlib

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

from ...language.slots import Layout
from .memory import ModelArray

_WORD = ir.IntType(64)


class Record(types.Type):
    """Names, each with a word of the table and the type of what is found by it.

    The type is named by a hash: functions have the names of the types that they take in their own.
    """

    def __init__(self, title: str, places: dict[str, tuple[int, types.Type]]):
        self.places = places
        described = str([(name, place, str(kind)) for name, (place, kind) in places.items()])
        super().__init__(name=f"{title}({hashlib.sha256(described.encode()).hexdigest()[:16]})")


class ModelRecord(Record):
    """The arrays of a model, each by its address and, in the next word, its length."""

    def __init__(self, kind: type, dtypes: list[types.Type], first: int):
        places = {
            name: (first + 2 * k, ModelArray(dtype))
            for k, (name, dtype) in enumerate(zip(kind._fields, dtypes, strict=True))
        }
        super().__init__(kind.__name__, places)


class WorkRecord(Record):
    """Parts of work memory, each by its start."""

    def __init__(self, memory: types.Type, layout: Layout, first: int):
        self.memory, places = memory, {}
        for name, value in layout.values():
            kind = WorkRecord(memory, value, first) if isinstance(value, Layout) else memory
            places[name] = first, kind
            first += value.count if isinstance(value, Layout) else 1
        super().__init__("Work", places)


@register_model(ModelRecord)
class _ModelRecordModel(models.PrimitiveModel):
    def __init__(self, manager, record):
        super().__init__(manager, record, _WORD.as_pointer())


@register_model(WorkRecord)
class _WorkRecordModel(models.StructModel):
    def __init__(self, manager, record):
        members = [("memory", record.memory), ("table", types.CPointer(types.int64))]
        super().__init__(manager, record, members)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Record

    def generic_resolve(self, record, name):
        return record.places[name][1] if name in record.places else None


def _word(builder, table, place: int):
    """A word of the table, which does not change while a kernel runs."""
    word = builder.load(builder.gep(table, [ir.Constant(_WORD, place)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@lower_getattr_generic(ModelRecord)
def _array(context, builder, record, table, name):
    place, array = record.places[name]
    found = cgutils.create_struct_proxy(array)(context, builder)
    found.first = builder.inttoptr(_word(builder, table, place), found.first.type)
    found.length = _word(builder, table, place + 1)
    return found._getvalue()


@lower_getattr_generic(WorkRecord)
def _part(context, builder, record, value, name):
    place, kind = record.places[name]
    if isinstance(kind, WorkRecord):
        return value  # of the same memory and table; places differ
    given = cgutils.create_struct_proxy(record)(context, builder, value=value)
    return builder.gep(given.memory, [_word(builder, given.table, place)])


def model_opener(kind: type, dtypes: list[types.Type], first: int):
    """The function that makes a record of the arrays whose addresses start at a word of a table."""
    record = ModelRecord(kind, dtypes, first)

    @intrinsic
    def open_model(typingctx, header):
        def generate(context, builder, sig, args):
            return builder.inttoptr(args[0], _WORD.as_pointer())

        return record(types.int64), generate

    return open_model


def work_divider(layout: Layout, first: int):
    """The function that divides work memory into parts whose starts begin at a word of a table."""

    @intrinsic
    def divide(typingctx, header, memory):
        record = WorkRecord(memory, layout, first)

        def generate(context, builder, sig, args):
            made = cgutils.create_struct_proxy(record)(context, builder)
            made.memory = args[1]
            made.table = builder.inttoptr(args[0], _WORD.as_pointer())
            return made._getvalue()

        return record(types.int64, memory), generate

    return divide
