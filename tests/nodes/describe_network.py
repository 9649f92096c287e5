# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling, activations with their gradients, batch normalisation and losses."""

import ml_dtypes
import numpy as np
import tensorflow as tf
from case import FLOATING, Case, floats, integers, ints

HALVES = ("float16", ml_dtypes.bfloat16)


def per_axis(stride, rank=4):
    return [1, *([stride] * (rank - 2) if np.isscalar(stride) else stride), 1]


def first(images):
    """The same images with the channels behind the batch."""
    return np.ascontiguousarray(np.moveaxis(images, -1, 1))


def channels_first(case, images, outputs):
    """The same call in NCHW, which TensorFlow has no CPU kernel for: its NHWC results are the oracle."""
    inputs = {n: first(v) if n in images else v for n, v in case.inputs.items()}
    attributes = dict(case.attributes, data_format="NCHW")
    for name in ("strides", "ksize", "dilations"):
        if name in attributes:
            v = attributes[name]
            attributes[name] = [v[0], v[-1], *v[1:-1]]

    def oracle():
        results = case.call()
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        return [tf.constant(first(r.numpy())) if i in outputs else r for i, r in enumerate(results)]

    return Case(
        case.op, **inputs, **attributes, wide=case.wide, outputs=case.outputs,
        oracle=oracle,
    )  # fmt: skip


def out_size(size, kernel, stride, dilation, padding):
    reach = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == "SAME" else (size - reach + stride) // stride


