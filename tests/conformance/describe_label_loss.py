# SPDX-License-Identifier: Apache-2.0
"""Cases of losses over label sequences: CTC and the multilabel margin."""

import torch
from case import REAL, T, case

STEPS, SAMPLES, CLASSES = 12, 4, 6
INPUTS, LENGTHS = [12, 9, 12, 3], [3, 4, 0, 5]  # the last sample is impossible: more labels than steps
LABELS = torch.tensor([[1, 2, 3, 0, 0], [2, 2, 1, 5, 0], [0, 0, 0, 0, 0], [1, 1, 2, 3, 4]])
ROW = torch.cat([row[:n] for row, n in zip(LABELS, LENGTHS, strict=True)])
PROBS = torch.randn(STEPS, SAMPLES, CLASSES, generator=torch.Generator().manual_seed(1)).log_softmax(-1)
DEEP = {"dtypes": [torch.float32, torch.float64], "layouts": ("plain", "transposed", "sliced")}


def fixed(value, integer=False):
    return T(values=lambda _: value, dtype=value.dtype if integer else None)


def ctc(log_probs, targets, blank):
    """Loss and alignments; torch leaves places no alignment reaches as they were, here they are -inf."""
    loss, made = torch._ctc_loss(log_probs, targets.contiguous(), INPUTS, LENGTHS, blank, False)
    for b in range(SAMPLES):
        made[b, INPUTS[b] :] = -torch.inf
        made[b, :, 2 * LENGTHS[b] + 1 :] = -torch.inf
        made[b, 0, 2:] = -torch.inf
    return loss, made


def ctc_gradient(grad, log_probs, targets, blank, zero_infinity):
    with torch.enable_grad():
        p = log_probs.clone().requires_grad_()
        loss = torch._ctc_loss(p, targets.contiguous(), INPUTS, LENGTHS, blank, zero_infinity)[0]
        return torch.autograd.grad(loss, p, grad)[0]


for labels in (LABELS, ROW):
    for dtype in (torch.int64, torch.int32):
        common = {"targets": fixed(labels.to(dtype), True), "input_lengths": INPUTS, "target_lengths": LENGTHS,
                  "blank": 0, **DEEP}  # fmt: skip
        case("aclnnCtcLoss", ctc, log_probs=fixed(PROBS), zero_infinity=False, **common)
        for zero in (True, False):
            loss, alpha = ctc(PROBS.double(), labels, 0)
            case("aclnnCtcLossBackward", ctc_gradient, grad=T(SAMPLES), log_probs=fixed(PROBS), zero_infinity=zero,
                 neg_log_likelihood=fixed(loss), log_alpha=fixed(alpha), **common)  # fmt: skip

TARGETS = torch.tensor([[3, 0, -1, 1, 2], [0, -1, 2, 1, 0], [-1, 0, 0, 0, 0], [4, 3, 2, 1, 0]])


def margin(self, target, reduction):
    return torch.ops.aten.multilabel_margin_loss_forward(self.contiguous(), target.long().contiguous(), reduction)


for reduction in (0, 1, 2):
    for rows in (TARGETS, TARGETS[1]):
        for dtype in (torch.int64, torch.int32):
            case("aclnnMultilabelMarginLoss", margin, REAL, self=T(*rows.shape), target=fixed(rows.to(dtype), True),
                 reduction=reduction, layouts=("plain", "transposed", "sliced"))  # fmt: skip


def with_logits(features, labels):
    logs = features.log_softmax(1)
    return -(labels * logs).sum(1), logs.exp() - labels


case("aclnnSoftmaxCrossEntropyWithLogits", with_logits, layouts=("plain", "transposed", "sliced"),
     features=T(7, 33), labels=T(values=lambda g: torch.rand(7, 33, generator=g).softmax(1)))  # fmt: skip
