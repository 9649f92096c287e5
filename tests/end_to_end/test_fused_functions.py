# SPDX-License-Identifier: Apache-2.0
"""Functions of torch_npu that do at once what small operators do one by one, against these on the CPU."""

import copy

import pytest
import torch
import torch.nn.functional as F
import torch_npu

HALF = torch.float16


def rand(*shape, dtype=torch.float32, low=-1.0, high=1.0):
    return (torch.rand(*shape) * (high - low) + low).to(dtype)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(5)


def close(got, want, tolerance=1e-5):
    want = want.float()
    torch.testing.assert_close(got.cpu().float(), want, rtol=tolerance, atol=tolerance * want.abs().max().item())


def test_filtered_logits_sample_what_a_sampler_would_keep():
    logits, k, p = rand(4, 500, low=-8, high=8), torch.tensor([1, 5, 80, 500]), torch.tensor([0.9, 0.5, 0.8, 1.0])
    got = torch_npu.npu_top_k_top_p(logits.npu(), p.npu(), k.int().npu()).cpu()
    for row, (number, share) in enumerate(zip(k.tolist(), p.tolist(), strict=True)):
        values, order = logits[row].sort(descending=True)
        values[number:] = -torch.inf
        chances = values.double().softmax(-1)
        before = chances.cumsum(-1) - chances
        kept = order[(before < share) & values.isfinite()]
        assert set(kept.tolist()) == set(got[row].isfinite().nonzero().flatten().tolist())
        assert torch.equal(got[row][kept], logits[row][kept])


def test_an_update_of_low_rank_is_added():
    y, x, a, b = (
        rand(4, 32, dtype=HALF),
        rand(4, 16, dtype=HALF),
        rand(2, 1, 16, 16, dtype=HALF),
        rand(2, 1, 32, 16, dtype=HALF),
    )
    which = torch.tensor([1, 0, -1, 1], dtype=torch.int32)
    ours = y.npu()
    torch_npu.npu_batch_gather_matmul_(ours, x.npu(), b.npu(), which.npu(), a.npu(), scale=0.5)
    want = y.float()
    for i, w in enumerate(which.tolist()):
        want[i] += 0 if w < 0 else 0.5 * (b[w, 0].float() @ (a[w, 0].float() @ x[i].float()))
    close(ours, want, 1e-3)


def test_a_feed_forward_part_is_two_products():
    x, first, second = rand(2, 3, 32, dtype=HALF), rand(32, 64, dtype=HALF), rand(64, 32, dtype=HALF)
    got = torch_npu.npu_ffn(x.npu(), first.npu(), second.npu(), "silu")
    close(got, F.silu(x.float() @ first.float()) @ second.float(), 1e-3)


def test_a_batch_of_heads_is_projected_back():
    x, weight = rand(7, 4, 16, dtype=HALF), rand(4, 16, 12, dtype=HALF)
    got = torch_npu.npu_transpose_batchmatmul(x.npu(), weight.npu(), perm_x1=[1, 0, 2], perm_y=[1, 0, 2])
    close(got, torch.einsum("mbk,bkn->mbn", x.float(), weight.float()), 1e-3)


def test_regions_are_pooled_as_the_documentation_shows():
    image = torch.arange(1.0, 37.0).view(1, 1, 6, 6)
    roi = torch.tensor([[0, -2.0, -2.0, 22.0, 22.0]])
    got = torch_npu.npu_roi_align(image.npu(), roi.npu(), 0.25, 3, 3, 2, 0)
    close(got, torch.tensor([[[[4.5, 6.5, 8.5], [16.5, 18.5, 20.5], [28.5, 30.5, 32.5]]]]))


def test_a_deformable_convolution_that_moves_nothing_is_half_a_convolution():
    """Its offsets start at 0, and its masks at one half."""
    from torch_npu.contrib.module import ModulatedDeformConv

    layer = ModulatedDeformConv(8, 4, 3, 1, 1).npu()
    x = rand(2, 8, 9, 9)
    ours, theirs = x.npu().requires_grad_(), x.clone().requires_grad_()
    weight, bias = (copy.deepcopy(p.detach()).cpu().requires_grad_() for p in (layer.weight, layer.bias))
    got, want = layer(ours), F.conv2d(theirs, weight / 2, bias, padding=1)
    close(got.detach(), want.detach())
    got.square().sum().backward()
    want.square().sum().backward()
    close(ours.grad, theirs.grad)
    close(layer.weight.grad, weight.grad)


