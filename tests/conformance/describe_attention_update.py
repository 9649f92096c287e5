# SPDX-License-Identifier: Apache-2.0
"""Cases of joining what attention gave over parts of the keys; the oracles are the documented formulas in float64."""

import torch
from case import T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
STATISTICS = {"softmax_max": torch.float32, "softmax_sum": torch.float32}
N, D = 3, 10
ENDS = [0, 70, 70, 75]  # from 0 on, one sequence without queries, rows behind the last


def statistic(*shape, low, high, empty=None):
    """Float32 numbers in 8 copies; at `empty`, of the first row, minus infinity or 0: a part without a key."""

    def made(g):
        numbers = low + (high - low) * torch.rand(*shape, 1, generator=g)
        if empty is not None:
            numbers.view(-1)[0] = empty
        return numbers.expand(*shape, 8).contiguous()

    return T(*shape, 8, dtype=torch.float32, values=made)


def joined(a_max, a_sum, b_max, b_sum):
    """Maximum and sum of both parts, and the share of each."""
    top = torch.maximum(a_max, b_max)
    a, b = ((s * (m - top).exp()).nan_to_num() for m, s in ((a_max, a_sum), (b_max, b_sum)))
    return top, a + b, a / (a + b), b / (a + b)


def as_rows(t, layout):
    """A statistic [T, N, 8] as packed attention leaves it, each sequence a block [N, S, 8], with its rows in order."""
    if layout == "TND":
        return t
    ends = [0, *ENDS[1:], t.shape[0]]
    flat = t.reshape(-1, 8)
    blocks = [flat[a * N : b * N].view(N, b - a, 8).transpose(0, 1) for a, b in zip(ends, ends[1:], strict=False)]
    return torch.cat(blocks)


def of_batch(prev_attn_out, prev_softmax_max, prev_softmax_sum, cur_attn_out, cur_softmax_max, cur_softmax_sum):
    top, total, a, b = joined(prev_softmax_max, prev_softmax_sum, cur_softmax_max, cur_softmax_sum)
    a, b = (t[..., :1].permute(2, 0, 1, 3).expand(-1, -1, -1, D).flatten(2) for t in (a, b))
    return prev_attn_out * a + cur_attn_out * b, top, total


def of_packed(layout):
    def oracle(prev_attn_out, prev_softmax_max, prev_softmax_sum, cur_attn_out, cur_softmax_max, cur_softmax_sum):
        given = prev_softmax_max, prev_softmax_sum, cur_softmax_max, cur_softmax_sum
        top, total, *_ = joined(*given)  # each number by itself, wherever it lies
        *_, a, b = joined(*(as_rows(t, layout) for t in given))
        return prev_attn_out * a[..., :1] + cur_attn_out * b[..., :1], top, total

    return oracle


def ring(oracle, out, softmax, layouts, **options):
    given = {f"{w}_attn_out": T(*out) for w in ("prev", "cur")}
    given |= {"prev_softmax_max": statistic(*softmax, low=-3, high=3, empty=float("-inf"))}
    given |= {"prev_softmax_sum": statistic(*softmax, low=1, high=9, empty=0.0)}
    given |= {"cur_softmax_max": statistic(*softmax, low=-3, high=3)}
    given |= {"cur_softmax_sum": statistic(*softmax, low=1, high=9)}
    blank = {"actual_seq_qlen": None, "input_softmax_layout": ""}
    case("aclnnRingAttentionUpdateV2", oracle, HALF, layouts=layouts, out_dtypes=STATISTICS,
         **(blank | given | options))  # fmt: skip


STRIDED = ("plain", "transposed", "sliced")
ends = T(values=lambda _: torch.tensor(ENDS), dtype=torch.int64)
ring(of_batch, (80, 2, N * D), (2, N, 80), STRIDED, input_layout="SBH")
ring(of_packed("TND"), (80, N, D), (80, N), STRIDED, input_layout="TND", input_softmax_layout="TND")
ring(of_packed(""), (80, N, D), (80, N), ("plain",), input_layout="TND", actual_seq_qlen=ends)


def by_lse(lse, local_out):
    stacked, parts = torch.stack(lse), torch.stack(local_out)
    whole = stacked.logsumexp(0)
    share = torch.where(stacked.isinf(), 0.0, (stacked - whole).exp())
    return (parts * share.unsqueeze(-1)).sum(0), whole


def lse(*lost):
    """Of three parts and 130 rows, some without a key in the parts named."""

    def part(i):
        def made(g):
            return torch.rand(130, generator=g) * 8 - 4 if i not in lost else torch.full((130,), float("-inf"))

        return T(130, dtype=torch.float32, values=made)

    return [part(i) for i in range(3)]


for lost in ((), (1,), (0, 1, 2)):
    given = {"lse": lse(*lost), "local_out": [T(130, 24)] * 3}
    case("aclnnAttentionUpdate", by_lse, HALF, layouts=STRIDED, out_dtypes={"lse_out": torch.float32}, update_type=1,
         **given)  # fmt: skip
    case("aclnnAttentionUpdate", lambda lse, local_out: (by_lse(lse, local_out)[0], None), HALF, layouts=("plain",),
         update_type=0, **given)  # fmt: skip
