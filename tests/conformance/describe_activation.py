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
both("Threshold", F.threshold, self=S, threshold=0.5, value=-1.5)
both("ThresholdBackward", torch.ops.aten.threshold_backward, grad_output=G, self=S, threshold=0)
both("LeakyRelu", F.leaky_relu, self=S, negative_slope=0.1)
both("LeakyReluBackward", torch.ops.aten.leaky_relu_backward, grad_output=G, self=S, negative_slope=0.1,
     self_is_result=False)  # fmt: skip
unary("Sigmoid", torch.sigmoid, REAL + COMPLEX, low=-20, high=20)
edges("Sigmoid", torch.sigmoid)
both("SigmoidBackward", torch.ops.aten.sigmoid_backward, grad_output=G, output=T(4, 5, low=0, high=1)
)  # fmt: skip
unary("Tanh", torch.tanh, REAL + COMPLEX)
edges("Tanh", torch.tanh)
both("TanhBackward", torch.ops.aten.tanh_backward, grad_output=G, output=T(4, 5, low=-1, high=1)
)  # fmt: skip
