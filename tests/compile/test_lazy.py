"""Machine code is made for entries only, and whatever else is compiled stays right."""

import gc

import numba
import numpy as np
import pytest
from numba.core import codegen

from delassus.compile import FLOAT64, function, kernel, kernels, routine
from delassus.compile.native import cache, lazy
from delassus.model.packed import ModelArrays
from trees import chain, random_states


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Entries are compiled, not loaded."""
    monkeypatch.setattr(cache, "folder", lambda: None)


@pytest.fixture
def with_machine_code(monkeypatch):
    """Names and classes of the libraries that machine code was made for."""
    found = []
    make = codegen.JITCodeLibrary._finalize_final_module

    def record(self):
        found.append((self.name, type(self)))
        make(self)

    monkeypatch.setattr(codegen.JITCodeLibrary, "_finalize_final_module", record)
    return found


def compiled(name):
    """The entry for batches of a kernel of the package, compiled anew."""
    found = kernels()[name]
    found._batch.pop(FLOAT64, None)
    return found.batch(FLOAT64)


def test_only_the_entry_gets_machine_code(with_machine_code):
    compiled("normalize")
    assert with_machine_code == [("normalize_batch64", lazy._LazyLibrary)]
    assert gc.isenabled()
    numba.njit(lambda x: x + 1.0)(1.0)
    assert len(with_machine_code) > 1  # Numba's own way again


def test_where_numba_is_not_as_expected_it_compiles_in_its_own_way(monkeypatch, with_machine_code):
    model = chain(5)
    q = random_states(model, 0)[0] + 0.5
    many = np.stack([q, 2 * q, 3 * q])
    compiled("normalize")
    usual = model.normalize(many)
    monkeypatch.setattr(lazy, "_OF_GENERATORS", ("no such thing",))
    with_machine_code.clear()
    compiled("normalize")
    assert ("normalize_batch64", codegen.JITCodeLibrary) in with_machine_code
    model.prepared_batches.clear()
    assert np.array_equal(model.normalize(many), usual)


def test_a_users_compiled_function_works_in_kernels_and_outside():
    @numba.njit
    def inner(x):
        return 3.0 * x

    @numba.njit
    def squared(x):
        return inner(x) * x

    @kernel(ModelArrays, inputs={"v": "nv"}, outputs={"total": ""}, label="three squares")
    def three_squares(model, v, total, work):
        total[0] = 0.0
        for k in range(len(model.armature)):
            total[0] = total[0] + squared(v[k])

    model = chain(3)
    v = random_states(model, 0)[1]
    assert three_squares(model, (v,)) == pytest.approx(3 * v @ v)
    # Their libraries were made while the kernel was compiled.
    assert squared(2.0) == 12.0
    assert inner(2.0) == 6.0
    assert numba.njit(lambda x: squared(x) + min(x, 1.0))(2.0) == 13.0


def test_routines_stay_functions_of_their_own_and_others_do_not(monkeypatch):
    @function
    def tripled(x):
        return 3.0 * x

    @routine
    def squared(x):
        return x * tripled(x)

    @kernel(ModelArrays, inputs={"v": "nv"}, outputs={"total": ""}, label="routines", lanes=False)
    def squares_of_routines(model, v, total, work):
        total[0] = squared(v[0]) + squared(v[1])

    seen = []
    make = lazy._LazyLibrary._make_machine_code

    def record(self):
        seen.extend(f.name for f in self._final_module.functions if not f.is_declaration)
        make(self)

    monkeypatch.setattr(lazy._LazyLibrary, "_make_machine_code", record)
    v = np.array([[1.0, 2.0, 5.0], [3.0, 0.0, 1.0]])
    assert squares_of_routines(chain(3), (v,)).tolist() == [15.0, 27.0]
    assert any("squared" in name and "squares_of" not in name for name in seen)
    assert not any("tripled" in name for name in seen)
