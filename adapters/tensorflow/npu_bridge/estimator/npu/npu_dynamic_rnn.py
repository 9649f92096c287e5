# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers over inputs of [time, batch, size], with all that their steps computed: [time, batch, hidden] each.
Only states are kept step by step. The gates come from one product over all steps, which costs nothing where nobody asks
for them."""

import math

import tensorflow.compat.v1 as tf

__all__ = ["DYNAMIC_RNN_BIDIRECTION", "DYNAMIC_RNN_UNIDIRECTION", "DynamicAUGRU", "DynamicGRUV2", "DynamicRNN"]
DYNAMIC_RNN_UNIDIRECTION = "UNIDIRECTIONAL"
DYNAMIC_RNN_BIDIRECTION = "BIDIRECTIONAL"
GATE_ORDERS = ("zrh", "rzh")


def _refuse(layer, settings):
    """NotImplementedError that names each setting (value, the one supported, what to do) that is another one."""
    wrong = [f"{name}={value!r} ({cure})" for name, (value, only, cure) in settings.items() if value != only]
    if wrong:
        raise NotImplementedError(f"{layer} does not support {', '.join(wrong)}")


def _product(x, weight):
    return tf.matmul(x, weight) if x.shape.rank == 2 else tf.tensordot(x, weight, 1)


def _before(states, first):
    """The states that the steps started from."""
    return tf.concat([first[None], states[:-1]], 0)


class _Recurrent(tf.layers.Layer):
    """What the layers have in common: settings, states, the loop over time."""

    def __init__(self, hidden_size, dtype, **settings):
        super().__init__(dtype=dtype)
        self._hidden_size = hidden_size
        direction = settings.pop("direction")
        if direction not in (DYNAMIC_RNN_UNIDIRECTION, DYNAMIC_RNN_BIDIRECTION):
            raise ValueError(f"direction is {direction!r}; it must be {DYNAMIC_RNN_UNIDIRECTION!r}")
        both = "build two layers, one on tf.reverse(x, [0]), and reverse and concatenate what it gives"
        _refuse(type(self).__name__, {"direction": (direction, DYNAMIC_RNN_UNIDIRECTION, both), **settings})

    def _weight(self, name, shape, initializer):
        # The names of the vendor's layers, which checkpoints have.
        return self.add_weight(f"{type(self).__name__.lower()}/{name}", shape, self.dtype, initializer)

    def _state(self, x, given):
        """The state that the first step starts from: zeros, or what was given, with or without an axis of layers."""
        if given is None:
            return tf.zeros([tf.shape(x)[1], self._hidden_size], self.dtype)
        given = tf.cast(given, self.dtype)
        return tf.squeeze(given, [0]) if given.shape.rank == 3 else given

    def _run(self, step, inputs, states, lengths):
        """The states after each step, [time, batch, hidden] each. `step` gives the next states from a step of each
        input and the states before; past the length of its sequence a state stays."""
        time = tf.shape(inputs[0])[0]
        steps = [tf.TensorArray(x.dtype, time, element_shape=x.shape[1:]).unstack(x) for x in inputs]
        kept = [tf.TensorArray(s.dtype, time, element_shape=s.shape) for s in states]

        def body(t, states, kept):
            after = step([x.read(t) for x in steps], states)
            if lengths is not None:
                live = tf.expand_dims(t < tf.cast(lengths, t.dtype), 1)
                after = [tf.where_v2(live, new, old) for new, old in zip(after, states, strict=True)]
            return t + 1, after, [array.write(t, s) for array, s in zip(kept, after, strict=True)]

        _, _, kept = tf.while_loop(lambda t, *_: t < time, body, (0, states, kept), maximum_iterations=time)
        return [self._shaped(array.stack(), inputs[0]) for array in kept]

    def _shaped(self, states, x):
        states.set_shape([*x.shape[:2], self._hidden_size])
        return states

    def _outputs(self, states, lengths):
        """The states, 0 past the lengths of the sequences."""
        if lengths is None:
            return tf.identity(states)
        live = tf.sequence_mask(lengths, tf.shape(states)[0])
        return tf.where_v2(tf.transpose(live)[:, :, None], states, tf.zeros([], self.dtype))


class DynamicRNN(_Recurrent):
    """An LSTM. Called with x of [time, batch, size] it gives (y, output_h, output_c, i, j, f, o, tanhc): outputs,
    states, and gates after their activation. `seq_length` has the lengths of the sequences: past them y is 0, states
    stay. Gates stand in the order i, j, f, o in `w`, [size + hidden_size, 4 * hidden_size], and `b`. is_training
    changes nothing: all is given either way."""

    def __init__(
        self,
        hidden_size,
        dtype,
        cell_type="LSTM",
        direction=DYNAMIC_RNN_UNIDIRECTION,
        cell_depth=1,
        use_peephole=False,
        keep_prob=1.0,
        cell_clip=-1.0,
        num_proj=0,
        time_major=True,
        activation="tanh",
        forget_bias=0.0,
        is_training=True,
    ):
        super().__init__(
            hidden_size,
            dtype,
            direction=direction,
            cell_type=(cell_type, "LSTM", "for a GRU use DynamicGRUV2"),
            use_peephole=(use_peephole, False, "use tf.nn.rnn_cell.LSTMCell with tf.nn.dynamic_rnn"),
            **_settings(cell_depth, keep_prob, cell_clip, num_proj, time_major, activation),
        )
        self._forget_bias, self._is_training = forget_bias, is_training

    def build(self, input_shape):
        """Makes w and b for inputs of this shape, of which the last size must be known."""
        size = _known_size(input_shape)
        shape = [size + self._hidden_size, 4 * self._hidden_size]
        self._w = self._weight("w", shape, tf.glorot_uniform_initializer(seed=10))
        self._b = self._weight("b", shape[1:], tf.zeros_initializer())
        super().build(input_shape)

    def call(self, x, w=None, b=None, seq_length=None, init_h=None, init_c=None):
        """See the class; `w` and `b` stand for the layer's own."""
        w, b = self._w if w is None else w, self._b if b is None else b
        x = tf.cast(x, self.dtype)
        first = [self._state(x, init_h), self._state(x, init_c)]

        def step(inputs, states):
            i, j, f, o = self._gates(inputs[0], states[0], w, b)
            c = f * states[1] + i * j
            return [o * tf.tanh(c), c]

        h, c = self._run(step, [x], first, seq_length)
        gates = self._gates(x, _before(h, first[0]), w, b)
        return (self._outputs(h, seq_length), h, c, *gates, tf.tanh(c))

    def _gates(self, x, h, w, b):
        i, j, f, o = tf.split(_product(tf.concat([x, h], -1), w) + b, 4, -1)
        return tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + tf.cast(self._forget_bias, f.dtype)), tf.sigmoid(o)


