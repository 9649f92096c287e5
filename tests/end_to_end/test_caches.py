# SPDX-License-Identifier: Apache-2.0
"""What servers call through torch_npu: caches in blocks, joined results, rotations by a table."""

import pytest
import torch
import torch_npu

SLOTS = torch.tensor([33, 0, 15, 16, 60], dtype=torch.int32)


def tokens(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape))).half()


@pytest.mark.parametrize("mode", [None, "Norm", "PA_NZ"])
def test_tokens_go_to_their_slots(mode):
    key, value = tokens(5, 2, 32), tokens(5, 2, 16)
    if mode == "PA_NZ":
        caches = [torch.zeros(4, 2 * t.shape[2] // 16, 16, 16, dtype=torch.float16) for t in (key, value)]
        ours = [torch_npu.npu_format_cast(c.npu(), 29) for c in caches]
    else:
        caches = [torch.zeros(4, 16, 2, t.shape[2], dtype=torch.float16) for t in (key, value)]
        ours = [c.npu() for c in caches]
    torch_npu.npu_scatter_pa_kv_cache(key.npu(), value.npu(), *ours, SLOTS.npu(), cache_mode=mode)
    for cache, made, given in zip(caches, ours, (key, value), strict=True):
        rows = cache.transpose(1, 2).reshape(64, -1) if mode == "PA_NZ" else cache.view(64, -1)
        rows[SLOTS.long()] = given.flatten(1)
        if mode == "PA_NZ":
            rows = rows.view(4, 16, -1, 16).transpose(1, 2)
        assert torch.equal(torch_npu.npu_format_cast(made, 2).cpu(), rows.reshape(cache.shape))


def test_a_sequence_is_read_back_from_its_blocks():
    cache = tokens(6, 16, 2, 8)
    table, lengths = torch.tensor([[5, 1], [0, 3]], dtype=torch.int32), torch.tensor([20, 3], dtype=torch.int32)
    key, value = (torch.zeros(23, 2, 8, dtype=torch.float16).npu() for _ in range(2))
    torch_npu.npu_gather_pa_kv_cache(cache.npu(), cache.npu(), table.npu(), lengths.npu(), key, value)
    wanted = torch.cat([cache[5], cache[1][:4], cache[0][:3]])
    assert torch.equal(key.cpu(), wanted) and torch.equal(value.cpu(), wanted)


def attend(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 4, "TND", scale=0.3, actual_seq_qlen=[3, 12],
                                          actual_seq_kvlen=[k.shape[0] // 2, k.shape[0]])[:3]  # fmt: skip


def test_attention_over_parts_of_the_keys_is_joined():
    """Two halves of each sequence's keys, as two ranks of a ring have them, give what all keys give."""
    g = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(n, 4, 16, generator=g).npu() for n in (12, 20, 20))
    halves = [torch.cat([t[a : a + 5], t[a + 10 : a + 15]]) for t in (k, v) for a in (0, 5)]
    first, second = attend(q, halves[0], halves[2]), attend(q, halves[1], halves[3])
    ends = torch.tensor([0, 3, 12]).npu()
    joined = torch_npu.npu_ring_attention_update(*first, *second, actual_seq_qlen=ends, input_layout="TND")
    for got, want in zip(joined, attend(q, k, v), strict=True):
        torch.testing.assert_close(got, want, rtol=2e-6, atol=2e-6)


def test_parts_are_joined_by_their_logarithms():
    lse, out = [torch.randn(6) for _ in range(3)], [torch.randn(6, 8) for _ in range(3)]
    got, whole = torch_npu.npu_attention_update([t.npu() for t in lse], [t.npu() for t in out], 0)
    share = torch.stack(lse).double().softmax(0).unsqueeze(-1)
    torch.testing.assert_close(got.cpu().double(), (share * torch.stack(out)).sum(0), rtol=1e-5, atol=1e-5)


def test_heads_are_turned_by_a_table():
    table = torch.rand(9, 16)
    positions, query, key = torch.tensor([8, 0, 3]), torch.randn(3, 64), torch.randn(3, 16)
    got, _ = torch_npu.npu_mrope(positions.npu(), query.npu(), key.npu(), table.npu(), 16, mrope_section=[0, 0, 0])
    cos, sin = table[positions].unsqueeze(1).chunk(2, -1)
    a, b = query.view(3, 4, 16).chunk(2, -1)
    torch.testing.assert_close(got.cpu(), torch.cat([a * cos - b * sin, b * cos + a * sin], -1).flatten(1))


def test_latent_attention_keeps_normalised_and_turned_columns():
    kv, gamma, angles = tokens(2, 1, 3, 576), tokens(512), tokens(2, 1, 3, 64)
    caches = torch.zeros(2, 16, 1, 64).half().npu(), torch.zeros(2, 16, 1, 512).half().npu()
    index = torch.tensor([3, 4, 5, 31, 0, 17])
    *_, turned, normed = torch_npu.npu_kv_rmsnorm_rope_cache(
        kv.npu(), gamma.npu(), angles.npu(), angles.npu(), index.npu(), *caches, cache_mode="PA", is_output_kv=True
    )
    x = kv[..., :512].double()
    wanted = x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * gamma.double()
    torch.testing.assert_close(normed.cpu().double(), wanted, rtol=2e-3, atol=2e-3)
    assert torch.equal(caches[1].cpu().view(32, 512)[index], normed.cpu().view(6, 512))
    assert torch.equal(caches[0].cpu().view(32, 64)[index], turned.cpu().view(6, 64))
