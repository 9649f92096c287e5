# SPDX-License-Identifier: Apache-2.0
"""Operators of the NPU for graphs of TensorFlow 1."""

import numbers

import npu_device
import tensorflow.compat.v1 as tf
from npu_device import gen_npu_ops
from tensorflow import Variable  # of which both kinds of tf.compat.v1's are

from npu_bridge.estimator.npu.npu_scope import without_npu_compile_scope
from npu_bridge.estimator.outfeed import outfeed_dequeue_op, outfeed_enqueue_op, stop_outfeed_dequeue_op

__all__ = ["LARS", "LARSV2", "adam_apply_one_assign", "adam_apply_one_with_decay_assign", "basic_lstm_cell", "dropout",
           "initialize_system", "npu_onnx_graph_op", "outfeed_dequeue_op", "outfeed_enqueue_op", "scatter_elements",
           "shutdown_system", "stop_outfeed_dequeue_op"]  # fmt: skip
MASKED = (tf.float16, tf.float32)  # what the operator under a mask takes


def _in_a_run(function, name):
    """An operation that calls a function without results on the host."""
    if tf.executing_eagerly():
        raise RuntimeError(f"{name} is an operation of a graph, for sess.run; eagerly call {function.__name__} itself")

    def call():
        function()

    with without_npu_compile_scope():
        return tf.numpy_function(call, [], [], name=name)


def initialize_system(name=None):
    """An operation that opens the NPU, which the first session on it has done already."""
    return _in_a_run(npu_device.open, name or "NPUInit")


def shutdown_system(name=None):
    """An operation that ends what reads data sets ahead for the NPU; the process gives back the rest when it ends."""
    return _in_a_run(npu_device.close, name or "NPUShutdown")


def dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """`x` where a random mask keeps it, divided by keep_prob, the chance of that, and 0 elsewhere. `noise_shape` is
    that of the mask, which is repeated over sizes of 1; `seed` as for tf.nn.dropout. keep_prob may be a tensor."""
    with tf.name_scope(name, "dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(f"x is of {x.dtype.name}; dropout takes floating-point tensors")
        if isinstance(keep_prob, numbers.Real):
            if not 0 < keep_prob <= 1:
                raise ValueError(f"keep_prob is {keep_prob}; it must be above 0 and at most 1")
            if keep_prob == 1:
                return x
        if noise_shape is None and x.dtype in MASKED:
            return _masked(x, tf.shape(x), keep_prob, seed)
        shape = _mask_shape(x, noise_shape)
        return x * tf.cast(_masked(tf.ones(shape, tf.float32), shape, keep_prob, seed), x.dtype)


def _masked(x, shape, keep_prob, seed):
    first, second = tf.get_seed(seed)
    mask = gen_npu_ops.drop_out_gen_mask(shape, tf.cast(keep_prob, tf.float32), seed=first or 0, seed2=second or 0)
    return gen_npu_ops.drop_out_do_mask(x, mask, tf.cast(keep_prob, x.dtype))


def _mask_shape(x, noise_shape):
    """Sizes that are left open are those of x."""
    if noise_shape is None or tf.is_tensor(noise_shape):
        return tf.shape(x) if noise_shape is None else noise_shape
    sizes = [size.value if isinstance(size, tf.Dimension) else size for size in noise_shape]
    if x.shape.rank is not None and len(sizes) != x.shape.rank:
        raise ValueError(f"noise_shape is {noise_shape}, and x has {x.shape.rank} sizes; give one for each")
    there = tf.shape(x)
    return tf.stack([there[i] if size is None else size for i, size in enumerate(sizes)])


def LARSV2(  # noqa: N802 - the vendor's name
    input_weight,
    input_grad,
    weight_decay,
    learning_rate,
    hyperpara=0.001,
    epsilon=1e-05,
    use_clip=False,
    name=None,
):
    """The gradient of a layer, with weight decay, scaled to the size of its weights: factor * (grad + decay * weight),
    where the factor is hyperpara * |weight| / (|grad| + decay * |weight| + epsilon). With use_clip the factor is
    divided by the learning rate, and at most 1: an optimizer of that rate makes no longer step than it would without.
    `input_weight` is a variable or a tensor; one of zeros gives zeros."""
    with tf.name_scope(name, "LarsV2", [input_weight, input_grad]):
        weight, grad = tf.convert_to_tensor(input_weight), tf.convert_to_tensor(input_grad)
        decay, rate = (tf.cast(value, weight.dtype) for value in (weight_decay, learning_rate))
        size = tf.norm(weight)
        factor = hyperpara * size / (tf.norm(grad) + decay * size + epsilon)
        if use_clip:
            factor = tf.minimum(factor / rate, 1)
        return factor * (grad + decay * weight)


def LARS(inputs_w, inputs_g, weight_decay, hyperpara=0.001, epsilon=0.00001, name=None):  # noqa: N802
    """LARSV2 of each weight in a list with the gradient at its place, at a learning rate of 1: a list of gradients."""
    weights, grads = list(inputs_w), list(inputs_g)
    if len(weights) != len(grads):
        raise ValueError(f"there are {len(weights)} weights and {len(grads)} gradients; give one for each")
    with tf.name_scope(name, "Lars", [*weights, *grads]):
        pairs = zip(weights, grads, strict=True)
        return [LARSV2(weight, grad, weight_decay, 1.0, hyperpara, epsilon) for weight, grad in pairs]


def basic_lstm_cell(x, h, c, w, b, keep_prob, forget_bias, state_is_tuple, activation, name=None):
    """One step of an LSTM: (c, h, i, j, f, o, tanh of c). `w` is [size of x + size of h, 4 * size of h], `b` [4 * size
    of h], both in the order i, j, f, o. NotImplementedError for a keep_prob other than 1, state_is_tuple False, or an
    activation other than tanh."""
    only = {"keep_prob": (keep_prob, 1.0), "state_is_tuple": (state_is_tuple, True), "activation": (activation, "tanh")}
    wrong = [f"{key}={value!r} (use {one!r})" for key, (value, one) in only.items() if value != one]
    if wrong:
        raise NotImplementedError(f"basic_lstm_cell does not support {', '.join(wrong)}")
    with tf.name_scope(name, "BasicLSTMCell", [x, h, c, w, b]):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w) + b, 4, 1)
        i, j, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(o)
        f = tf.sigmoid(f + tf.cast(forget_bias, f.dtype))
        new_c = f * c + i * j
        tanh_c = tf.tanh(new_c)
        return new_c, o * tanh_c, i, j, f, o, tanh_c


