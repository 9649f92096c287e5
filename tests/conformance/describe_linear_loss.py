# SPDX-License-Identifier: Apache-2.0
"""Cases of a cross entropy whose logits are a product, with the vocabulary shared out (see case.py for the form)."""

import torch
from case import T, case

HALF = [torch.float16, torch.bfloat16]
TOKENS, HIDDEN, WORDS = 19, 40, 300


def packed(mask):
    """A bit a token, the first in the highest place; what fills up the last byte is set."""
    bits = torch.cat([mask, torch.ones(-len(mask) % 8, dtype=torch.bool)]).view(-1, 8)
    return (bits * (1 << torch.arange(7, -1, -1))).sum(1).to(torch.uint8)


def max_sum(input, weight, target, vocab_start_index, vocab_end_index):
    logits = input @ weight.T
    top = logits.amax(1)
    below = logits - top[:, None]
    mask = (target < vocab_start_index) | (target > vocab_end_index)
    place = torch.where(mask, 0, target - vocab_start_index)
    predicted = torch.where(mask, 0.0, below.gather(1, place.long()[:, None])[:, 0])
    return top, below.exp().sum(1), predicted, packed(mask), place, logits


def max_sum_alone(input, weight, target, vocab_start_index, vocab_end_index):
    return *max_sum(input, weight, target, vocab_start_index, vocab_end_index)[:-1], None


FLOAT32 = dict.fromkeys(("logits_max", "sum_exp_logits", "predicted_logits"), torch.float32)
small = {"low": -0.4, "high": 0.4}
products = {"input": T(TOKENS, HIDDEN, **small), "weight": T(WORDS, HIDDEN, **small)}
for kind in (torch.int32, torch.int64):
    for start, end in ((0, 299), (100, 250)):
        for oracle in (max_sum, max_sum_alone):
            case("aclnnFusedLinearOnlineMaxSum", oracle, HALF, layouts=("plain", "transposed", "sliced"), **products,
                 target=T(TOKENS, dtype=kind, low=0, high=300), vocab_start_index=start, vocab_end_index=end,
                 out_dtypes=FLOAT32)  # fmt: skip


def loss(logits_max, sum_exp_logits, predicted_logits, logits):
    softmax = None if logits is None else (logits - logits_max[:, None]).exp() / sum_exp_logits[:, None]
    return sum_exp_logits.log() - predicted_logits, softmax


for logits in (None, T(TOKENS, WORDS)):
    case("aclnnFusedCrossEntropyLossWithMaxSum", loss, [torch.float32, *HALF], logits=logits, input=None, weight=None,
         logits_max=T(TOKENS, low=2, high=3, dtype=torch.float32),
         sum_exp_logits=T(TOKENS, low=1, high=9, dtype=torch.float32),
         predicted_logits=T(TOKENS, low=-5, high=0, dtype=torch.float32), label_smoothing=0.0,
         out_dtypes={"loss": torch.float32, "softmax": torch.float32},
         layouts=("plain", "transposed", "sliced"))  # fmt: skip


def gradients(grad, input, weight, target_mask, masked_target, logits_max, sum_exp_logits, softmax):
    if softmax is None:
        softmax = (input @ weight.T - logits_max[:, None]).exp() / sum_exp_logits[:, None]
    bits = (target_mask[:, None].long() >> torch.arange(7, -1, -1) & 1).flatten()[: len(grad)]
    hit = torch.nn.functional.one_hot(masked_target.long(), WORDS) * (1 - bits)[:, None]
    by_logits = (softmax - hit) * grad[:, None]
    return by_logits @ weight, by_logits.T @ input


for kind in (torch.int32, torch.int64):
    rest = {
        "grad": T(TOKENS, dtype=torch.float32), "label_smoothing": 0.0, **products,
        "target_mask": T(3, dtype=torch.uint8, values=lambda _: torch.tensor([0b01100000, 0b1, 0b00100000]).byte()),
        "masked_target": T(TOKENS, dtype=kind, low=0, high=WORDS),
    }  # fmt: skip
    sums = {"logits_max": T(TOKENS, low=2, high=3, dtype=torch.float32),
            "sum_exp_logits": T(TOKENS, low=5, high=9, dtype=torch.float32)}  # fmt: skip
    layouts = ("plain", "transposed", "sliced")
    case("aclnnFusedLinearCrossEntropyLossGrad", gradients, HALF, softmax=None, layouts=layouts, **rest, **sums)
    case("aclnnFusedLinearCrossEntropyLossGrad", gradients, HALF, layouts=layouts, logits_max=None,
         sum_exp_logits=None, softmax=T(TOKENS, WORDS, low=0, high=0.02, dtype=torch.float32), **rest)  # fmt: skip
