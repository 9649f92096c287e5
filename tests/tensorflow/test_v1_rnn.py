# SPDX-License-Identifier: Apache-2.0
"""The recurrent layers of TensorFlow 1, against a model in NumPy: results, gradients, what is refused."""

import numpy as np
import pytest
import tensorflow as tf
import v1_process
from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicAUGRU, DynamicGRUV2, DynamicRNN

MODEL = '''
import numpy as np

T, B, I, H = 5, 3, 4, 6
LENGTHS = np.array([5, 2, 3])

def sigmoid(x):
    return 1 / (1 + np.exp(-x))

def loop(step, states, lengths):
    """What all steps gave, stacked; `step` gives the next states and the gates."""
    told = []
    for t in range(T):
        after, gates = step(t, states)
        live = (t < lengths)[:, None]
        states = [np.where(live, new, old) for new, old in zip(after, states)]
        told.append([np.where(live, states[0], 0), *states, *gates])
    return [np.stack(column) for column in zip(*told)]

def lstm(x, w, b, forget_bias=0.0, lengths=np.full(B, T), h=np.zeros((B, H)), c=np.zeros((B, H))):
    def step(t, states):
        i, j, f, o = np.split(np.concatenate([x[t], states[0]], 1) @ w + b, 4, 1)
        i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + forget_bias), sigmoid(o)
        c = f * states[1] + i * j
        live = (t < lengths)[:, None]
        return [o * np.tanh(c), c], [i, j, f, o, np.tanh(np.where(live, c, states[1]))]
    return loop(step, [h, c], lengths)

def gru(x, wi, wh, bi, bh, lengths=np.full(B, T), h=np.zeros((B, H)), order="zrh", reset_after=True, att=None):
    def parts(gates):
        first, second, last = np.split(gates, 3, -1)
        return (first, second, last) if order == "zrh" else (second, first, last)
    def step(t, states):
        [h] = states
        xz, xr, xn = parts(x[t] @ wi + bi)
        (wz, wr, wn), (bz, br, bn) = parts(wh), parts(bh)
        z, r = sigmoid(xz + h @ wz + bz), sigmoid(xr + h @ wr + br)
        hn = h @ wn + bn if reset_after else (r * h) @ wn + bn
        new = np.tanh(xn + r * hn if reset_after else xn + hn)
        u = z if att is None else (1 - att[t][:, None]) * z
        return [(1 - u) * new + u * h], [z, *([] if att is None else [u]), r, new, hn]
    return loop(step, [h], lengths)
'''
SESSIONS = (
    MODEL
    + '''
from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicAUGRU, DynamicGRUV2, DynamicRNN
from npu_bridge.estimator.npu.npu_rnn import npu_dynamic_rnn

rng = np.random.default_rng(2)
x, att = rng.normal(size=(T, B, I)), rng.random((T, B))
h, c = rng.normal(size=(2, B, H))

def check(make, model, extra=(), **named):
    """All outputs, and the gradients of a sum of them by central differences."""
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float64, [None, None, I])
        layer = make()
        outputs = layer(fed, *extra, **{name: tf.constant(value) for name, value in named.items()})
        weighed = [rng.normal(size=(T, B, H)) for _ in outputs]
        loss = tf.add_n([tf.reduce_sum(a * b) for a, b in zip(outputs, weighed)])
        gradients = tf.gradients(loss, [*layer.trainable_variables, fed])
        session.run(tf.global_variables_initializer())
        for variable in layer.trainable_variables:
            variable.load(rng.normal(size=variable.shape.as_list()), session)
        weights = session.run(layer.trainable_variables)
        assert layer.weights == layer.trainable_variables
        assert [v.op.name.split("/", 1)[1] for v in layer.weights] == NAMES[type(layer)], layer.weights
        ours, slopes = session.run([outputs, gradients], {fed: x})
    wanted = model(x, *weights)
    assert len(ours) == len(wanted)
    for a, b in zip(ours, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    def at(values):
        return sum((a * b).sum() for a, b in zip(model(values[-1], *values[:-1]), weighed))
    values = [*weights, x]
    for k, slope in enumerate(slopes):
        for _ in range(4):
            where = tuple(rng.integers(size) for size in slope.shape)
            moved = []
            for by in (1e-6, -1e-6):
                other = [v.copy() for v in values]
                other[k][where] += by
                moved.append(at(other))
            np.testing.assert_allclose(slope[where], (moved[0] - moved[1]) / 2e-6, rtol=1e-6, atol=1e-7)

GRU = ["weight_input", "weight_hidden", "bias_input", "bias_hidden"]
NAMES = {DynamicRNN: ["dynamicrnn/w", "dynamicrnn/b"], DynamicGRUV2: ["dynamicgruv2/" + name for name in GRU],
         DynamicAUGRU: ["dynamicaugru/" + name for name in GRU]}
for bias in (0.0, 1.5):
    check(lambda: DynamicRNN(H, tf.float64, forget_bias=bias), lambda *v: lstm(*v, forget_bias=bias))
check(lambda: DynamicRNN(H, tf.float64), lambda *v: lstm(*v, lengths=LENGTHS, h=h, c=c), seq_length=LENGTHS, init_h=h,
      init_c=c[None])
for order, after in (("zrh", True), ("rzh", True), ("zrh", False), ("rzh", False)):
    check(lambda: DynamicGRUV2(H, tf.float64, gate_order=order, reset_after=after, is_training=False),
          lambda *v: gru(*v, order=order, reset_after=after))
check(lambda: DynamicGRUV2(H, tf.float64), lambda *v: gru(*v, lengths=LENGTHS, h=h), seq_length=LENGTHS, init_h=h)
check(lambda: DynamicAUGRU(H, tf.float64), lambda *v: gru(*v, att=att), [att])
check(lambda: DynamicAUGRU(H, tf.float64), lambda *v: gru(*v, lengths=LENGTHS, att=att), [att[:, :, None]],
      seq_length=LENGTHS)

# Weights that are given stand for the layer's own, whose start is that of the vendor's layer.
with tf.Graph().as_default(), tf.Session() as session:
    layer, w, b = DynamicRNN(H, tf.float32), rng.normal(size=(I + H, 4 * H)), rng.normal(size=4 * H)
    given, own = layer(x, tf.constant(w, tf.float32), tf.constant(b, tf.float32))[0], layer(tf.constant(x))[0]
    assert given.dtype == tf.float32
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(given), lstm(x, w, b)[0], rtol=1e-4, atol=1e-5)
    start = session.run(tf.glorot_uniform_initializer(seed=10)([I + H, 4 * H]))
    np.testing.assert_array_equal(session.run(layer.weights[0]), start)
    np.testing.assert_allclose(session.run(own), lstm(x, start, np.zeros(4 * H))[0], rtol=1e-4, atol=1e-5)

# The vendor's example: float32 comes in, and all is computed in the type of the layer.
with tf.Graph().as_default(), tf.Session() as session:
    layer = DynamicRNN(hidden_size=H, dtype=tf.float16, is_training=False)
    outputs = layer(tf.constant(x, tf.float32), seq_length=None, init_h=None, init_c=None)
    session.run(tf.global_variables_initializer())
    w, b = session.run(layer.weights)
    assert w.dtype == b.dtype == np.float16
    for ours, theirs in zip(session.run(outputs), lstm(x, w.astype("float64"), b)):
        assert ours.dtype == np.float16
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=2e-3)

# Any cell: what tf.nn.static_rnn gives, with its variables.
with tf.Graph().as_default(), tf.Session() as session:
    both = []
    for unroll in (False, True):
        with tf.variable_scope("net", reuse=unroll):
            cell = tf.nn.rnn_cell.BasicLSTMCell(H)
            if unroll:
                y, last = tf.nn.static_rnn(cell, tf.unstack(tf.constant(x)), dtype=tf.float64, sequence_length=LENGTHS)
                both.append([tf.stack(y), *last])
            else:
                y, last = npu_dynamic_rnn(cell, tf.constant(x), dtype=tf.float64, sequence_length=LENGTHS)
                listed, _ = npu_dynamic_rnn(cell, tf.unstack(tf.constant(x)), dtype=tf.float64, sequence_length=LENGTHS)
                both.append([y, *last])
    names = [v.op.name for v in tf.trainable_variables()]
    assert names == ["net/rnn/basic_lstm_cell/kernel", "net/rnn/basic_lstm_cell/bias"], names
    session.run(tf.global_variables_initializer())
    for a, b in zip(*session.run(both), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_array_equal(*session.run([listed, y]))
'''
)


