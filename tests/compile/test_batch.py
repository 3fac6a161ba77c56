"""Batches: any number of states, any threads, either precision, the same numbers."""

import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import delassus as dl
from delassus.compile import batch, kernels
from delassus.compile.batch import lined_up
from delassus.compile.native import cpu
from delassus.compile.native.writing import how_to_write
from delassus.model.packed import ModelArrays
from trees import chain, random_states, random_tree, relative

WIDTH = cpu.lanes(8)
FUNCTIONS = {
    "inverse_dynamics": lambda m, q, v, a, **k: dl.inverse_dynamics(m, q, v, a, **k),
    "forward_dynamics": lambda m, q, v, a, **k: dl.forward_dynamics(m, q, v, a, **k),
    "mass_matrix": lambda m, q, v, a, **k: dl.mass_matrix(m, q, **k),
    "inverse_mass_matrix": lambda m, q, v, a, **k: dl.inverse_mass_matrix(m, q, **k),
    "integrate": lambda m, q, v, a, **k: m.integrate(q, v, **k),
    "kinetic_energy": lambda m, q, v, a, **k: dl.kinetic_energy(m, q, v, **k),
    "coriolis_matrix": lambda m, q, v, a, **k: dl.coriolis_matrix(m, q, v, **k),
}
each_function = pytest.mark.parametrize("name", FUNCTIONS)


@pytest.fixture(scope="module")
def model():
    return random_tree(5, bodies=9)


@each_function
@pytest.mark.parametrize("count", [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 1, 130])
def test_any_number_of_states(model, name, count):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 0, count)
    found = f(model, q, v, a)
    assert found.shape[0] == count
    for i in range(count):
        assert relative(found[i], f(model, q[i], v[i], a[i])) < 1e-10


@each_function
def test_a_state_gives_the_same_bits_wherever_it_stands_and_however_many_threads(model, name):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 1, 301)
    whole = f(model, q, v, a, threads=1)
    assert np.array_equal(f(model, q, v, a, threads=2), whole)
    assert np.array_equal(f(model, q, v, a, threads=7), whole)
    assert np.array_equal(f(model, q[5:], v[5:], a[5:]), whole[5:])


@each_function
@pytest.mark.parametrize("more", [1, WIDTH - 1, WIDTH, WIDTH + 1, 63, 65])
def test_states_that_fill_no_block_give_the_same_bits_in_any_thread(model, name, more):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 3, 128 + more)  # threads take 64 each
    whole = f(model, q, v, a, threads=1)
    assert np.array_equal(f(model, q, v, a, threads=3), whole)
    for i in (0, 127, 128, 127 + more):
        assert np.array_equal(f(model, q[i : i + 1], v[i : i + 1], a[i : i + 1])[0], whole[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 999, 31337])
def test_vectors_of_work_memory_lie_in_one_cache_line_each(size, dtype):
    memory = [lined_up(size, np.dtype(dtype)) for _ in range(5)]  # at different addresses
    for x in memory:
        assert x.shape == (size,)
        assert x.dtype == dtype
        assert x.flags.c_contiguous
        assert x.ctypes.data % 64 == 0


def refuse(*arguments):
    raise AssertionError("not all went to the compiled entry at once")


@each_function
@pytest.mark.parametrize(("count", "threads"), [(1, None), (WIDTH + 1, 3), (64, None), (200, 1)])
def test_arrays_that_fit_are_not_looked_at_in_python(model, name, count, threads, monkeypatch):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 6, count)
    expected = f(model, q, v, a, threads=threads)  # gets everything ready
    monkeypatch.setattr(batch, "evaluate", refuse)
    assert np.array_equal(f(model, q, v, a, threads=threads), expected)
    out = np.full_like(expected, np.nan)
    f(model, q, v, a, threads=threads, out=out)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("count", [1, 5, 64])
def test_optional_arguments_that_fit_are_not_looked_at_in_python(model, count, monkeypatch):
    q, v, a = random_states(model, 7, count)
    pushes = np.random.default_rng(0).normal(size=(count, model.n_bodies, 6))
    expected = [dl.inverse_dynamics(model, q, v, a, x) for x in (None, pushes)]
    monkeypatch.setattr(batch, "evaluate", refuse)
    assert np.array_equal(dl.inverse_dynamics(model, q, v, a), expected[0])
    assert np.array_equal(dl.inverse_dynamics(model, q, v, a, pushes), expected[1])


