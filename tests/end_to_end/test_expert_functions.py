# SPDX-License-Identifier: Apache-2.0
"""What servers of large models call through torch_npu: experts' products with what follows them, keys chosen by their
scores, projections that are kept, convolutions over the steps before."""

import pytest
import torch
import torch_npu

NZ = 29


def generator():
    return torch.Generator().manual_seed(7)


def bytes_of(*shape):
    return torch.randint(-128, 128, shape, dtype=torch.int8, generator=generator())


def experts(x, w, scale, tokens, ends):
    made, begin = torch.zeros(len(x), w.shape[2], dtype=torch.float64), 0
    for g, end in enumerate(ends):
        made[begin:end] = x[begin:end].double() @ w[g].double() * scale[g] * tokens[begin:end, None]
        begin = end
    return made


@pytest.fixture
def weights():
    torch.npu.config.allow_internal_format = True
    w = bytes_of(3, 48, 64)
    yield w, {"plain": w.npu(), "blocked": torch_npu.npu_format_cast(w.npu(), NZ)}
    torch.npu.config.allow_internal_format = False


@pytest.mark.parametrize("layout", ["plain", "blocked"])
def test_experts_are_finalised(weights, layout):
    w, laid = weights
    x, scale, tokens, logit = bytes_of(12, 48), torch.rand(3, 64), torch.rand(12), torch.rand(12)
    shared, places = torch.randn(2, 64).bfloat16(), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0])
    got = torch_npu.npu_grouped_matmul_finalize_routing(
        x.npu(), laid[layout], torch.tensor([4, 0, 8]).npu(), scale=scale.npu(), pertoken_scale=tokens.npu(),
        shared_input=shared.npu(), logit=logit.npu(), row_index=places.npu(), shared_input_offset=1, output_bs=4,
    )  # fmt: skip
    want = torch.zeros(4, 64, dtype=torch.float64)
    want.index_add_(0, places, experts(x, w, scale, tokens, [4, 4, 12]) * logit[:, None])
    want[1:3] += shared
    torch.testing.assert_close(got.cpu().double(), want, rtol=1e-5, atol=1e-5 * want.abs().max().item())


@pytest.mark.parametrize("layout", ["plain", "blocked"])
def test_experts_are_gated_and_quantised(weights, layout):
    w, laid = weights
    x, scale, tokens, ends = bytes_of(12, 48), torch.rand(3, 64) / 100, torch.rand(12), torch.tensor([4, 4, 12])
    left, right = experts(x, w, scale, tokens, ends.tolist()).chunk(2, -1)
    made = left * left.sigmoid() * right
    got, factor = torch_npu.npu_grouped_matmul_swiglu_quant_v2(
        x.npu(), [laid[layout]], [scale.npu()], tokens.npu(), ends.npu(), quant_dtype=1
    )
    torch.testing.assert_close(factor.cpu().double(), made.abs().amax(-1) / 127, rtol=1e-5, atol=1e-5)
    assert (got.cpu() - made / factor.cpu()[:, None]).abs().max() < 0.51
    if layout == "blocked":
        got, *_ = torch_npu.npu_grouped_matmul_swiglu_quant(
            x.npu(), laid[layout], ends.npu(), scale.npu(), tokens.npu()
        )
        assert (got.cpu() - made / factor.cpu()[:, None]).abs().max() < 0.51


def test_keys_are_chosen_by_their_scores():
    g = generator()
    query, key = torch.randn(2, 3, 64, 128, generator=g).half(), torch.randn(2, 40, 1, 128, generator=g).half()
    weights = torch.rand(2, 3, 64, generator=g).half()
    indices, values = torch_npu.npu_lightning_indexer(query.npu(), key.npu(), weights.npu(), sparse_count=8,
                                                      return_value=True)  # fmt: skip
    products = torch.einsum("bsnd,btd->bsnt", query.double(), key[:, :, 0].double()).clamp(min=0)
    scores = (products * weights.double()[..., None]).sum(2)
    scores += torch.full((3, 40), float("-inf"), dtype=torch.float64).triu(38)
    top = scores.topk(8)
    assert torch.equal(indices.cpu()[:, :, 0].sort()[0], top.indices.int().sort()[0])
    torch.testing.assert_close(values.cpu()[:, :, 0].double(), top.values, rtol=1e-3, atol=1e-3)


