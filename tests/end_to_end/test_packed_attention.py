# SPDX-License-Identifier: Apache-2.0
"""torch_npu.npu_fusion_attention over sequences one behind the other, against attention of each one in float64."""

import pytest
import torch
import torch_npu

Q, K = [3, 70, 0, 128], [9, 300, 0, 128]
HEADS, KV_HEADS, DEPTH, VALUE_DEPTH = 4, 2, 16, 8
CAUSAL = torch.ones(2048, 2048).triu(1).bool()


def ends(lengths):
    return torch.tensor(lengths).cumsum(0).tolist()


def reference(query, key, value, mode, keep=None, keep_prob=1.0):
    """One sequence after the other; `keep` holds what dropout keeps of the scores [N, Sq, Skv] of each."""
    results, first = [], 0
    for q, k, v in zip(query.split(Q), key.split(K), value.split(K), strict=True):
        q, k, v = (t.transpose(0, 1) for t in (q, k, v))
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, 0) for t in (k, v))
        scores = q @ k.mT * 0.3
        off = torch.ones(scores.shape[1:]).triu(1 if mode == 2 else 1 + k.shape[1] - q.shape[1]).bool()
        p = (scores.masked_fill(off, -torch.inf) if mode else scores).softmax(-1)
        if keep is not None:
            p = p * keep[first : first + p.numel()].view(p.shape) / keep_prob
            first += p.numel()
        results.append((p @ v).transpose(0, 1))
    return torch.cat(results)


def inputs(dtype):
    g = torch.Generator().manual_seed(1)
    shapes = (
        (sum(Q), HEADS, DEPTH),
        (sum(K), KV_HEADS, DEPTH),
        (sum(K), KV_HEADS, VALUE_DEPTH),
        (sum(Q), HEADS, VALUE_DEPTH),
    )
    return [torch.randn(s, generator=g).to(dtype) for s in shapes]


def check(function, tensors, dtype, expected):
    """Result and gradients of `function` are the reference's."""
    *leaves, dy = tensors
    ours = [t.npu().requires_grad_() for t in leaves]
    theirs = [t.double().requires_grad_() for t in leaves]
    result, wanted = function(*ours), expected(*theirs)
    result.backward(dy.npu())
    wanted.backward(dy.double())
    tolerance = {torch.float32: 4e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    for got, want in [(result, wanted), *((a.grad, b.grad) for a, b in zip(ours, theirs, strict=True))]:
        assert got.dtype == dtype
        assert (got.cpu().double() - want).abs().max() <= tolerance * want.abs().max()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("mode", [0, 2, 3])
@pytest.mark.parametrize("layout", ["", "TND"])
def test_each_sequence_is_attention_of_its_own(dtype, mode, layout):
    mask = {"atten_mask": CAUSAL.npu(), "sparse_mode": mode} if mode else {}

    def packed(q, k, v):
        return torch_npu.npu_fusion_attention(
            q, k, v, HEADS, "TND", scale=0.3, actual_seq_qlen=ends(Q), actual_seq_kvlen=ends(K), softmax_layout=layout,
            **mask,
        )[0]  # fmt: skip

    check(packed, inputs(dtype), dtype, lambda q, k, v: reference(q, k, v, mode))


def test_dropout_keeps_the_same_scores_forward_and_backward():
    count = HEADS * sum(q * k for q, k in zip(Q, K, strict=True))
    torch.npu.manual_seed(5)
    state = torch.npu.get_rng_state()
    torch.npu.set_rng_state(state)

    def packed(q, k, v):
        torch.npu.manual_seed(5)
        out = torch_npu.npu_fusion_attention(
            q, k, v, HEADS, "TND", scale=0.3, keep_prob=0.75, actual_seq_qlen=ends(Q), actual_seq_kvlen=ends(K)
        )
        assert out[6] == count
        packed.seed, packed.offset = out[4], out[5]
        return out[0]

    def keep():
        bits = torch_npu._npu_dropout_gen_mask(
            torch.zeros(1, device="npu"), [count], p=0.25, seed=packed.seed, offset=packed.offset
        ).cpu()
        return torch.stack([(bits >> i) & 1 for i in range(8)], -1).flatten()[:count].double()

    check(packed, inputs(torch.float32), torch.float32, lambda q, k, v: reference(q, k, v, 0, keep(), 0.75))


def test_rope_parts_are_further_columns():
    *leaves, dy = inputs(torch.float32)
    q, k, v = leaves
    rope = [q[..., 12:], k[..., 12:]]

    def packed(q, k, v, q_rope, k_rope):
        return torch_npu.npu_fusion_attention_v2(
            q, k, v, HEADS, "TND", query_rope=q_rope, key_rope=k_rope, scale=0.3, actual_seq_qlen=ends(Q),
            actual_seq_kvlen=ends(K),
        )[0]  # fmt: skip

    def whole(q, k, v, q_rope, k_rope):
        return reference(torch.cat([q, q_rope], -1), torch.cat([k, k_rope], -1), v, 0)

    tensors = [t.contiguous() for t in (q[..., :12], k[..., :12], v, *rope, dy)]
    check(packed, tensors, torch.float32, whole)


def test_a_sink_takes_its_share():
    """It is a key of its own score and the value 0: the same as one key more whose product is that score."""
    g = torch.Generator().manual_seed(2)
    q, k, v, dy = (torch.randn(5, HEADS, 8, generator=g) for _ in range(4))
    sink = torch.randn(HEADS, generator=g)

    def packed(q, k, v, sink):
        lengths = {"actual_seq_qlen": torch.tensor([5]), "actual_seq_kvlen": torch.tensor([5])}
        return torch_npu.npu_fusion_attention_v3(q, k, v, HEADS, "TND", scale=0.3, sink=sink, **lengths)[0]

    def whole(q, k, v, sink):
        scores = torch.einsum("qnd,knd->nqk", q, k) * 0.3
        p = torch.cat([scores, sink.view(-1, 1, 1).expand(-1, 5, 1)], -1).softmax(-1)[..., :-1]
        return torch.einsum("nqk,knd->qnd", p, v)

    check(packed, [q, k, v, sink, dy], torch.float32, whole)


def test_graphs_ask_for_the_largest_workspace():
    q, k, v, _ = (t.npu() for t in inputs(torch.float16))
    lengths = {"actual_seq_qlen": torch.tensor(ends(Q)), "actual_seq_kvlen": torch.tensor(ends(K))}
    size = torch.ops.npu._npu_fusion_attention_v3_get_max_workspace(q, k, v, HEADS, "TND", **lengths)
    assert size.numel() == 0


def test_lengths_that_do_not_fit_are_refused():
    q, k, v, _ = (t.npu() for t in inputs(torch.float32))
    with pytest.raises(RuntimeError, match="actual_seq_qlen.1. is 400"):
        torch_npu.npu_fusion_attention(q, k, v, HEADS, "TND", actual_seq_qlen=[3, 400], actual_seq_kvlen=[9, 309])
        torch.npu.synchronize()