def adam_apply_one_assign(input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, add2_y, name=None):
    """A step of Adam without correction of the moments, as BERT has it: (v, m, weight), the new values, which the
    variables among `input1`, `input2` and `input3` get. These are v, m and the weight, `input0` is the gradient,
    `input4` the learning rate, `mul0_x` and `mul1_x` are beta1 and 1 - beta1, `mul2_x` and `mul3_x` beta2 and
    1 - beta2, `add2_y` is epsilon: weight - rate * m / (sqrt(v) + epsilon)."""
    betas = (mul0_x, mul1_x, mul2_x, mul3_x)
    with tf.name_scope(name, "AdamApplyOneAssign"):
        return _adam_step(input0, input1, input2, input3, input4, betas, None, add2_y)


def adam_apply_one_with_decay_assign(
    input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, mul4_x, add2_y, name=None
):
    """adam_apply_one_assign with weight decay: weight - rate * (m / (sqrt(v) + epsilon) + mul4_x * weight)."""
    betas = (mul0_x, mul1_x, mul2_x, mul3_x)
    with tf.name_scope(name, "AdamApplyOneWithDecayAssign"):
        return _adam_step(input0, input1, input2, input3, input4, betas, mul4_x, add2_y)


def _adam_step(grad, v, m, weight, rate, betas, decay, epsilon):
    old_v, old_m, old_weight = map(tf.convert_to_tensor, (v, m, weight))
    new_m = betas[0] * old_m + betas[1] * grad
    new_v = betas[2] * old_v + betas[3] * tf.square(grad)
    update = new_m / (tf.sqrt(new_v) + epsilon)
    if decay is not None:
        update += decay * old_weight
    values = (new_v, new_m, old_weight - rate * update)
    with tf.control_dependencies(values):
        return tuple(_assigned(place, value) for place, value in zip((v, m, weight), values, strict=True))


def _assigned(place, value):
    """The value, which `place` has from now on where it is a variable."""
    if isinstance(place, Variable):
        return tf.convert_to_tensor(tf.assign(place, value))
    return tf.identity(value)


def scatter_elements(data, indices, updates, axis=0, name=None):
    """`data` with `updates` put where `indices` says: out[i, indices[i, j], k] = updates[i, j, k] for an axis of 1.
    Indices may count from the end. Of several updates of one element the last one stays."""
    with tf.name_scope(name, "ScatterElements", [data, indices, updates]):
        data, indices, updates = map(tf.convert_to_tensor, (data, indices, updates))
        rank = data.shape.rank
        if rank is None or indices.shape.rank != rank or updates.shape.rank != rank:
            raise ValueError(f"data, indices and updates have the shapes {data.shape}, {indices.shape} and "
                             f"{updates.shape}; they must be of one rank, which is known")  # fmt: skip
        if not -rank <= axis < rank:
            raise ValueError(f"axis is {axis}; data has {rank} axes")
        axis %= rank
        there = tf.shape(data, out_type=indices.dtype)[axis]
        grid = [_along(tf.range(tf.shape(indices, out_type=indices.dtype)[i]), i, indices) for i in range(rank)]
        grid[axis] = tf.where_v2(indices < 0, indices + there, indices)
        return tf.tensor_scatter_nd_update(data, tf.stack(grid, -1), updates)


def _along(numbers_, axis, like):
    """These numbers along one axis, repeated over the others."""
    sizes = [-1 if i == axis else 1 for i in range(like.shape.rank)]
    return tf.broadcast_to(tf.reshape(numbers_, sizes), tf.shape(like))


def npu_onnx_graph_op(inputs, tout, model_path, name=None):
    """Refused: a graph of TensorFlow has no node that is an ONNX model."""
    raise NotImplementedError(
        f"npu_onnx_graph_op is not built: {model_path} cannot be a node of a TensorFlow graph. Make an .om file of it "
        "(atc --framework=5) and run that beside the session (anynpu infer, or AscendCL), or convert it to a GraphDef "
        "and use tf.import_graph_def"
    )
