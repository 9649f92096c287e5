# SPDX-License-Identifier: Apache-2.0
"""Fusions that round less often than their parts: results are as near to float64 as those of the parts, and the same
bits in 1, 2 and 4 threads and twice."""

import pathlib

import models
import npu_device as npu
import numpy as np
import pytest
import rounding
import tensorflow as tf
from both import on_cpu
from npu_device.adapter import library
from test_fusion import effective, in_process
from test_training import copy_weights, distance, gradients


@pytest.fixture(autouse=True)
def switched_on_again():
    yield
    library.switch_fusion(npu.open()._info, b"")


def found(model, switches, x, y):
    """Gradients of a function that is compiled with these switches."""
    library.switch_fusion(npu.open()._info, switches.encode())
    return tf.function(lambda x, y: gradients(model, x, y))(x, y)[1]


CASES = [(fusion, name) for fusion, names in rounding.PASSES.items() for name in names]


@pytest.mark.promise("layer norm, attention and losses as one node are as near to float64 as their parts")
@pytest.mark.parametrize("fusion, name", CASES)
def test_gradients_are_as_near_to_float64_as_those_of_the_parts(fusion, name):
    model = models.make(name)
    exact = on_cpu(models.make, name, "float64")
    copy_weights(model, exact)
    x, y = models.batches(name, 1)[0]
    reference = on_cpu(gradients, exact, x, y)[1]
    before = effective()[fusion]
    fused = found(model, "", x, y)
    assert effective()[fusion] > before
    before = effective()[fusion]
    parts = found(model, f"{fusion}:off", x, y)
    assert effective()[fusion] == before
    assert distance(fused, reference) <= 1.2 * distance(parts, reference) + 1e-7


SMOOTH = [(fusion, name) for fusion, name in CASES if name != "transformer"]  # a relu that flips is a jump


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16"])
@pytest.mark.parametrize("fusion, name", SMOOTH)
def test_halves_are_as_near(fusion, name, policy):
    model = models.make(name, policy)
    exact = on_cpu(models.make, name, "float64")
    copy_weights(model, exact)
    x, y = models.batches(name, 1)[0]
    reference = on_cpu(gradients, exact, x, y)[1]
    fused, parts = (distance(found(model, switches, x, y), reference) for switches in ("", f"{fusion}:off"))
    assert np.isfinite(fused)
    assert fused <= 2 * parts  # one rounding more or less of a few hundred moves either by half


@pytest.mark.parametrize("name", sorted({name for _, name in CASES}))
def test_a_batch_of_unknown_size_is_fused_too(name):
    """As Keras's fit traces its step."""
    model = models.make(name)
    x, y = models.batches(name, 1)[0]
    library.switch_fusion(npu.open()._info, b"")

    def spec(array):
        return tf.TensorSpec([None, *array.shape[1:]], array.dtype)

    before = {function["name"] for function in npu.open().report()}
    step = tf.function(lambda x, y: gradients(model, x, y), input_signature=[spec(x), spec(y)])
    for size in (4, 3):
        loss, some = step(x[:size], y[:size])
        wanted_loss, wanted = found_with_loss(model, x[:size], y[:size])
        assert loss.numpy() == wanted_loss.numpy()
        assert distance(some, wanted) < 1e-6
    took = dict.fromkeys(rounding.PASSES, 0)
    for function in npu.open().report():
        for fusion in function["fusions"]:
            if fusion["pass"] in took and function["name"] not in before:
                took[fusion["pass"]] += fusion["effective"]
    for fusion, names in rounding.PASSES.items():
        if name in names:
            assert took[fusion] >= 3  # once for both sizes, and for each known one


def found_with_loss(model, x, y):
    return tf.function(lambda x, y: gradients(model, x, y))(x, y)


IN_THREADS = """
import hashlib, sys
sys.path[:0] = [sys.argv[1]]
import conftest, rounding, test_fusion
for dtype in sys.argv[2:]:
    for name in sorted({name for names in rounding.PASSES.values() for name in names}):
        _, weights = test_fusion.trained(name, "adam", "", dtype)
        print(hashlib.sha256(b"".join(weights)).hexdigest(), end=" ")
"""


def test_threads_and_runs_change_nothing():
    here = str(pathlib.Path(__file__).parent)
    one, four = (in_process(IN_THREADS, here, "mixed_float16", "float32", ANYNPU_THREADS=threads) for threads in "14")
    assert one == four
    for _ in range(2):
        assert one.startswith(in_process(IN_THREADS, here, "mixed_float16", ANYNPU_THREADS="2"))
