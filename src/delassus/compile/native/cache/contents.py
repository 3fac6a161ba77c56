"""A hash of a function together with all that its compiled code is made of.

It follows the names in a function's code, as the compiler does: to other functions, to constants,
and through variables that are bound by a function around it. Two functions of the same hash give
the same machine code, if also the compiler and the compile layer are the same.

Code objects and values are hashed as they are in memory, not their source files. So the hash does
not depend on comments, needs no sources, and tells what will be compiled even if a file has changed
since it was imported. To hash the files of all modules that a kernel's module imports, directly or
not, would cover far more: each kernel's module imports the model's classes, and so half of the
package.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.resources
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np

from ...language.functions import full_name, routines

_PACKAGE = __name__.partition(".")[0]


class Untraceable(TypeError):
    """A function refers to something whose changes would go unnoticed."""


def is_of_package(module_name: str | None) -> bool:
    """Whether a module belongs to this package."""
    return (module_name or "").partition(".")[0] == _PACKAGE


def contents_hash(*values) -> str:
    """A hash of functions with all that they refer to, and of plain values."""
    writer = _Writer()
    writer.write(values)
    return writer.digest.hexdigest()


def reached_functions(function: FunctionType) -> list[FunctionType]:
    """A function and the functions that it refers to, directly or through others.

    It ends at what is `Untraceable`.
    """
    writer = _Writer()
    with contextlib.suppress(Untraceable):
        writer.write(function)
    return [value for value in writer.written if isinstance(value, FunctionType)]


def files_hash(package: str) -> str | None:
    """A hash of all modules of a package as they are on disk or in a zip file; None without any."""
    digest, is_empty = hashlib.sha256(), True
    try:
        for name, content in _module_files(importlib.resources.files(package), package):
            digest.update(f"{name} {len(content)}\n".encode() + content)
            is_empty = False
    except OSError:
        return None
    return None if is_empty else digest.hexdigest()


def _module_files(folder, name: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of sources or, where a package has none, of byte code."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        below = f"{name}/{item.name}"
        if item.name.endswith((".py", ".pyc")):
            yield below, item.read_bytes()
        elif item.name != "__pycache__" and item.is_dir():
            yield from _module_files(item, below)


_PLAIN = frozenset((type(None), type(...), bool, int, float, complex, str, bytes))


class _Writer:
    """Feeds values to a digest. A function or class that comes again is written as its number."""

    def __init__(self):
        self.digest = hashlib.sha256()
        self.numbers: dict[int, int] = {}  # by id
        self.written: list = []  # keeps the objects alive, and so their ids

    def write(self, value) -> None:
        kind = type(value)
        if kind in _PLAIN:
            self._text(repr(value))
        elif isinstance(value, (FunctionType, type)):
            if id(value) in self.numbers:
                self._text(f"number {self.numbers[id(value)]}")
                return
            self.numbers[id(value)] = len(self.written)
            self.written.append(value)
            if isinstance(value, type):
                self._class(value)
            else:
                self._function(value)
        elif isinstance(value, (tuple, list)):
            if _PLAIN.issuperset(map(type, value)):
                self._text(repr(value))  # with the names of a named tuple
                return
            self._text(f"{kind.__name__} {len(value)} {getattr(value, '_fields', ())}")
            for entry in value:
                self.write(entry)
        elif isinstance(value, dict):
            self.write(list(value.items()))
        elif isinstance(value, (set, frozenset)):
            self.write(sorted(value, key=repr))
        elif isinstance(value, np.dtype):
            self._text(f"{value!r} {value.itemsize} {value.alignment}")
        elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            self.write(value.dtype)
            self._text(f"{value.shape} {value.tobytes().hex()}")
        elif isinstance(value, CodeType):
            self._code(value, None)
        elif isinstance(value, (BuiltinFunctionType, np.ufunc)):
            self._text(repr(value.__name__))
        elif isinstance(value, ModuleType) and not is_of_package(value.__name__):
            self._text(value.__name__)  # the folder tells versions apart
        else:
            raise Untraceable(f"{value!r} of type {kind.__name__}")

    def _text(self, text: str) -> None:
        self.digest.update(text.encode() + b"\n")

    def _class(self, cls: type) -> None:
        self._text(f"{cls.__module__}.{cls.__qualname__}")
        if is_of_package(cls.__module__):
            if not hasattr(cls, "_fields"):
                raise Untraceable(f"the class {cls.__qualname__}, which is no named tuple")
            self.write((cls._fields, cls._field_defaults))

    def _function(self, function: FunctionType) -> None:
        code = function.__code__
        self._text(str(function.__module__))  # kept kernels look functions up by it
        self._text("routine" if full_name(function) in routines else "function")
        self._code(code, function.__doc__)
        self.write((function.__defaults__, function.__kwdefaults__))
        self.write([cell.cell_contents for cell in function.__closure__ or ()])
        self._named(sorted(_names(code)), function.__globals__)

    def _named(self, names: list[str], scope: dict) -> None:
        """Write what names mean in a scope; attributes of this package's modules are names too."""
        for name in names:
            if name in scope:
                value = scope[name]
                self._text(name)
                if isinstance(value, ModuleType) and is_of_package(value.__name__):
                    self._named([n for n in names if n != name], vars(value))
                else:
                    self.write(value)

    def _code(self, code: CodeType, doc: str | None) -> None:
        """Write all of a code object but line numbers and the docstring."""
        self._text(
            f"code {code.co_code.hex()} {code.co_flags} {code.co_argcount} "
            f"{code.co_posonlyargcount} {code.co_kwonlyargcount} {code.co_names} "
            f"{code.co_varnames} {code.co_freevars} {code.co_cellvars} "
            f"{getattr(code, 'co_exceptiontable', b'').hex()}"
        )
        self.write([x for x in code.co_consts if doc is None or x != doc])


def _names(code: CodeType) -> set[str]:
    """All names in a code object, and in those of functions inside it."""
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names}.union(*inner)
