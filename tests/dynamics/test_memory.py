"""Work memory: kernels on trees write each number of it before they read it."""

import numpy as np
import pytest

from delassus.compile import FLOAT64, kernels
from delassus.model.packed import ModelArrays
from trees import random_tree

pytestmark = pytest.mark.uncompiled

TREE_KERNELS = [k for k in kernels().values() if k.signature.model is ModelArrays]


def shared_arrays(kernel, model):
    """All frames; the last frame in the world's reference, its origin as a point; parameters."""
    known = {
        "frames": np.arange(len(model.frames)),
        "choice": np.array([len(model.frames) - 1, 1, 1]),
        "parameters": np.arange(10 * model.n_bodies),
    }
    return [known[name] for name in kernel.signature.shared_names]


@pytest.mark.parametrize("kernel", TREE_KERNELS, ids=lambda kernel: kernel.label)
def test_work_memory_is_written_before_it_is_read(kernel):
    model, rng = random_tree(5, bodies=9), np.random.default_rng(0)
    shared = shared_arrays(kernel, model)
    input_shapes, output_shapes = kernel.shapes(model, shared)
    inputs = [
        model.random_configuration(rng) if a.name[0] == "q" else rng.standard_normal(shape).ravel()
        for a, shape in zip(kernel.signature.inputs, input_shapes, strict=True)
    ]

    def run(fill):
        outputs = [np.zeros(int(np.prod(shape))) for shape in output_shapes]
        work = kernel.work_memory(model, FLOAT64, fill)
        arrays = model.arrays(ModelArrays, FLOAT64)
        kernel.function(arrays, *shared, *inputs, *outputs, work)
        return outputs

    for found, expected in zip(run(np.nan), run(0.0), strict=True):
        assert np.isfinite(expected).all()
        assert np.array_equal(found, expected)