def test_options_of_constraints_are_not_looked_at_in_python(monkeypatch):
    model = chain(4)
    cs = dl.Constraints(model, [dl.Connect(model.body_names[-1])])
    q, v, tau = random_states(model, 9, 10)
    states = (model, q, v, tau, cs)
    expected = dl.constrained_dynamics(*states), dl.delassus_inverse(model, q, cs, 1e-3)
    monkeypatch.setattr(batch, "evaluate", refuse)
    found = dl.constrained_dynamics(*states), dl.delassus_inverse(model, q, cs, 1e-3)
    assert np.array_equal(found[0].acceleration, expected[0].acceleration)
    assert np.array_equal(found[1], expected[1])


@pytest.mark.parametrize("calls_before", [0, 1])
def test_what_does_not_fit_is_refused_before_and_after_a_call_that_does(calls_before):
    model = random_tree(5, bodies=9)
    q, v, a = random_states(model, 8, 5)
    for _ in range(calls_before):
        dl.inverse_dynamics(model, q, v, a)
        dl.mass_matrix(model, q)
    shape_error = dl.ShapeError
    with pytest.raises(shape_error, match="v has 1 states"):
        dl.inverse_dynamics(model, q, v[:1], a)
    with pytest.raises(shape_error, match="a has 0 states"):
        dl.inverse_dynamics(model, q, v, a[:0])
    with pytest.raises(shape_error, match="v must have shape"):
        dl.inverse_dynamics(model, q, v[:, 1:].copy(), a)
    with pytest.raises(shape_error, match="external_forces has 0 states"):
        dl.inverse_dynamics(model, q, v, a, np.zeros((0, model.n_bodies, 6)))
    with pytest.raises(shape_error, match="out overlaps the input a"):
        dl.inverse_dynamics(model, q, v, a, out=a)
    with pytest.raises(shape_error, match="must have shape"):
        dl.mass_matrix(model, q, out=np.zeros((4, model.nv, model.nv)))
    for threads in (0, -1):
        with pytest.raises(shape_error, match="threads must be"):
            dl.inverse_dynamics(model, q, v, a, threads=threads)
    with pytest.raises(dl.DataTypeError, match="threads must be"):
        dl.inverse_dynamics(model, q, v, a, threads=True)


