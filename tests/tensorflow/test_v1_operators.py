# SPDX-License-Identifier: Apache-2.0
"""Operators that scripts of TensorFlow 1 name: on the NPU, in functions, and in sessions where a host does them."""

import numpy as np
import pytest
import tensorflow as tf
import v1_process
from npu_bridge.estimator import npu_ops, npu_unary_ops

RNG = np.random.default_rng(7)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@tf.function
def value_and_gradient(function, x):
    """Of a function of one tensor, by the gradient of TensorFlow 1."""
    y = function(x)
    return y, tf.compat.v1.gradients(y, x)[0]


def test_gelu_and_its_gradient():
    x = RNG.normal(size=(5, 33)).astype("float32") * 3
    y, gradient = value_and_gradient(npu_unary_ops.gelu, tf.constant(x))
    s = sigmoid(1.702 * x.astype("float64"))
    np.testing.assert_allclose(y, x * s, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, s + x * 1.702 * s * (1 - s), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "bfloat16"])
def test_dropout_and_its_gradient(dtype):
    x = tf.cast(tf.constant(RNG.uniform(1, 2, size=(64, 100))), dtype)
    y, gradient = value_and_gradient(lambda x: npu_ops.dropout(x, 0.8), x)
    assert y.dtype == gradient.dtype == x.dtype
    x, y, gradient = (tf.cast(t, "float64").numpy() for t in (x, y, gradient))
    kept = y != 0
    assert 0.75 < kept.mean() < 0.85
    np.testing.assert_allclose(y, np.where(kept, x / 0.8, 0), rtol=1e-2 if dtype in ("float16", "bfloat16") else 1e-6)
    np.testing.assert_allclose(gradient, np.where(kept, 1 / 0.8, 0), rtol=5e-3)


def test_dropout_takes_masks_of_a_shape_seeds_and_tensors():
    x = tf.ones([6, 50])

    @tf.function
    def masked(keep):
        rows = npu_ops.dropout(x, keep, noise_shape=[None, 1], seed=3)
        fed = npu_ops.dropout(x, keep, noise_shape=tf.constant([1, 50]), seed=3)
        mixed = npu_ops.dropout(x, keep, noise_shape=[tf.shape(x)[0], tf.compat.v1.Dimension(1)], seed=4)
        return rows, fed, mixed, npu_ops.dropout(x, keep, seed=5), npu_ops.dropout(x, 1.0)

    rows, columns, mixed, plain, whole = (t.numpy() for t in masked(tf.constant(0.5)))
    assert (rows == rows[:, :1]).all() and (columns == columns[:1]).all() and len(set(rows[:, 0])) == 2
    assert (mixed == mixed[:, :1]).all()
    for mask in (rows, columns, mixed, plain):
        assert set(np.unique(mask)) == {0, 2}
    assert (whole == 1).all()


def test_dropout_of_one_seed_draws_one_sequence_of_masks():
    def drawn():
        return tf.function(lambda: npu_ops.dropout(tf.ones([4, 64]), 0.5, seed=5))

    first, second = drawn(), drawn()
    masks = [first().numpy() for _ in range(3)]
    for mask in masks:
        np.testing.assert_array_equal(second(), mask)
    assert (masks[0] != masks[1]).any() and (masks[1] != masks[2]).any()


@pytest.mark.parametrize("arguments, words", [
    ((tf.constant([1]), 0.5), "x is of int32; dropout takes floating-point"),
    ((tf.ones([2]), 0), "keep_prob is 0; it must be above 0 and at most 1"),
    ((tf.ones([2]), 1.5), "keep_prob is 1.5"),
    ((tf.ones([2]), 0.5, [1, 2]), "noise_shape is .1, 2., and x has 1 sizes"),
])  # fmt: skip
def test_dropout_refuses(arguments, words):
    with pytest.raises(ValueError, match=words):
        npu_ops.dropout(*arguments)


