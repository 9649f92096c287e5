# SPDX-License-Identifier: Apache-2.0
"""References against PyTorch on the CPU, in float64; what PyTorch does not have against a formula of its own."""

import numpy as np
import pytest

from anynpu.self_check.evaluate import Fields
from anynpu.self_check.reference import REFERENCES

torch = pytest.importorskip("torch")
F = torch.nn.functional


def tensors(**sizes):
    """Named tensors of a fixed seed; positive where the name asks for it."""
    random = torch.Generator().manual_seed(3)
    return {name: torch.randn(*size, generator=random, dtype=torch.float64) for name, size in sizes.items()}


def computed(op, fields, **shapes):
    given = {name: one.detach().numpy() if isinstance(one, torch.Tensor) else one for name, one in fields.items()}
    shapes = {name: [list(shape)] for name, shape in shapes.items()}
    return REFERENCES[op](Fields(given, {}, shapes))


def near(made, wanted):
    np.testing.assert_allclose(made, wanted.detach().numpy(), rtol=1e-9, atol=1e-11)


def gradients(wanted, *leaves):
    g = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    return g, torch.autograd.grad(wanted, leaves, g)


UNARY = [
    "neg", "abs", "reciprocal", "square", "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
    "asinh", "erf", "erfc", "floor", "ceil", "trunc", "round", "sign", "relu", "sigmoid",
]  # fmt: skip


@pytest.mark.parametrize("op", [*UNARY, "silu", "gelu", "softsign"])
def test_elementwise(op):
    x = tensors(x=(4, 5))["x"]
    near(computed(op, {"self": x}), getattr(torch if hasattr(torch, op) else F, op)(x))


@pytest.mark.parametrize("op", ["log", "log2", "log10", "log1p", "sqrt", "rsqrt"])
def test_elementwise_of_what_is_positive(op):
    x = tensors(x=(4, 5))["x"].abs() + 0.1
    near(computed(op, {"self": x}), getattr(torch, op)(x))


@pytest.mark.parametrize("op", ["asin", "acos", "atanh"])
def test_elementwise_within_one(op):
    x = torch.tanh(tensors(x=(4, 5))["x"])
    near(computed(op, {"self": x}), getattr(torch, op)(x))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "maximum", "minimum", "atan2", "remainder", "fmod"])
def test_of_two_that_broadcast(op):
    t = tensors(self=(4, 5), other=(5,))
    near(computed(op, t), getattr(torch, op)(t["self"], t["other"]))


BACKWARD = {
    "threshold_backward": (torch.relu, "self", {"threshold": 0.0}),
    "sigmoid_backward": (torch.sigmoid, "output", {}),
    "tanh_backward": (torch.tanh, "output", {}),
    "silu_backward": (F.silu, "self", {}),
    "gelu_backward": (F.gelu, "self", {}),
    "gelu_backward_mode": (lambda x: F.gelu(x, approximate="tanh"), "self", {"approximate": "tanh"}),
}


@pytest.mark.parametrize("op", BACKWARD)
def test_slopes(op):
    function, reads, numbers = BACKWARD[op]
    x = tensors(x=(4, 5))["x"].requires_grad_()
    y = function(x)
    g, (wanted,) = gradients(y, x)
    near(computed(op, {"grad_output": g, reads: x if reads == "self" else y, **numbers}), wanted)


PRODUCTS = {
    "mm": ({"self": (3, 4), "mat2": (4, 5)}, {}, torch.mm),
    "batch_matmul": ({"self": (2, 3, 4), "mat2": (2, 4, 5)}, {}, torch.bmm),
    "mv": ({"self": (3, 4), "vec": (4,)}, {}, torch.mv),
    "addmm": (
        {"self": (5,), "mat1": (3, 4), "mat2": (4, 5)}, {"beta": 0.5, "alpha": 2.0},
        lambda *t: torch.addmm(*t, beta=0.5, alpha=2.0),
    ),
    "baddbmm": ({"self": (2, 3, 5), "batch1": (2, 3, 4), "batch2": (2, 4, 5)}, {}, torch.baddbmm),
}  # fmt: skip


@pytest.mark.parametrize("op", PRODUCTS)
def test_products(op):
    sizes, numbers, function = PRODUCTS[op]
    t = tensors(**sizes)
    near(computed(op, {**t, **numbers}), function(*t.values()))


@pytest.mark.parametrize("op", ["sum", "mean", "amax", "amin"])
@pytest.mark.parametrize("dim", [[0], [1, 2], [-1]])
def test_reductions(op, dim):
    x = tensors(x=(2, 3, 4))["x"]
    near(computed(op, {"self": x, "dim": dim}), getattr(torch, op)(x, dim))


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, np.inf, -np.inf])
def test_norms_of_vectors(order):
    x = tensors(x=(2, 6))["x"]
    near(computed("vector_norm", {"self": x, "dim": [1], "ord": order}), torch.linalg.vector_norm(x, order, 1))


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1])
def test_softmax_and_its_gradient(op, dim):
    x = tensors(x=(3, 5))["x"].requires_grad_()
    y = getattr(torch, op)(x, dim)
    near(computed(op, {"self": x, "dim": dim}), y)
    g, (wanted,) = gradients(y, x)
    near(computed(f"{op}_backward", {"grad_output": g, "output": y, "dim": dim}), wanted)