@pytest.mark.parametrize("how", [(2048, 512, 2**62), (4096, 512, 2**62), (2048, 512, 2049)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [2, 7, 8, 9, 11, 12, 15, 16, 17, 23, 24, 25, 26, 33, 43])
def test_matrices_are_the_same_at_any_address(size, dtype, how, monkeypatch):
    """By entries, by lines of some states at a time, or past the caches: by their size."""
    model = chain(size)
    monkeypatch.setattr(batch, "how_to_write", lambda size: how)
    for count in (WIDTH - 1, WIDTH, 3 * WIDTH + 1, 131):
        q = random_states(model, 4, count)[0].astype(dtype)
        expected = np.concatenate([dl.mass_matrix(model, q[i : i + 1]) for i in range(count)])
        for start in range(1, 18):
            memory = np.full(start + expected.size + 16, np.pi, dtype)
            out = memory[start : start + expected.size].reshape(expected.shape)
            dl.mass_matrix(model, q, out=out, threads=1 + start % 2)
            assert np.array_equal(out, expected)
            assert np.all(memory[:start] == dtype(np.pi))
            assert np.all(memory[start + expected.size :] == dtype(np.pi))


def across(x):
    """A copy that starts between the places of numbers in memory."""
    memory = np.zeros(np.asarray(x).nbytes + 1, np.uint8)
    y = np.ndarray(np.shape(x), np.asarray(x).dtype, memory, 1)
    assert not y.flags.aligned
    y[...] = x
    return y


def swapped(x):
    """A copy in the byte order of other processors."""
    return np.asarray(x).astype(np.asarray(x).dtype.newbyteorder())


def of_subclass(x):
    """A copy in an array of a class of its own."""
    return np.array(x).view(np.recarray)


@each_function
@pytest.mark.parametrize("stored", [across, swapped, of_subclass])
@pytest.mark.parametrize("count", [None, 3 * WIDTH])
def test_arrays_may_be_stored_in_any_way(model, name, stored, count):
    f, states = FUNCTIONS[name], random_states(model, 5, count)
    expected = f(model, *states)
    out = stored(np.zeros_like(expected))
    for _ in range(2):  # the second time all is ready for arrays that fit
        assert np.array_equal(f(model, *map(stored, states)), expected)
        f(model, *states, out=out)
        assert np.array_equal(out, expected)


def test_only_what_is_large_is_asked_for_from_afar_or_goes_past_the_caches(monkeypatch):
    monkeypatch.setattr(cpu, "reads_before_writing", lambda: True)
    usual = how_to_write(2**20)
    from_afar, past_caches = how_to_write(2**23), how_to_write(2**26)
    assert from_afar.most_ahead > usual.most_ahead == past_caches.most_ahead
    assert past_caches.least_streamed < 2**20 < usual.least_streamed == from_afar.least_streamed
    monkeypatch.setattr(cpu, "reads_before_writing", lambda: False)
    assert how_to_write(2**20) == how_to_write(2**23) == how_to_write(2**26) == usual


@each_function
def test_one_model_used_from_many_threads_gives_the_same_bits(model, name):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 2, 64)
    single = [f(model, q[i], v[i], a[i]) for i in range(64)]
    whole = f(model, q, v, a, threads=1)

    def work(k):
        ones = [np.array_equal(f(model, q[i], v[i], a[i]), single[i]) for i in range(64)]
        return all(ones) and np.array_equal(f(model, q, v, a, threads=1 + k % 3), whole)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


@each_function
def test_nan_in_one_state_stays_in_that_state(model, name):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 3, 4 * WIDTH)
    clean = f(model, q, v, a)
    q = q.copy()
    q[WIDTH + 1] = np.nan
    v[WIDTH + 1] = np.nan
    spoilt = f(model, q, v, a)
    others = np.arange(len(q)) != WIDTH + 1
    assert np.array_equal(spoilt[others], clean[others])
    assert np.isnan(spoilt[WIDTH + 1]).any()
    if name in ("inverse_dynamics", "forward_dynamics", "integrate"):
        assert np.isnan(spoilt[WIDTH + 1]).all()
        assert np.isnan(f(model, q[WIDTH + 1], v[WIDTH + 1], a[WIDTH + 1])).all()


@each_function
def test_single_precision(model, name):
    f, (q, v, a) = FUNCTIONS[name], random_states(model, 4, 37)
    exact = f(model, q, v, a)
    small = [x.astype(np.float32) for x in (q, v, a)]
    rough = f(model, *small)
    assert rough.dtype == np.float32
    assert relative(rough, exact) < 2e-3
    one = f(model, *(x[0] for x in small))
    assert one.dtype == np.float32
    assert relative(one, exact[0]) < 2e-3


def test_mixed_precision_is_double(model):
    q, v, a = random_states(model, 4, 3)
    assert dl.inverse_dynamics(model, q.astype(np.float32), v, a).dtype == np.float64


def test_inputs_of_any_layout_and_kind_give_the_same_and_are_not_written_to(model):
    q, v, a = random_states(model, 5, 6)
    expected = dl.inverse_dynamics(model, q, v, a)
    kept = q.copy()
    for x in (q, v, a):
        x.setflags(write=False)
    assert np.array_equal(dl.inverse_dynamics(model, q, v, a), expected)
    assert np.array_equal(dl.inverse_dynamics(model, np.asfortranarray(q), v, a), expected)
    assert np.array_equal(dl.inverse_dynamics(model, q.tolist(), v, a), expected)
    wide = np.repeat(q, 2, axis=1)[:, ::2]
    assert np.array_equal(dl.inverse_dynamics(model, wide, v, a), expected)
    assert relative(dl.inverse_dynamics(model, q[0], v[0], a[0]), expected[0]) < 1e-13
    assert relative(dl.inverse_dynamics(model, list(q[0]), v[0], a[0]), expected[0]) < 1e-13
    assert np.array_equal(q, kept)
    still = dl.inverse_dynamics(model, np.broadcast_to(q[0], q.shape), v, a)
    assert np.array_equal(still, dl.inverse_dynamics(model, np.repeat(q[:1], 6, 0), v, a))