@pytest.mark.parametrize("clip", [False, True])
def test_lars_scales_the_gradient_to_the_weights(clip):
    w, g = RNG.normal(size=(2, 7, 9)) * [[[3]], [[0.2]]]

    @tf.function
    def scaled(w, g, rate):
        return npu_ops.LARSV2(w, g, 0.05, rate, hyperpara=0.01, epsilon=1e-3, use_clip=clip)

    size, slope = np.sqrt((w * w).sum()), np.sqrt((g * g).sum())
    factor = 0.01 * size / (slope + 0.05 * size + 1e-3)
    for rate in (0.5, 1e-3):  # the factor is below one and above the other
        used = min(factor / rate, 1) if clip else factor
        ours = scaled(tf.constant(w, tf.float32), tf.constant(g, tf.float32), tf.constant(rate))
        np.testing.assert_allclose(ours, used * (g + 0.05 * w), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter_elements_and_its_gradients(axis):
    data, updates = RNG.normal(size=(4, 5, 6)).astype("float32"), RNG.normal(size=(3, 2, 4)).astype("float32")
    size = data.shape[axis]
    indices = np.argsort(RNG.random((3, 2, 4)), axis) - (np.arange(4) % 2) * size  # each once, some from the end
    wanted, left = data.copy(), np.ones_like(data)
    for at in np.ndindex(*indices.shape):
        to = list(at)
        to[axis] = indices[at]
        wanted[tuple(to)], left[tuple(to)] = updates[at], 0

    @tf.function
    def scatter(data, updates, indices):
        y = npu_ops.scatter_elements(data, indices, updates, axis)
        return y, *tf.compat.v1.gradients(y * y, [data, updates])

    for dtype in ("int32", "int64"):
        y, of_data, of_updates = scatter(tf.constant(data), tf.constant(updates), tf.constant(indices, dtype))
        np.testing.assert_array_equal(y, wanted)
        np.testing.assert_allclose(of_data, 2 * data * left)
        np.testing.assert_allclose(of_updates, 2 * updates)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ValueError, match=r"shapes \(2,\), \(1, 1\) and \(1,\); they must be of one rank"):
        npu_ops.scatter_elements([1.0, 2.0], [[0]], [1.0])
    with pytest.raises(ValueError, match="axis is 1; data has 1 axes"):
        npu_ops.scatter_elements([1.0, 2.0], [0], [1.0], 1)
    with pytest.raises(NotImplementedError, match="m.onnx cannot be a node.*atc --framework=5"):
        npu_ops.npu_onnx_graph_op([tf.ones([1])], [tf.float32], "m.onnx")
    with pytest.raises(RuntimeError, match="NPUInit is an operation of a graph, for sess.run"):
        npu_ops.initialize_system()


