# SPDX-License-Identifier: Apache-2.0
"""Graphs that run once in TensorFlow's own session on the CPU, the oracle, and once on the NPU."""

import functools
import pathlib

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def session(on_npu=True, config=None, **named):
    config = config or tf1.ConfigProto()
    optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
    optimizer.name = "NpuOptimizer"
    optimizer.parameter_map["use_off_line"].b = on_npu
    return tf1.Session(config=config, **named)


def on_both(test=None, *, rtol=1e-5):
    """Makes a test of a function that builds a graph and gives a function of a session; what that returns must be the
    same in both, floats within `rtol` of the largest magnitude. Graph and NumPy begin with one seed."""
    if test is None:
        return functools.partial(on_both, rtol=rtol)

    @functools.wraps(test)
    def run(**fixtures):
        theirs, ours = (seeded(test, fixtures, on_npu) for on_npu in (False, True))
        same(ours, theirs, rtol)

    return run


def seeded(test, fixtures, on_npu):
    name = "npu" if on_npu else "cpu"
    own = {key: value / name if isinstance(value, pathlib.Path) else value for key, value in fixtures.items()}
    np.random.seed(7)
    with tf.Graph().as_default():
        tf1.set_random_seed(7)
        drive = test(**own)
        with session(on_npu) as made:
            result = drive(made)
    assert result is not None, "a test on both returns what is compared"
    return result


def same(ours, theirs, rtol):
    tf.nest.assert_same_structure(ours, theirs)
    for i, (a, b) in enumerate(zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape), f"result {i}"
        if a.dtype.kind in "fc" and a.size:
            np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(1e-30, np.abs(b).max()), err_msg=f"result {i}")
        else:
            np.testing.assert_array_equal(a, b, err_msg=f"result {i}")


def trained(session, steps, fetches, feeds):
    """Initializes the variables and runs `steps` times; gives what was fetched each time."""
    session.run(tf1.global_variables_initializer())
    return [session.run(fetches, feeds) for _ in range(steps)]