CONVOLUTIONS = {
    "plain": ((2, 4, 7, 6), (6, 4, 3, 3), {}),
    "stride and padding": ((2, 4, 7, 6), (6, 4, 3, 2), {"stride": [2, 1], "padding": [1, 2]}),
    "dilation": ((1, 2, 9, 9), (3, 2, 3, 3), {"dilation": [2, 2]}),
    "groups": ((2, 4, 5, 5), (6, 2, 3, 3), {"groups": 2, "padding": [1, 1]}),
    "line": ((2, 3, 9), (4, 3, 3), {"stride": [2], "padding": [1], "dilation": [1]}),
}


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_convolution_and_its_gradients(kind):
    shape, of_weight, numbers = CONVOLUTIONS[kind]
    rank = len(shape) - 2
    numbers = {"stride": [1] * rank, "padding": [0] * rank, "dilation": [1] * rank, "groups": 1} | numbers
    t = tensors(input=shape, weight=of_weight, bias=(of_weight[0],))
    leaves = [one.requires_grad_() for one in t.values()]
    y = (F.conv2d if rank == 2 else F.conv1d)(*leaves, **numbers)
    near(computed("convolution", {**t, **numbers}, out=y.shape), y)
    g, wanted = gradients(y, *leaves)
    names = ("grad_input", "grad_weight", "grad_bias")
    made = computed("convolution_backward", {"grad_output": g, **t, **numbers}, **dict.fromkeys(names, ()))
    for name, one in zip(names, wanted, strict=True):
        near(made[name], one)


def test_layer_norm_and_its_gradients():
    t = tensors(self=(3, 4, 5), weight=(5,), bias=(5,))
    leaves = [one.requires_grad_() for one in t.values()]
    y, mean, rstd = torch.native_layer_norm(leaves[0], [5], *leaves[1:], 1e-5)
    fields = {**t, "normalized_shape": [5], "eps": 1e-5}
    made = computed("layer_norm", fields)
    near(made["out"].reshape(y.shape), y)
    near(made["rstd"].reshape(rstd.shape), rstd)
    g, wanted = gradients(y, *leaves)
    made = computed("layer_norm_backward", {**fields, "grad_output": g, "mean": mean, "rstd": rstd})
    for name, one in zip(("grad_input", "grad_weight", "grad_bias"), wanted, strict=True):
        near(made[name].reshape(one.shape), one)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_and_its_gradients(training):
    t = tensors(self=(4, 3, 5, 5), weight=(3,), bias=(3,), running_mean=(3,))
    t["running_var"] = tensors(v=(3,))["v"].abs() + 0.5
    fields = {**t, "training": training, "momentum": 0.1, "eps": 1e-5}
    made = computed("batch_norm", fields)
    leaves = [t[name].requires_grad_() for name in ("self", "weight", "bias")]
    after = [t["running_mean"].clone(), t["running_var"].clone()]
    y = F.batch_norm(leaves[0], *after, *leaves[1:], training, 0.1, 1e-5)
    near(made["out"], y)
    if training:
        near(made["running_mean"], after[0])
        near(made["running_var"], after[1])
    g, wanted = gradients(y, *leaves)
    saved = {name: made.get(name) for name in ("save_mean", "save_invstd")}
    made = computed("batch_norm_backward", {**fields, **saved, "grad_output": g})
    for name, one in zip(("grad_input", "grad_weight", "grad_bias"), wanted, strict=True):
        near(made[name], one)


@pytest.mark.parametrize("numbers", [{"padding": [1, 1]}, {"stride": [1, 1]}, {"dilation": [2, 1]}])
def test_max_pool_and_its_gradient(numbers):
    x = tensors(x=(2, 3, 8, 7))["x"].requires_grad_()
    numbers = {"stride": [2, 2], "padding": [0, 0], "dilation": [1, 1]} | numbers
    y = F.max_pool2d(x, [3, 2], **numbers)
    fields = {"self": x, "spatial": 2, "kernel_size": [3, 2], **numbers}
    near(computed("max_pool", fields, out=y.shape)["out"], y)
    g, (wanted,) = gradients(y, x)
    near(computed("max_pool_backward", {**fields, "grad_output": g}), wanted)


def test_adaptive_means_and_their_gradient():
    x = tensors(x=(2, 3, 7, 5))["x"].requires_grad_()
    y = F.adaptive_avg_pool2d(x, (3, 2))
    near(computed("adaptive_avg_pool", {"self": x, "spatial": 2}, out=y.shape), y)
    g, (wanted,) = gradients(y, x)
    near(computed("adaptive_avg_pool_backward", {"self": x, "spatial": 2, "grad_output": g}), wanted)


