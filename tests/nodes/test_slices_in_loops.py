# SPDX-License-Identifier: Apache-2.0
"""Parts of tensors at places that a loop's variable tells: their shapes are known, so one plan serves all turns."""

import numpy as np
import pytest
import tensorflow as tf
from case import floats
from engine import EngineError
from traced import Traced, check

X = floats(5, 4, 3)

PARTS = {
    "a row": lambda x, i: x[i],
    "a column": lambda x, i: x[:, i],
    "the last axis": lambda x, i: x[..., i],
    "two axes": lambda x, i: x[i, :, i],
    "a new axis": lambda x, i: x[:, tf.newaxis, i],
    "one number": lambda x, i: x[i, i, i],
    "from the end": lambda x, i: x[i - 3],
    "a turned tensor": lambda x, i: tf.transpose(x, [2, 0, 1])[i],
    "a slice": lambda x, i: tf.slice(x, [i, 0, i], [2, 4, 1]),
    "an open slice": lambda x, i: tf.slice(x, [i, 0, i], [2, -1, 1]),
    "a range": lambda x, i: x[i : i + 2],
    "nothing": lambda x, i: x[:, :0][i],
}


@pytest.mark.parametrize("name", PARTS)
def test_part(name):
    part = PARTS[name]

    def f(x):
        total = tf.zeros_like(part(x, 0))
        for i in tf.range(3):
            total = total * 0.5 + part(x, i)
        return total

    check(f, X)


@pytest.mark.parametrize("name", [n for n in PARTS if n != "nothing"])
def test_gradient(name):
    part = PARTS[name]

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.zeros_like(part(x, 0))
            for i in tf.range(3):
                total = total * 0.5 + part(x, i) * part(x, i)
        return tape.gradient(total, x)

    check(f, X)


@pytest.mark.parametrize("name", ["a row", "a slice"])
def test_out_of_bounds(name):
    t = Traced(lambda x, i: PARTS[name](x, i), X, np.int32(0))
    t.check()
    with pytest.raises(EngineError, match="out of bounds"):
        t.run(X, np.int32(5))