def test_projections_are_normalised_turned_and_kept():
    g, depth = generator(), 32
    qkv, gammas = torch.randn(6, 6 * depth, generator=g).half(), torch.rand(2, depth, generator=g).half()
    cos, sin = torch.rand(2, 6, depth, generator=g).half()
    q_out, caches = torch.zeros(6, 4 * depth).half().npu(), [torch.zeros(4, 2, 8, 16).half().npu() for _ in range(2)]
    index = torch.tensor([3, -1, 11, 0, 6, 31])
    before = torch_npu.npu_qkv_rms_norm_rope_cache(
        qkv.npu(), gammas[0].npu(), gammas[1].npu(), cos.npu(), sin.npu(), index.npu(), q_out, *caches,
        [2, 3, 6, depth], [4, 1, 1], cache_mode="PA_NZ", is_output_qkv=True,
    )  # fmt: skip
    x = qkv[:, : 4 * depth].unflatten(1, (4, depth)).double()
    x = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gammas[0].double()
    a, b = x.chunk(2, -1)
    want = x * cos.double().unsqueeze(1) + torch.cat([-b, a], -1) * sin.double().unsqueeze(1)
    torch.testing.assert_close(q_out.cpu().double(), want.flatten(1), rtol=2e-3, atol=2e-3)
    assert torch.equal(before[0].cpu(), q_out.cpu()) and torch.equal(before[2].cpu(), qkv[:, 5 * depth :])
    kept = caches[1].cpu().transpose(1, 2).reshape(32, depth)
    there = index[index >= 0]
    assert torch.equal(kept[there], qkv[:, 5 * depth :][index >= 0]) and kept.count_nonzero() <= 5 * depth


def test_steps_before_are_convolved():
    g = generator()
    x, w = torch.randn(9, 2, 16, generator=g), torch.randn(3, 16, generator=g)
    mask = torch.rand(2, 9, generator=g) > 0.3
    ours = [t.npu().requires_grad_() for t in (x, w)]
    theirs = [t.double().requires_grad_() for t in (x, w)]
    got = torch_npu.npu_masked_causal_conv1d(*ours, mask=mask.npu())
    padded = torch.nn.functional.pad(theirs[0].permute(1, 2, 0), (2, 0))
    want = torch.nn.functional.conv1d(padded, theirs[1].t().unsqueeze(1), groups=16).permute(2, 0, 1)
    want = want * mask.t().unsqueeze(-1)
    got.sum().backward()
    want.sum().backward()
    for a, b in ((got, want), (ours[0].grad, theirs[0].grad), (ours[1].grad, theirs[1].grad)):
        torch.testing.assert_close(a.detach().cpu().double(), b.detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["perchannel", "pertensor"])
def test_columns_or_all_numbers_share_a_scale(mode):
    x = torch.randn(40, 48, generator=generator()).half()
    got, scale = torch_npu.npu_dynamic_quant(x.npu(), quant_mode=mode)
    want = (x.double().abs().amax(0) if mode == "perchannel" else x.double().abs().max().reshape(1)) / 127
    torch.testing.assert_close(scale.cpu().double(), want, rtol=1e-6, atol=0)
    assert (got.cpu() - x.double() / want).abs().max() < 0.51


def test_a_cache_of_bytes_takes_rounded_updates():
    cache = torch.zeros(2, 8, 32, dtype=torch.int8)
    updates, scale = torch.randn(2, 1, 32, generator=generator()).half(), torch.rand(1, 1, 32) + 0.1
    got = torch_npu.npu_quant_scatter(cache.npu(), torch.tensor([5, 0], dtype=torch.int32).npu(), updates.npu(),
                                      scale.npu(), axis=-2, quant_axis=-1, reduce="update")  # fmt: skip
    cache[0, 5], cache[1, 0] = (updates.double() / scale.double()).round().to(torch.int8)[:, 0]
    assert torch.equal(got.cpu(), cache)