def test_whole_numbers_are_numbers():
    model = chain(2)
    assert np.array_equal(
        dl.inverse_dynamics(model, [1, 2], [0, 1], [3, 4]),
        dl.inverse_dynamics(model, [1.0, 2.0], [0.0, 1.0], [3.0, 4.0]),
    )


def test_out_receives_the_result_in_any_layout(model):
    q, v, a = random_states(model, 6, 5)
    expected = dl.mass_matrix(model, q)
    for out in (
        np.empty(expected.shape),
        np.empty(expected.shape, order="F"),
        np.empty((5, model.nv, 2 * model.nv))[:, :, ::2],
    ):
        assert dl.mass_matrix(model, q, out=out) is out
        assert np.array_equal(out, expected)
    rough = np.empty(expected.shape, np.float32)
    dl.mass_matrix(model, q, out=rough)
    assert relative(rough, expected) < 1e-6
    one = np.empty(model.nv)
    assert dl.inverse_dynamics(model, q[0], v[0], a[0], out=one) is one


def test_forward_kinematics_fills_a_pair(model):
    q = random_states(model, 7, 3)[0]
    expected = dl.forward_kinematics(model, q)
    pair = dl.Placements(*(np.empty_like(x) for x in expected))
    filled = dl.forward_kinematics(model, q, out=pair)
    assert filled.rotation is pair.rotation
    assert np.array_equal(pair.translation, expected.translation)


def test_a_large_batch_allocates_its_outputs_and_little_else():
    model = chain(3)
    q = np.zeros((1_000_000, 3))
    dl.inverse_dynamics(model, q[:10], q[:10], q[:10])
    dl.gravity_forces(model, q[:10])
    out = np.empty_like(q)
    for evaluate in (
        lambda: dl.inverse_dynamics(model, q, q, q, out=out),
        lambda: dl.gravity_forces(model, q, out=out),
    ):
        tracemalloc.start()
        evaluate()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4e6


def test_a_forked_child_can_use_threads():
    source = """
import os, numpy as np, delassus as dl
b = dl.ModelBuilder(); b.add_body("a", mass=1.0, com=[1, 0, 0]); m = b.build()
x = np.zeros((1000, 1))
dl.inverse_dynamics(m, x, x, x, threads=2)
child = os.fork()
if child == 0:
    dl.inverse_dynamics(m, x, x, x, threads=2)
    os._exit(0)
raise SystemExit(os.waitpid(child, 0)[1])
"""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    assert subprocess.run([sys.executable, "-c", source], timeout=120).returncode == 0


def test_every_kernel_declares_enough_work_memory_for_an_empty_model():
    model = dl.ModelBuilder("nothing").build()
    assert model.nv == 0
    on_models = [k for k in kernels().values() if k.signature.model is ModelArrays]
    assert len(on_models) > 10
    assert all(k.work.size(model.dimensions) >= 0 for k in on_models)
    assert dl.bias_forces(model, np.zeros((3, 0)), np.zeros((3, 0))).shape == (3, 0)


def test_arrays_whose_byte_order_is_marked_by_hand_are_read():
    model = chain(3)
    q, v, a = random_states(model, 0)
    h5py = pytest.importorskip("h5py", reason="its arrays are marked so")
    kind = h5py.h5t.IEEE_F64LE.dtype
    assert kind.byteorder == "<"
    marked = [np.empty(x.shape, kind) for x in (q, v, a)]
    for x, y in zip(marked, (q, v, a), strict=True):
        x[...] = y
    assert np.array_equal(dl.inverse_dynamics(model, *marked), dl.inverse_dynamics(model, q, v, a))
    many = [np.stack([x, x]) for x in marked]
    expected = dl.inverse_dynamics(model, *(np.stack([x, x]) for x in (q, v, a)))
    assert np.array_equal(dl.inverse_dynamics(model, *many), expected)