SESSIONS = """
import threading
import npu_device
from npu_bridge.estimator import npu_ops

a = tf.placeholder(tf.float32, [2])
put = npu_ops.outfeed_enqueue_op("c", [a, tf.constant("text")])
single = npu_ops.outfeed_enqueue_op("c", a)
got = npu_ops.outfeed_dequeue_op("c", [tf.float32, tf.string], [[2], []])
stop = npu_ops.stop_outfeed_dequeue_op("c")
for op in (put, single, got[0].op, stop):
    assert op.get_attr("_without_npu_compile")
assert got[0].shape.as_list() == [2] and got[1].shape.as_list() == []
writer, reader = tf.Session(), tf.Session()
read = []

def follow():
    try:
        while True:
            read.append(reader.run(got))
    except tf.errors.OutOfRangeError:
        read.append("end")

thread = threading.Thread(target=follow, daemon=True)
thread.start()
for i in range(3):
    writer.run(put, {a: [i, 2 * i]})
writer.run(stop)
thread.join(60)
assert [v[0].tolist() for v in read[:3]] == [[0, 0], [1, 2], [2, 4]], read
assert read[2][1] == b"text" and read[3:] == ["end"], read
raised(tf.errors.OutOfRangeError, "outfeed channel", lambda: reader.run(got))  # still ended
writer.run(put, {a: [5, 5]})
writer.run(stop)
assert reader.run(got)[0].tolist() == [5, 5]  # what is left is read first
writer.run(single, {a: [5, 5]})
words = "outfeed channel 'c' has ['float32 [2]'] | is asked for"
raised(tf.errors.InvalidArgumentError, words, lambda: reader.run(got))
words = "2 output_types and 1 output_shapes"
raised(ValueError, words, lambda: npu_ops.outfeed_dequeue_op("c", [tf.float32] * 2, [[]]))

start, end = npu_ops.initialize_system(), npu_ops.shutdown_system(name="end")
assert start.name == "NPUInit" and end.name == "end" and not npu_device.device.is_open()
with tf.Session() as session:
    session.run(start)
    assert npu_device.device.is_open()
    session.run(start)
    session.run(end)

# Channels are bounded, and one that ended does not hold its writer.
from npu_bridge.estimator import outfeed
channel = outfeed.Channel()
for i in range(outfeed.LONGEST):
    channel.put([i])
late = threading.Thread(target=channel.put, args=(["late"],), daemon=True)
late.start()
late.join(0.2)
assert late.is_alive()
assert channel.get() == [0]
late.join(60)
assert not late.is_alive()
late = threading.Thread(target=channel.put, args=(["last"],), daemon=True)
late.start()
channel.end()
late.join(60)
assert not late.is_alive()

# One that is written to after its end begins anew: its reader waits.
channel = outfeed.Channel()
channel.end()
raised(StopIteration, "was stopped", channel.get)
channel.put(["again"])
assert channel.get() == ["again"]
late = threading.Thread(target=lambda: read.append(channel.get()), daemon=True)
late.start()
late.join(0.2)
assert late.is_alive()
channel.put(["at last"])
late.join(60)
assert read[-1] == ["at last"]
"""


def test_channels_and_the_system_in_sessions(tmp_path):
    v1_process.run(tmp_path, SESSIONS)


DROPOUT = """
def ops(build):
    with tf.Graph().as_default() as graph:
        x = build(tf.ones([4, 8]))
        return [op.type for op in graph.get_operations()], x, graph

def masks(build):
    return ops(build)[0].count("DropOutDoMask")

BUILDS = [
    lambda x: tf.nn.dropout(x, 0.5),
    lambda x: tf.nn.dropout(x, rate=0.5),
    lambda x: tf.layers.dropout(x, 0.5, training=True),
    lambda x: tf.keras.layers.Dropout(0.5)(x, training=True),
    lambda x: tf.layers.dropout(x, 0.5, training=tf.placeholder(tf.bool, [])),
]
LEFT = [
    lambda x: tf.nn.dropout(x, 0.5, noise_shape=[4, 1]),
    lambda x: tf.layers.dropout(x, 0.5, noise_shape=[4, 1], training=True),
    lambda x: tf.layers.dropout(x, 0.5, training=False),
    lambda x: tf.layers.dropout(x, 0.0, training=True),
    lambda x: tf.keras.layers.SpatialDropout1D(0.5)(x[None], training=True),
]
assert [masks(build) for build in BUILDS + LEFT] == [0] * 10
import tensorflow as tf2
from npu_bridge.estimator.npu import npu_convert_dropout
assert [masks(build) for build in BUILDS + LEFT] == [1] * 5 + [0] * 5
assert masks(lambda x: tf2.nn.dropout(x, 0.25)) == 1
_, x, graph = ops(lambda x: tf2.nn.dropout(x, 0.25, name="mine"))
keep = [op for op in graph.get_operations() if op.type == "DropOutDoMask"][0].inputs[2]
assert tf.get_static_value(keep) == 0.75 and x.name.startswith("mine/")
raised(ValueError, "", lambda: tf.nn.dropout(tf.ones([2])))
npu_convert_dropout.npu_convert_dropout()
assert masks(BUILDS[0]) == 1
with tf.Graph().as_default(), tf.Session() as session:
    x = tf.layers.dropout(tf.ones([4]), 0.5, training=tf.constant(False))
    assert session.run(x).tolist() == [1, 1, 1, 1]
"""


def test_dropout_of_graphs_becomes_the_npus(tmp_path):
    v1_process.run(tmp_path, DROPOUT)