def test_edges_attend_to_pairs_of_edges():
    g, (b, h, i, j, k, d) = generator(), (1, 2, 16, 32, 32, 32)
    shapes = [(i, k), (i, j), (i, j), (j, k), (j, k)]
    theirs = [torch.randn(b, h, *s, d, generator=g).double().requires_grad_() for s in shapes]
    ours = [t.detach().float().npu().requires_grad_() for t in theirs]
    mask = torch.rand(b, 1, i, 1, j, generator=g) > 0.7
    q, k1, v1, k2, v2 = theirs
    s = torch.einsum("bhikc,bhijc->bhikj", q, k1) + torch.einsum("bhikc,bhjkc->bhikj", q, k2)
    p = ((s - 4e9 * mask) * 0.2).softmax(-1)
    want = torch.einsum("bhikj,bhijc->bhikc", p, v1) + torch.einsum("bhikj,bhjkc->bhikc", p, v2)
    *_, got = torch_npu.npu_fused_floyd_attention(*ours, atten_mask=mask.npu(), scale_value=0.2)
    grad = torch.randn(got.shape, generator=g)
    got.backward(grad.npu())
    want.backward(grad.double())
    for a, b in [(got, want), *((x.grad, y.grad) for x, y in zip(ours, theirs, strict=True))]:
        torch.testing.assert_close(a.detach().cpu().double(), b.detach(), rtol=1e-4, atol=1e-4)


X, W, F32 = torch.ones(4, 48, dtype=torch.int8), torch.ones(2, 48, 64, dtype=torch.int8), torch.ones(2, 64)
ENDS, ROW = torch.tensor([2, 4]), torch.ones(4)
HALVES = torch.ones(1, 2, 64, 128).half()
CUBE = torch.ones(1, 1, 16, 32, 32).half()
REFUSED = {
    "bias is": lambda: torch_npu.npu_grouped_matmul_finalize_routing(
        X.npu(), W.npu(), ENDS.npu(), scale=F32.npu(), pertoken_scale=ROW.npu(), bias=F32.npu(),
        row_index=torch.arange(4).npu()),
    "dequantMode is 1": lambda: torch_npu.npu_grouped_matmul_swiglu_quant_v2(
        X.npu(), [W.npu()], [F32.npu()], ROW.npu(), ENDS.npu(), dequant_mode=1, quant_dtype=1),
    "sparse_mode is 1": lambda: torch_npu.npu_lightning_indexer(
        HALVES.npu(), HALVES[:, :, :1].npu(), HALVES[..., 0].npu(), sparse_count=2, sparse_mode=1),
    "cache_mode is PA_BNSD": lambda: torch_npu.npu_qkv_rms_norm_rope_cache(
        torch.ones(2, 96).half().npu(), *torch.ones(2, 32).half().npu(), *torch.ones(2, 2, 32).half().npu(),
        torch.arange(2).npu(), torch.ones(2, 32).half().npu(), *torch.ones(2, 1, 2, 4, 16).half().npu(),
        [1, 2, 3, 32], [1, 1, 1], cache_mode="PA_BNSD"),
    "mask is": lambda: torch_npu.npu_masked_causal_conv1d(
        torch.ones(9, 2, 16).npu(), torch.ones(3, 16).npu(), mask=torch.ones(9, 2).bool().npu()),
    "quant_mode is 'perrow'": lambda: torch_npu.npu_dynamic_quant(torch.ones(4, 8).half().npu(), quant_mode="perrow"),
    "dst_type_max is 15": lambda: torch_npu.npu_dynamic_quant(torch.ones(4, 8).half().npu(), dst_type_max=15.0),
    "atten_mask is": lambda: torch_npu.npu_fused_floyd_attention(
        *[CUBE.npu()] * 2, CUBE.npu(), *[CUBE.new_ones(1, 1, 32, 32, 32).npu()] * 2,
        atten_mask=torch.zeros(1, 1, 16, 32, 32).bool().npu()),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_built_is_refused_by_name(text):
    with pytest.raises(RuntimeError) as refusal:
        REFUSED[text]()
        torch.npu.synchronize()
    assert text in str(refusal.value)
