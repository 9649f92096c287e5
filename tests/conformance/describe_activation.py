# SPDX-License-Identifier: Apache-2.0
"""Cases of activations, forward and backward."""

import torch
from both import both, edges, unary
from case import COMPLEX, INTEGER, REAL, T
from torch.nn import functional as F

S = T(4, 5, low=-4, high=4)
G = T(4, 5)

unary("Relu", F.relu, REAL + INTEGER)
edges("Relu", F.relu)
both("AddRelu", lambda self, other, alpha: F.relu(self + alpha * other), self=S, other=G, alpha=0.5)
both("AddRelu", lambda self, other, alpha: F.relu(self + alpha * other), INTEGER, self=S, other=G, alpha=2)
both("Threshold", F.threshold, self=S, threshold=0.5, value=-1.5)
both("ThresholdBackward", torch.ops.aten.threshold_backward, grad_output=G, self=S, threshold=0)
both("LeakyRelu", F.leaky_relu, self=S, negative_slope=0.1)
for is_result in (False, True):
    both("LeakyReluBackward", lambda grad_output, self, negative_slope, is_result: (
         torch.ops.aten.leaky_relu_backward(grad_output, self, negative_slope, is_result)), grad_output=G, self=S,
         negative_slope=0.1, is_result=is_result)  # fmt: skip
unary("Sigmoid", torch.sigmoid, REAL + COMPLEX, low=-20, high=20)
edges("Sigmoid", torch.sigmoid)
both("SigmoidBackward", torch.ops.aten.sigmoid_backward, REAL + COMPLEX, grad_output=G, output=T(4, 5, low=0, high=1)
)  # fmt: skip
unary("Tanh", torch.tanh, REAL + COMPLEX)
edges("Tanh", torch.tanh)
both("TanhBackward", torch.ops.aten.tanh_backward, grad_output=G, output=T(4, 5, low=-1, high=1)
)  # fmt: skip

aten = torch.ops.aten
for name, function in {
    "Silu": F.silu,
    "Mish": F.mish,
    "Hardswish": F.hardswish,
    "Hardsigmoid": F.hardsigmoid,
    "LogSigmoid": F.logsigmoid,
    "Gelu": F.gelu,
}.items():
    unary(name, function, low=-5, high=5)
    # GELU of infinity is left out: torch gives NaN or infinity, depending on which of its kernels runs.
    if name != "Gelu":
        edges(name, function)
for name in ("Silu", "Mish", "Hardswish", "Gelu"):
    backward = getattr(aten, f"{name.lower()}_backward")
    both(f"{name}Backward", backward, grad_output=G, self=S)
# aten's own formula multiplies by a float32 sixth, also in float64.
both("HardsigmoidBackward", lambda grad_output, self: grad_output * (self.abs() < 3) / 6, grad_output=G, self=S)
both("HardswishBackwardV2", aten.hardswish_backward, grad_output=G, self=S)


def gelu(form):
    return lambda self: F.gelu(self, approximate=form)


def gelu_backward(form):
    return lambda grad_output, self: aten.gelu_backward(grad_output, self, approximate=form)


for number, form in ((0, "none"), (1, "tanh")):
    both("GeluV2", gelu(form), self=S, approximate=number)
    both("GeluBackwardV2", gelu_backward(form), grad_output=G, self=S, approximate=form)


def gradient(function):
    """The gradient of `function` by autograd, for functions aten has no formula of."""

    def oracle(grad_output, self):
        leaf = self.detach().requires_grad_()
        function(leaf).backward(grad_output)
        return leaf.grad

    return oracle


unary("FastGelu", lambda self: self * torch.sigmoid(1.702 * self), low=-5, high=5)
both("FastGeluBackward", gradient(lambda x: x * torch.sigmoid(1.702 * x)), grad_output=G, self=S)

both("Hardtanh", F.hardtanh, REAL + INTEGER[:4], self=S, min_val=-1, max_val=2)
both("HardtanhBackward", aten.hardtanh_backward, grad_output=G, self=S, min_val=-1, max_val=2)
both("Hardshrink", F.hardshrink, self=S, lambd=0.5)
both("HardshrinkBackward", aten.hardshrink_backward, grad_output=G, self=S, lambd=0.5)
both("Softshrink", F.softshrink, self=S, lambd=0.5)
both("SoftshrinkBackward", aten.softshrink_backward, grad_output=G, self=S, lambd=0.5)
edges("Hardtanh", F.hardtanh, min_val=-1, max_val=2)
both("Softplus", F.softplus, self=S, beta=1.5, threshold=3)
both("SoftplusBackward", aten.softplus_backward, grad_output=G, self=S, beta=1.5, threshold=3)
edges("Softplus", F.softplus, beta=1, threshold=20)
both("Elu", aten.elu, self=S, alpha=1.5, scale=1.25, input_scale=0.5)
edges("Elu", aten.elu, alpha=1.5, scale=1.25, input_scale=0.5)
both("Celu", F.celu, self=S, alpha=1.5)
for is_result in (False, True):
    both("EluBackward", aten.elu_backward, grad_output=G, alpha=1.5, scale=1.25, input_scale=0.5, is_result=is_result,
         self_or_result=T(4, 5, low=-1, high=3))  # fmt: skip