def conv2d(dtype, padding, stride=1, dilation=1, kernel=(3, 2), groups=1, size=(7, 6), explicit=()):
    n, c, o = 2, 4, 6
    x, w = floats(n, *size, c, dtype=dtype), floats(*kernel, c // groups, o, dtype=dtype, seed=1)
    pads = [(explicit[2 * i], explicit[2 * i + 1]) if explicit else (0, 0) for i in (1, 2)]
    out = [out_size(size[d] + sum(pads[d]), kernel[d], stride, dilation, padding) for d in (0, 1)]
    g = floats(n, *out, o, dtype=dtype, seed=2)
    common = {
        "strides": per_axis(stride),
        "padding": padding,
        "dilations": per_axis(dilation),
        "wide": True,
    }
    if explicit:
        common["explicit_paddings"] = list(explicit)
    forward = Case("Conv2D", input=x, filter=w, **common)
    yield forward
    if groups != 1:
        return
    to_input = Case("Conv2DBackpropInput", input_sizes=ints(*x.shape), filter=w, out_backprop=g, **common)
    to_filter = Case("Conv2DBackpropFilter", input=x, filter_sizes=ints(*w.shape), out_backprop=g, **common)
    yield to_input
    yield to_filter
    if dtype == "float32" and not explicit:
        yield channels_first(forward, {"input"}, {0})
        turned = channels_first(to_input, {"out_backprop"}, {0})
        turned.inputs["input_sizes"] = ints(x.shape[0], x.shape[3], *x.shape[1:3])
        yield turned
        yield channels_first(to_filter, {"input", "out_backprop"}, set())


def depthwise(dtype, padding, stride, kernel=(3, 3), times=2):
    n, c, size = 2, 3, (6, 5)
    x, w = floats(n, *size, c, dtype=dtype), floats(*kernel, c, times, dtype=dtype, seed=1)
    out = [out_size(size[d], kernel[d], stride, 1, padding) for d in (0, 1)]
    g = floats(n, *out, c * times, dtype=dtype, seed=2)
    common = {"strides": per_axis(stride), "padding": padding, "wide": True}
    name = "DepthwiseConv2dNative"
    yield Case(name, input=x, filter=w, **common)
    yield Case(name + "BackpropInput", input_sizes=ints(*x.shape), filter=w, out_backprop=g, **common)
    yield Case(name + "BackpropFilter", input=x, filter_sizes=ints(*w.shape), out_backprop=g, **common)


def conv3d(dtype, padding, stride):
    x, w = floats(2, 5, 6, 4, 3, dtype=dtype), floats(3, 2, 3, 3, 4, dtype=dtype, seed=1)
    out = [out_size(x.shape[d + 1], w.shape[d], stride, 1, padding) for d in range(3)]
    g = floats(2, *out, 4, dtype=dtype, seed=2)
    common = {"strides": per_axis(stride, 5), "padding": padding, "wide": True}
    yield Case("Conv3D", input=x, filter=w, **common)
    yield Case("Conv3DBackpropInputV2", input_sizes=ints(*x.shape), filter=w, out_backprop=g, **common)
    yield Case("Conv3DBackpropFilterV2", input=x, filter_sizes=ints(*w.shape), out_backprop=g, **common)


def convolutions():
    for dtype in FLOATING:
        yield from conv2d(dtype, "SAME")
        yield from conv2d(dtype, "VALID", stride=2)
    yield from conv2d("float32", "SAME", stride=2, kernel=(4, 4))
    yield from conv2d("float32", "SAME", stride=3, kernel=(2, 2))
    yield from conv2d("float32", "SAME", kernel=(1, 1))
    yield from conv2d("float32", "SAME", stride=2, kernel=(1, 1))
    yield from conv2d("float32", "VALID", dilation=2, kernel=(3, 3))
    yield from conv2d("float32", "SAME", dilation=2, kernel=(2, 3))
    yield from conv2d("float32", "EXPLICIT", stride=2, explicit=(0, 0, 2, 1, 0, 3, 0, 0), kernel=(3, 3))
    yield Case("Conv2D", input=floats(0, 5, 5, 2), filter=floats(3, 3, 2, 2), strides=per_axis(1), padding="SAME")
    yield Case(
        "Conv2DBackpropFilter", input=floats(0, 5, 5, 2), filter_sizes=ints(3, 3, 2, 4),
        out_backprop=floats(0, 5, 5, 4), strides=per_axis(1), padding="SAME",
    )  # fmt: skip
    yield Case(
        "Conv2DBackpropInput", input_sizes=ints(5, 5), filter=floats(3, 3, 2, 4), out_backprop=floats(2, 5, 5, 4),
        strides=per_axis(1), padding="SAME",
    )  # fmt: skip
    yield from conv2d("float32", "SAME", groups=2)
    for dtype in ("float32", "float64", "float16"):
        yield from depthwise(dtype, "SAME", 1)
        yield from depthwise(dtype, "VALID", 2)
    yield from depthwise("float32", "SAME", 2, kernel=(2, 4), times=1)
    for dtype in ("float32", "float64"):
        yield from conv3d(dtype, "SAME", 1)
        yield from conv3d(dtype, "VALID", 2)
        yield from conv3d(dtype, "SAME", 2)


def pool2d(dtype, padding, kernel, stride, size=(7, 6)):
    x = floats(2, *size, 3, dtype=dtype)
    out = [out_size(size[d], kernel[d], stride, 1, padding) for d in (0, 1)]
    g = floats(2, *out, 3, dtype=dtype, seed=2)
    common = {"ksize": [1, *kernel, 1], "strides": per_axis(stride), "padding": padding, "wide": True}
    listed = {
        "ksize": ints(1, *kernel, 1),
        "strides": ints(*per_axis(stride)),
        "padding": padding,
        "wide": True,
    }
    forward, average = Case("MaxPool", input=x, **common), Case("AvgPool", value=x, **common)
    yield forward
    yield average
    yield Case("MaxPoolV2", input=x, **listed)
    best = forward.call().numpy()
    backward = Case("MaxPoolGrad", orig_input=x, orig_output=best, grad=g, **common)
    yield backward
    yield Case("MaxPoolGradV2", orig_input=x, orig_output=best, grad=g, **listed)
    yield Case("AvgPoolGrad", orig_input_shape=ints(*x.shape), grad=g, **common)
    back = floats(*x.shape, dtype=dtype, seed=3)
    yield Case("MaxPoolGradGrad", orig_input=x, orig_output=best, grad=back, **common)
    yield Case("MaxPoolGradGradV2", orig_input=x, orig_output=best, grad=back, **listed)
    if dtype == "float32":
        yield channels_first(forward, {"input"}, {0})
        yield channels_first(average, {"value"}, {0})
        yield channels_first(backward, {"orig_input", "orig_output", "grad"}, {0})
    if dtype != ml_dtypes.bfloat16:
        for batch in (False, True):
            for type_ in ("int32", "int64"):
                argmax = {"include_batch_in_index": batch, **common}
                found = Case("MaxPoolWithArgmax", input=x, Targmax=type_, **argmax)
                yield found
            place = found.call()[1].numpy()
            yield Case("MaxPoolGradWithArgmax", input=x, grad=g, argmax=place, **argmax)


def pool3d(padding, kernel, stride):
    x = floats(2, 5, 4, 6, 3)
    common = {"ksize": [1, *kernel, 1], "strides": per_axis(stride, 5), "padding": padding}
    best, mean = tf.raw_ops.MaxPool3D(input=x, **common).numpy(), tf.raw_ops.AvgPool3D(input=x, **common).numpy()
    g = floats(*best.shape, seed=2)
    yield Case("MaxPool3D", input=x, **common)
    yield Case("AvgPool3D", input=x, **common)
    yield Case("MaxPool3DGrad", orig_input=x, orig_output=best, grad=g, **common)
    yield Case("MaxPool3DGradGrad", orig_input=x, orig_output=best, grad=floats(*x.shape, seed=3), **common)
    yield Case("AvgPool3DGrad", orig_input_shape=ints(*x.shape), grad=floats(*mean.shape, seed=2), **common)


def pools():
    for dtype in FLOATING:
        yield from pool2d(dtype, "SAME", (3, 3), 2)
        yield from pool2d(dtype, "VALID", (2, 2), 2)
    for kernel, stride in (((2, 2), 1), ((4, 3), 1), ((1, 2), 3), ((5, 2), 2)):
        yield from pool2d("float32", "SAME", kernel, stride)
    for padding in ("SAME", "VALID"):
        yield from pool3d(padding, (2, 3, 2), 2)
        yield from pool3d(padding, (3, 2, 1), 1)
    ties = np.zeros((1, 4, 4, 1), "float32")
    window = {"ksize": per_axis(3), "strides": per_axis(2), "padding": "SAME"}
    yield Case("MaxPoolGrad", orig_input=ties, orig_output=ties[:, :2, :2], grad=floats(1, 2, 2, 1, seed=3), **window)
    yield Case("MaxPool", input=floats(0, 4, 4, 1), **window)


def activations():
    edges = np.array([-7, -1, -0.0, 0.0, 3, 6, 9], "float32")
    odd, marks = np.float32([np.nan, -1, -1, np.inf, 2]), np.float32([1, np.inf, np.nan, 1, np.inf])
    for op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad"):
        yield Case(op, gradients=marks, features=odd)
    for op in ("Relu6", "Elu", "Selu", "LeakyRelu"):
        yield Case(op, features=odd)
    for dtype in FLOATING:
        x, g = floats(3, 5, dtype=dtype, low=-8, high=8), floats(3, 5, dtype=dtype, seed=1)
        for v, w in ((x, g), (edges.astype(dtype), np.ones(7, dtype))):
            for op in ["Relu6", "Elu", "Selu"]:
                yield Case(op, features=v)
            yield Case("LeakyRelu", features=v, alpha=0.3)
            for op in ["ReluGrad", "Relu6Grad"]:
                yield Case(op, gradients=w, features=v)
            for op in ["EluGrad", "SeluGrad"]:
                yield Case(op, gradients=w, outputs=v / 8)
            yield Case("LeakyReluGrad", gradients=w, features=v, alpha=0.3)
        yield Case("Softmax", logits=x, wide=True)
        yield Case("LogSoftmax", logits=x, wide=True)
        yield Case("Softmax", logits=floats(2, 3, 4, dtype=dtype), wide=True)
        for op in ("BiasAdd", "BiasAddV1"):
            yield Case(op, value=floats(2, 3, 4, dtype=dtype), bias=floats(4, dtype=dtype))
        yield Case("BiasAdd", value=floats(2, 3, 4, 2, dtype=dtype), bias=floats(3, dtype=dtype), data_format="NCHW")
        yield Case("BiasAddGrad", out_backprop=floats(2, 3, 4, dtype=dtype), wide=True)
        yield Case("BiasAddGrad", out_backprop=floats(2, 3, 4, 2, dtype=dtype), data_format="NCHW", wide=True)
    for dtype in ("int32", "int64"):
        yield Case("Relu6", features=integers(9, dtype=dtype, low=-9, high=10))
        yield Case("BiasAdd", value=integers(2, 3, dtype=dtype), bias=integers(3, dtype=dtype))
    yield Case("Softmax", logits=floats(0, 4))


def batch_norm(dtype, shape, momentum, training, version="V3"):
    x, g = floats(*shape, dtype=dtype), floats(*shape, dtype=dtype, seed=1)
    c = shape[-1]
    scale, offset = floats(c, seed=2), floats(c, seed=3)
    mean, var = floats(c, seed=4), floats(c, low=0.5, high=2, seed=5)
    if training and momentum == 1:
        mean = var = np.zeros(0, "float32")
    common = {"epsilon": 0.01, "is_training": training, "wide": True}
    # The shapes of reserves without content differ between TensorFlow's own kernels.
    used = slice(5 if training else 3)
    forward = Case(
        "FusedBatchNorm" + version, x=x, scale=scale, offset=offset, mean=mean, variance=var,
        exponential_avg_factor=momentum, outputs=used, **common,
    )  # fmt: skip
    yield forward
    batch = x.astype("float32").reshape(-1, c)
    saved = {"reserve_space_1": batch.mean(0), "reserve_space_2": batch.var(0)}
    if version == "V3":
        saved["reserve_space_3"] = np.zeros((), "float32")
    backward = Case(
        "FusedBatchNormGrad" + version,
        y_backprop=g,
        x=x,
        scale=scale,
        **saved,
        outputs=slice(3),
        **common,
    )
    yield backward
    if dtype == "float32" and len(shape) == 4:
        yield channels_first(forward, {"x"}, {0})
        yield channels_first(backward, {"x", "y_backprop"}, {0})


def batch_norms():
    for dtype in ("float32", *HALVES):
        for momentum, training in ((1.0, True), (0.1, True), (1.0, False)):
            yield from batch_norm(dtype, (4, 3, 2, 5), momentum, training)
    for version in ("", "V2"):
        yield from batch_norm("float32", (4, 3, 2, 5), 1.0, True, version)
        yield from batch_norm("float32", (4, 3, 2, 5), 1.0, False, version)
    yield from batch_norm("float32", (1, 1, 1, 4), 1.0, True)
    yield Case(
        "FusedBatchNormV3", x=floats(0, 3, 2, 5), scale=floats(5), offset=floats(5), mean=floats(5),
        variance=floats(5), exponential_avg_factor=0.5, is_training=True, outputs=slice(5),
    )  # fmt: skip
    video, ones, none = floats(2, 3, 2, 2, 5), floats(5, low=0.5), np.zeros(0, "float32")
    common = {"is_training": True, "data_format": "NDHWC"}
    yield Case("FusedBatchNormV3", x=video, scale=ones, offset=ones, mean=none, variance=none, **common)
    yield Case(
        "FusedBatchNormGradV3", y_backprop=video, x=video, scale=ones, reserve_space_1=floats(5), reserve_space_2=ones,
        reserve_space_3=np.zeros((), "float32"), **common,
    )  # fmt: skip
    yield from batch_norm("float32", (1, 1, 1, 4), 0.25, True)
    yield from batch_norm("float16", (2, 3, 4, 8), 0.9, True, "V2")


def losses():
    for dtype in FLOATING:
        x = floats(4, 5, dtype=dtype, low=-4, high=4)
        for type_ in ("int32", "int64"):
            yield Case(
                "SparseSoftmaxCrossEntropyWithLogits", features=x, labels=ints(0, 4, 2, 2, dtype=type_),
                wide=True,
            )  # fmt: skip
        labels = np.float32([[0, 0, 1, 0, 0], [0.5, 0.5, 0, 0, 0], [0.2] * 5, [0, 0, 0, 0, 1]]).astype(dtype)
        for y in (labels, labels[2:3]):
            yield Case("SoftmaxCrossEntropyWithLogits", features=x, labels=y, wide=True)
        yield Case("L2Loss", t=floats(3, 4, dtype=dtype), wide=True)
    yield Case("SoftmaxCrossEntropyWithLogits", features=floats(1, 5), labels=labels.astype("float32"))
    closed = np.float32([[-np.inf, 0, 1], [2, 3, -np.inf]])
    yield Case("SoftmaxCrossEntropyWithLogits", features=closed, labels=np.float32([[0, 1, 0], [0.5, 0.5, 0]]))
    yield Case("SparseSoftmaxCrossEntropyWithLogits", features=floats(0, 5), labels=ints(dtype="int64"))


EQUATIONS = (
    "abc,cde->abde abde,cde->abc abde,abc->cde acbe,aecd->abcd aecd,abcd->acbe abcd,cde->abe ab,bc->ac ab,bc->ca "
    "ba,cb->ac ab,ab-> ab,ab->a ab,ab->ab a,b->ab ab,c->cba abc,bd->ad abc,dc->b a,ab->b abcd,adbe->aebc "
    "...ab,...bc->...ac ...a,ab->...b ab,b...->a... a...b,...b->...a"
)
ONE_TERM = "abc->cab abc->b abc-> ab->ba a...->...a a...b->... abc->ca"


def einsums():
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 2}

    def operand(term, dtype, seed, more=(3, 2)):
        named, shape = term.replace("...", "."), []
        for letter in named:
            shape += more if letter == "." else (sizes[letter],)
        return floats(*shape, dtype=dtype, seed=seed)

    for dtype in FLOATING:
        for equation in EQUATIONS.split():
            terms = equation.split("->")[0].split(",")
            inputs = [operand(term, dtype, i) for i, term in enumerate(terms)]
            yield Case("Einsum", inputs=inputs, equation=equation, wide=True)
    for equation in ONE_TERM.split():
        x = operand(equation.split("->")[0], "float32", 0)
        yield Case("Einsum", inputs=[x], equation=equation)
    wide, narrow = floats(4, 1, 2, 3), floats(5, 3, 2)
    yield Case("Einsum", inputs=[wide, narrow], equation="...ab,...bc->...ac")
    yield Case("Einsum", inputs=[floats(2, 0), floats(0, 3)], equation="ab,bc->ac")


def responses():
    for radius in (0, 2, 5):
        common = {"depth_radius": radius, "bias": 1.5, "alpha": 0.4, "beta": 0.7}
        x, g = floats(2, 3, 2, 7), floats(2, 3, 2, 7, seed=1)
        y = Case("LRN", input=x, **common).call().numpy()
        yield Case("LRN", input=x, **common)
        yield Case("LRNGrad", input_grads=g, input_image=x, output_image=y, **common)


def cases():
    yield from einsums()
    yield from responses()
    yield from convolutions()
    yield from pools()
    yield from activations()
    yield from batch_norms()
    yield from losses()