@pytest.mark.parametrize("keep_logits", [True, False])
def test_a_shared_vocabulary_gives_the_cross_entropy_of_a_whole_one(keep_logits):
    x, weight, target = rand(20, 16, dtype=HALF), rand(256, 16, dtype=HALF), torch.randint(0, 256, (20,))
    parts = []
    for start in (0, 128):
        there = x.npu(), weight[start : start + 128].contiguous().npu(), target.int().npu()
        parts.append((there, torch_npu.npu_fused_linear_online_max_sum(*there, start, start + 127, keep_logits)))
    # What the devices exchange.
    tops = torch.stack([made[0] for _, made in parts])
    top = tops.amax(0)
    total = sum(made[1] * (made[0] - top).exp() for _, made in parts)
    inside = [torch.arange(20, device="npu") >= 0 for _ in parts]
    hits = [((target >= s) & (target < s + 128)).npu() & i for s, i in zip((0, 128), inside, strict=True)]
    predicted = sum(torch.where(h, made[2] + made[0] - top, 0.0) for h, (_, made) in zip(hits, parts, strict=True))
    leaves = [t.float().requires_grad_() for t in (x, weight)]
    loss = F.cross_entropy(leaves[0] @ leaves[1].T, target, reduction="none")
    loss.sum().backward()
    grads = []
    for (ours, part, _), made in parts:
        logits = {"vocab_parallel_logits": made[5]} if keep_logits else {}
        got, softmax = torch_npu.npu_fused_cross_entropy_loss_with_max_sum(top, total, predicted, **logits)
        close(got, loss.detach(), 1e-4)
        given = {"softmax": softmax} if keep_logits else {"logits_max": top, "sum_exp_logits": total}
        one = torch.ones(20, device="npu")
        grads.append(
            torch_npu.npu_fused_linear_cross_entropy_loss_with_max_sum_backward(
                one, ours, part, made[3], made[4], **given
            )
        )
    close(grads[0][0] + grads[1][0], leaves[0].grad, 3e-3)
    close(torch.cat([g[1] for g in grads]), leaves[1].grad, 3e-3)


def test_linear_attention_goes_on_where_its_prompt_ended():
    """A prompt at once and a token at a time give what all of it gives at once."""
    q, k, v = (rand(6, heads, 16, dtype=torch.bfloat16, low=-0.2, high=0.2).npu() for heads in (2, 2, 4))
    beta, g = rand(6, 4, dtype=torch.bfloat16, low=0).npu(), -rand(6, 4, low=0).npu()
    one = {"scale": 0.25}

    def of(first, last):
        return [t[first:last].contiguous() for t in (q, k, v)], {"beta": beta[first:last], "g": g[first:last], **one}

    def lengths(*numbers):
        return torch.tensor(numbers, dtype=torch.int32, device="npu")

    start = torch.zeros(1, 4, 16, 16, dtype=torch.bfloat16, device="npu")
    tensors, options = of(0, 6)
    whole, _ = torch_npu.npu_chunk_gated_delta_rule(
        *tensors, initial_state=start, actual_seq_lengths=lengths(6), **options
    )
    tensors, options = of(0, 5)
    _, state = torch_npu.npu_chunk_gated_delta_rule(
        *tensors, initial_state=start, actual_seq_lengths=lengths(5), **options
    )
    tensors, options = of(5, 6)
    last = torch_npu.npu_recurrent_gated_delta_rule(
        *tensors, state, actual_seq_lengths=lengths(1), ssm_state_indices=lengths(0), **options
    )
    close(last, whole[5:].cpu(), 2e-2)


def test_compressed_keys_have_gradients():
    x, weight = rand(70, 2, 16, dtype=HALF), rand(32, 2, dtype=HALF)
    ours = [t.npu().requires_grad_() for t in (x, weight)]
    theirs = [t.float().requires_grad_() for t in (x, weight)]
    got = torch_npu.npu_nsa_compress(*ours, 32, 16, actual_seq_len=[33, 70])
    begins = (0, 33)
    want = torch.stack([(theirs[0][b : b + 32] * theirs[1][..., None]).sum(0) for b in begins])
    close(got.detach(), want.detach(), 1e-3)
    got.float().square().sum().backward()
    want.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad, 3e-3)