class DynamicGRUV2(_Recurrent):
    """A GRU. Called with x of [time, batch, size] it gives (y, output_h, update, reset, new, hidden_new): outputs,
    states, the gates z and r, the candidate, and what the state contributes to it. A state becomes
    (1 - z) * new + z * state. `seq_length` has the lengths of the sequences: past them y is 0, states stay. Gates stand
    in weights of [size or hidden_size, 3 * hidden_size] in the order of `gate_order`. With reset_after the reset gate
    acts on the product of state and weights, without on the state. is_training changes nothing."""

    def __init__(
        self,
        hidden_size,
        dtype,
        direction=DYNAMIC_RNN_UNIDIRECTION,
        cell_depth=1,
        keep_prob=1.0,
        cell_clip=-1.0,
        num_proj=0,
        time_major=True,
        activation="tanh",
        gate_order="zrh",
        reset_after=True,
        is_training=True,
    ):
        settings = _settings(cell_depth, keep_prob, cell_clip, num_proj, time_major, activation)
        super().__init__(hidden_size, dtype, direction=direction, **settings)
        if gate_order not in GATE_ORDERS:
            raise ValueError(f"gate_order is {gate_order!r}; it must be one of {', '.join(GATE_ORDERS)}")
        self._gate_order, self._reset_after, self._is_training = gate_order, reset_after, is_training

    def build(self, input_shape):
        """Makes the weights for inputs of this shape, of which the last size must be known."""
        bound, wide = 1 / math.sqrt(self._hidden_size), 3 * self._hidden_size
        shapes = {
            "weight_input": [_known_size(input_shape), wide],
            "weight_hidden": [self._hidden_size, wide],
            "bias_input": [wide],
            "bias_hidden": [wide],
        }
        uniform = tf.random_uniform_initializer(-bound, bound)
        self._own = [self._weight(name, shape, uniform) for name, shape in shapes.items()]
        super().build(input_shape)

    def call(
        self,
        x,
        weight_input=None,
        weight_hidden=None,
        bias_input=None,
        bias_hidden=None,
        seq_length=None,
        init_h=None,
    ):
        """See the class; weights and biases that are given stand for the layer's own."""
        weights = self._weights(weight_input, weight_hidden, bias_input, bias_hidden)
        h, before, (z, r, new, hidden_new) = self._states(x, None, weights, seq_length, init_h)
        return self._outputs(h, seq_length), h, z, r, new, hidden_new

    def _weights(self, *given):
        return [own if one is None else one for one, own in zip(given, self._own, strict=True)]

    def _states(self, x, attention, weights, lengths, init_h):
        """The states, those before each, and the gates of all steps. The inputs' part of the gates is one product."""
        weight_input, weight_hidden, bias_input, bias_hidden = weights
        x, first = tf.cast(x, self.dtype), self._state(x, init_h)
        inputs = [_product(x, weight_input) + bias_input] + ([] if attention is None else [attention])

        def step(inputs, states):
            z, _, new, _ = self._gates(inputs[0], states[0], weight_hidden, bias_hidden)
            z = _attended(z, *inputs[1:])
            return [(1 - z) * new + z * states[0]]

        [h] = self._run(step, inputs, [first], lengths)
        before = _before(h, first)
        return h, before, self._gates(inputs[0], before, weight_hidden, bias_hidden)

    def _gates(self, x, h, weight, bias):
        """z, r, the candidate and the state's part in it."""
        (xz, xr, xn), (wz, wr, wn), (bz, br, bn) = map(self._in_order, (x, weight, bias))
        if self._reset_after:
            hz, hr, hn = self._in_order(_product(h, weight) + bias)
            r = tf.sigmoid(xr + hr)
            return tf.sigmoid(xz + hz), r, tf.tanh(xn + r * hn), hn
        r = tf.sigmoid(xr + _product(h, wr) + br)
        hn = _product(r * h, wn) + bn
        return tf.sigmoid(xz + _product(h, wz) + bz), r, tf.tanh(xn + hn), hn

    def _in_order(self, gates):
        """The parts of the update gate, the reset gate and the candidate."""
        first, second, last = tf.split(gates, 3, -1)
        return (first, second, last) if self._gate_order == "zrh" else (second, first, last)