@pytest.mark.parametrize("pse_type", [0, 1])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_its_gradients_the_bias_s_too(pse_type, causal):
    t = tensors(query=(2, 3, 5, 4), key=(2, 3, 6, 4), value=(2, 3, 6, 4), pse=(2, 3, 5, 6))
    q, k, v, bias = (one.requires_grad_() for one in t.values())
    hidden = torch.triu(torch.ones(5, 6, dtype=torch.bool), 1) if causal else None
    scores = 0.5 * (q @ k.mT) + bias if pse_type == 0 else 0.5 * (q @ k.mT + bias)
    y = (scores if hidden is None else scores.masked_fill(hidden, -torch.inf)).softmax(-1) @ v
    numbers = {"input_layout": "BNSD", "head_num": 3, "scale": 0.5, "pse_type": pse_type, "sparse_mode": 1}
    fields = {**t, **numbers, "atten_mask": hidden}
    near(computed("flash_attention", fields)["attention_out"], y)
    g, wanted = gradients(y, q, k, v, bias)
    made = computed("flash_attention_grad", {**fields, "dy": g, "attention": y}, dpse=(2, 3, 5, 6))
    for name, one in zip(("dq", "dk", "dv", "dpse"), wanted, strict=True):
        near(made[name], one)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_losses(reduction):
    kind = ("none", "mean", "sum")[reduction]
    t = tensors(self=(6, 4), weight=(4,), other=(6, 4))
    target = torch.tensor([0, 3, 1, 1, 2, 0])
    x, weight = t["self"].requires_grad_(), t["weight"].abs()
    y = F.nll_loss(x, target, weight, ignore_index=2, reduction=kind)
    fields = {"self": x, "target": target, "weight": weight, "ignore_index": 2, "reduction": reduction}
    made = computed("nll_loss", fields)
    near(made["out"], y)
    g, (wanted,) = gradients(y, x)
    total = torch.as_tensor(made.get("total_weight", 1.0), dtype=torch.float64)
    near(computed("nll_loss_backward", {**fields, "grad_output": g, "total_weight": total}), wanted)
    y = F.mse_loss(x, t["other"], reduction=kind)
    fields = {"self": x, "target": t["other"], "reduction": reduction}
    near(computed("mse_loss", fields), y)
    g, (wanted,) = gradients(y, x)
    near(computed("mse_loss_backward", {**fields, "grad_output": g}), wanted)


@pytest.mark.parametrize("padding_idx", [None, 1])
def test_the_gradient_of_an_embedding(padding_idx):
    weight = tensors(w=(5, 3))["w"].requires_grad_()
    indices = torch.tensor([[0, 1, 1], [4, 0, 1]])
    g, (wanted,) = gradients(F.embedding(indices, weight, padding_idx), weight)
    fields = {"grad": g, "indices": indices, "num_weights": 5, "padding_idx": padding_idx}
    near(computed("embedding_dense_backward", fields), wanted)


def test_items_in_the_order_of_their_first_place():
    made = computed("unique_in_order", {"self": np.array([7, 3, 7, 9, 3, 7])})
    assert {name: list(one) for name, one in made.items()} == {
        "y": [7, 3, 9], "inverse": [0, 1, 0, 2, 1, 0], "counts": [3, 2, 1],
    }  # fmt: skip


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_as_pytorch_has_it(nesterov):
    t = tensors(var=(4,), grad=(4,))
    var = t["var"].clone().requires_grad_()
    optimizer = torch.optim.SGD([var], lr=0.1, momentum=0.9, nesterov=nesterov)
    accum = np.zeros(4)
    mine = t["var"].numpy()
    for _ in range(3):
        var.grad = t["grad"]
        optimizer.step()
        fields = {"var": mine, "accum": accum, "grad": t["grad"], "lr": 0.1, "momentum": 0.9, "use_nesterov": nesterov}
        made = computed("apply_momentum", fields)
        mine, accum = made["var"], made["accum"]
    near(mine, var)


def test_adam_as_pytorch_has_it_without_epsilon():
    t = tensors(var=(4,), grad=(4,))
    var = t["var"].clone().requires_grad_()
    optimizer = torch.optim.Adam([var], lr=0.1, eps=0.0)
    fields = {"var": t["var"], "m": np.zeros(4), "v": np.zeros(4), "lr": 0.1, "eps": 0.0, "beta1": 0.9, "beta2": 0.999}
    for step in range(1, 4):
        var.grad = t["grad"] * step
        optimizer.step()
        powers = {"beta1_power": 0.9**step, "beta2_power": 0.999**step}
        fields |= computed("apply_adam", {**fields, **powers, "grad": var.grad})
    near(fields["var"], var)