both("LogSigmoidForward", aten.log_sigmoid_forward, self=S)
both(
    "LogSigmoidBackward", lambda grad_output, self: grad_output * torch.sigmoid(-self), grad_output=G, self=S, buffer=S
)
both("Logit", lambda self, eps: torch.logit(self, eps), self=T(4, 5, low=0.05, high=0.95), eps=0.2)
both("Logit", lambda self: torch.logit(self), self=T(4, 5, low=0.05, high=0.95), eps=-1.0)
both("LogitGrad", lambda self, grad_output, eps: aten.logit_backward(grad_output, self, eps),
     self=T(4, 5, low=0.05, high=0.95), grad_output=G, eps=0.2)  # fmt: skip

both(
    "Prelu", lambda self, weight: torch.where(self > 0, self, self * weight), self=S, weight=T(1, 5), elementwise=False
)
both("Prelu", lambda self, weight: F.prelu(self, weight), self=T(3, 4, 2), weight=T(4), elementwise=False)
both("Prelu", lambda self, weight: F.prelu(self, weight), self=T(), weight=T(1), elementwise=False)


def prelu_backward(grad_output, self, weight):
    return aten._prelu_kernel_backward(grad_output, self, weight)


def prelu_backward_summed(grad_output, self, weight):
    leaf, slope = self.detach().requires_grad_(), weight.detach().requires_grad_()
    F.prelu(leaf, slope).backward(grad_output)
    return leaf.grad, slope.grad


both("PreluBackward", prelu_backward, grad_output=G, self=S, weight=T(1, 5), elementwise=False)
both("PreluBackward", prelu_backward_summed, grad_output=T(3, 4, 2), self=T(3, 4, 2), weight=T(4),
     elementwise=False)  # fmt: skip
both("PreluBackward", prelu_backward_summed, grad_output=T(), self=T(), weight=T(1), elementwise=False)


def swiglu(self, dim):
    a, b = self.chunk(2, dim)
    return F.silu(a) * b


def geglu(self, dim, approximate, activate_left):
    a, b = self.chunk(2, dim)
    value, gate = (b, a) if activate_left else (a, b)
    bent = F.gelu(gate, approximate="tanh" if approximate else "none")
    return value * bent, bent


W = T(4, 6, low=-3, high=3)
for dim in (-1, 0):
    half = T(4, 3) if dim == -1 else T(2, 6)
    both("Glu", F.glu, self=W, dim=dim, elementwise=False)
    both("GluBackward", aten.glu_backward, grad_output=half, self=W, dim=dim, elementwise=False)
    both("SwiGlu", swiglu, self=W, dim=dim, elementwise=False)
    both("SwiGluGrad", lambda grad_output, self, dim: gradient(lambda x: swiglu(x, dim))(grad_output, self),
         grad_output=half, self=W, dim=dim, elementwise=False)  # fmt: skip


def geglu_backward(grad_output, self, dim, approximate, activate_left):
    return gradient(lambda x: geglu(x, dim, approximate, activate_left)[0])(grad_output, self)


for approximate, left in ((0, False), (1, False), (1, True)):
    both("GeGluV3", geglu, self=W, dim=-1, approximate=approximate, activate_left=left, elementwise=False)
both("GeluMul", lambda self, approximate: geglu(self, -1, approximate == "tanh", True)[0], self=W, approximate="tanh",
     elementwise=False)  # fmt: skip
both("GeluMul", lambda self, approximate: geglu(self, -1, approximate == "tanh", True)[0], self=W, approximate="none",
     elementwise=False)  # fmt: skip


def geglu_backward_given(grad_output, self, gelu, dim, approximate, activate_left):
    """The saved gelu is an argument of its own, so it need not be that of `self`."""
    by_autograd = geglu_backward(grad_output, self, dim, approximate, activate_left)
    value, gate = by_autograd.chunk(2, dim)
    return torch.cat((value, grad_output * gelu) if activate_left else (grad_output * gelu, gate), dim)


for left in (False, True):
    both("GeGluV3Backward", geglu_backward_given, grad_output=T(4, 3), self=W, gelu=T(4, 3), dim=-1, approximate=1,
         activate_left=left, elementwise=False)  # fmt: skip
