# SPDX-License-Identifier: Apache-2.0
"""Cases of log-softmax and negative log likelihood in one."""

import torch
import torch.nn.functional as F
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
N, C = 7, 5
COMMON = {"zloss_scale": 0.0, "zloss": None, "lse_for_zloss": None, "layouts": ("plain", "transposed", "sliced")}


def loss_of(x, target, weight, reduction, ignore_index, label_smoothing):
    made = F.cross_entropy(x, target.long(), weight, reduction=reduction, ignore_index=ignore_index,
                           label_smoothing=label_smoothing)  # fmt: skip
    return made if reduction == "none" else made.reshape(1)


def forward(input, target, weight, reduction, ignore_index, label_smoothing):
    return loss_of(input, target, weight, reduction, ignore_index, label_smoothing), input.log_softmax(1)


def gradient(grad_loss, log_prob, target, weight, reduction, ignore_index, label_smoothing):
    x = log_prob.clone().requires_grad_()  # its own log-softmax
    with torch.enable_grad():
        made = loss_of(x, target, weight, reduction, ignore_index, label_smoothing)
        return torch.autograd.grad(made, x, grad_loss.reshape(made.shape))[0]


LABELS = T(N, dtype=torch.int64, values=lambda g: torch.tensor([0, 4, 2, 2, 1, 3, 0]))
SCORES = torch.randn(N, C, generator=torch.Generator().manual_seed(1)).double().log_softmax(1)
for reduction in ("none", "mean", "sum"):
    for weight in (None, T(C, low=0.3, high=1, dtype=torch.float32)):
        for ignore, smoothing in ((-100, 0.0), (2, 0.0), (2, 0.1)):
            options = {"target": LABELS, "weight": weight, "reduction": reduction, "ignore_index": ignore,
                       "label_smoothing": smoothing, **COMMON}  # fmt: skip
            case("aclnnCrossEntropyLoss", forward, KINDS, input=T(N, C), return_zloss=False, **options)
            case("aclnnCrossEntropyLossGrad", gradient, [torch.float32], log_prob=T(values=lambda _: SCORES),
                 grad_loss=T(N if reduction == "none" else 1), grad_zloss=None, **options)  # fmt: skip