@pytest.mark.parametrize("control_flow", ["v1", "v2"])
def test_sessions_give_what_numpy_gives(tmp_path, control_flow):
    v1_process.run(tmp_path, SESSIONS, CONTROL_FLOW=control_flow)


@pytest.fixture(scope="module")
def model():
    names = {}
    exec(MODEL, names)  # noqa: S102 - the same text as in the processes
    return names


@pytest.mark.parametrize("kind", ["lstm", "gru", "augru"])
def test_functions_on_the_npu_give_what_numpy_gives(model, kind):
    steps, batch, size, hidden = (model[name] for name in "TBIH")
    rng = np.random.default_rng(3)
    x, att = rng.normal(size=(steps, batch, size)), rng.random((steps, batch))
    make = {"lstm": DynamicRNN, "gru": DynamicGRUV2, "augru": DynamicAUGRU}[kind]
    layer = make(hidden, tf.float32)
    layer.build(x.shape)
    weights = [rng.normal(size=v.shape) for v in layer.weights]
    extra = [tf.constant(att, tf.float32)] if kind == "augru" else []
    wanted = model["lstm"](x, *weights) if kind == "lstm" else model["gru"](x, *weights, att=att if extra else None)

    @tf.function
    def run(x, *weights):
        given = dict(zip(["w", "b"] if kind == "lstm" else GIVEN, weights, strict=True))
        outputs = layer.call(x, *extra, **given)
        return outputs, tf.compat.v1.gradients(outputs[0], x)[0]

    outputs, gradient = run(*(tf.constant(v, tf.float32) for v in (x, *weights)))
    for ours, theirs in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)
    assert gradient.shape == x.shape and np.abs(gradient.numpy()).max() > 0