class DynamicAUGRU(DynamicGRUV2):
    """A GRU whose update gate is attended (DIEN). Called with x of [time, batch, size] and scores of [time, batch] it
    gives (y, output_h, update, update_att, reset, new, hidden_new): the state becomes (1 - u) * new + u * state, where
    u, the attended gate, is (1 - score) * z. The rest is as for DynamicGRUV2."""

    def call(
        self,
        x,
        weight_att,
        weight_input=None,
        weight_hidden=None,
        bias_input=None,
        bias_hidden=None,
        seq_length=None,
        init_h=None,
    ):
        """See the class; `weight_att` are the scores."""
        weights = self._weights(weight_input, weight_hidden, bias_input, bias_hidden)
        score = tf.cast(weight_att, self.dtype)
        score = tf.expand_dims(score, 2) if score.shape.rank == 2 else score
        h, _, (z, r, new, hidden_new) = self._states(x, score, weights, seq_length, init_h)
        return self._outputs(h, seq_length), h, z, _attended(z, score), r, new, hidden_new


def _attended(update, score=None):
    return update if score is None else (1 - score) * update


def _settings(cell_depth, keep_prob, cell_clip, num_proj, time_major, activation):
    """Settings of which only one value is supported, which is all that the vendor's layers support."""
    return {
        "cell_depth": (cell_depth, 1, "build a layer for each"),
        "keep_prob": (keep_prob, 1.0, "call npu_ops.dropout on what the layer gives"),
        "cell_clip": (cell_clip, -1.0, "use tf.nn.rnn_cell.LSTMCell with tf.nn.dynamic_rnn"),
        "num_proj": (num_proj, 0, "multiply what the layer gives by a matrix"),
        "time_major": (time_major, True, "transpose x to [time, batch, size]"),
        "activation": (activation, "tanh", "use tf.nn.dynamic_rnn with a cell of its own"),
    }


def _known_size(input_shape):
    size = tf.TensorShape(input_shape)[-1]
    size = getattr(size, "value", size)
    if size is None:
        raise ValueError(f"the last size of the input of {input_shape} must be known, for the weights")
    return size