GIVEN = ["weight_input", "weight_hidden", "bias_input", "bias_hidden"]
REFUSED = [
    (DynamicRNN, {"use_peephole": True}, "use_peephole=True .use tf.nn.rnn_cell.LSTMCell"),
    (DynamicRNN, {"cell_type": "GRU"}, "cell_type='GRU' .for a GRU use DynamicGRUV2"),
    (DynamicRNN, {"num_proj": 3, "keep_prob": 0.5}, "keep_prob=0.5 .call npu_ops.dropout.*num_proj=3"),
    (DynamicRNN, {"direction": "BIDIRECTIONAL"}, "direction='BIDIRECTIONAL' .build two layers"),
    (DynamicGRUV2, {"cell_depth": 2}, "cell_depth=2 .build a layer for each"),
    (DynamicGRUV2, {"time_major": False}, "time_major=False .transpose x"),
    (DynamicAUGRU, {"cell_clip": 1.0, "activation": "relu"}, "DynamicAUGRU does not support cell_clip=1.0.*'relu'"),
]


@pytest.mark.parametrize("kind, named, words", REFUSED)
def test_what_is_not_supported_is_refused_by_name(kind, named, words):
    with pytest.raises(NotImplementedError, match=words):
        kind(4, tf.float32, **named)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="direction is 'up'; it must be 'UNIDIRECTIONAL'"):
        DynamicRNN(4, tf.float32, direction="up")
    with pytest.raises(ValueError, match="gate_order is 'hzr'; it must be one of zrh, rzh"):
        DynamicGRUV2(4, tf.float32, gate_order="hzr")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="last size of the input .* must be known"):
        DynamicRNN(4, tf.float32)(tf.compat.v1.placeholder(tf.float32, [2, 2, None]))
