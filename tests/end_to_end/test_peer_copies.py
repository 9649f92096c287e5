# SPDX-License-Identifier: Apache-2.0
"""Copies between two NPUs in every form a tensor can have, against the same copy on the CPU."""

import copy

import pytest
import torch
import torch_npu  # noqa: F401

VIEWS = {
    "transposed": lambda t: t.t(),
    "columns": lambda t: t[:, 1:4],
    "rows": lambda t: t[2:5],
    "every_second": lambda t: t[::2, 1::3],
    "one_column": lambda t: t[:, 3],
    "one_element": lambda t: t[2, 3],
    "expanded": lambda t: t[:, :1].expand(-1, 9),
    "expanded_in_front": lambda t: t[0].expand(4, -1),
    "overlapping_windows": lambda t: t.as_strided((5, 4), (2, 1), 3),
    "one_value_everywhere": lambda t: t.as_strided((6,), (0,), 5),
    "beams": lambda t: t.as_strided((6,), (5,), 0),
    "permuted": lambda t: t.reshape(6, 2, 4).permute(2, 0, 1),
    "wide_step": lambda t: t.as_strided((3, 2), (1, 9), 2),
    "empty": lambda t: t[:, 3:3],
    "unfolded": lambda t: t.unfold(1, 3, 2),
    "diagonal": lambda t: t.diagonal(),
}
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]


def numbered(dtype, shape=(6, 8)):
    numbers = torch.arange(torch.Size(shape).numel()).reshape(shape)
    return (numbers % 3 == 0) if dtype == torch.bool else numbers.to(dtype)


@pytest.mark.promise("tensors of any strides move between NPUs")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_reaches_the_other_npu(view, dtype):
    host = VIEWS[view](numbered(dtype))
    ours = VIEWS[view](numbered(dtype).to("npu:0"))
    for there, source in ((1, ours), (0, VIEWS[view](numbered(dtype).to("npu:1")))):
        moved = source.to(f"npu:{there}")
        assert moved.device.index == there
        assert torch.equal(moved.cpu(), host)
    assert torch.equal(ours.cpu(), host)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("view", ["transposed", "columns", "every_second", "one_column", "permuted", "wide_step"])
@pytest.mark.parametrize("source_is_strided", [False, True], ids=["dense", "strided"])
def test_a_view_is_filled_from_the_other_npu(view, dtype, source_is_strided):
    there = torch.zeros(6, 8, dtype=dtype)
    values = numbered(dtype, VIEWS[view](there).shape)
    if source_is_strided:
        values = values.flip(0).repeat_interleave(2, -1)[..., ::2]
    ours = there.to("npu:1")
    VIEWS[view](there).copy_(values)
    source = values.contiguous().to("npu:0")
    if source_is_strided:
        source = source.repeat_interleave(2, -1)[..., ::2]
    VIEWS[view](ours).copy_(source)
    assert torch.equal(ours.cpu(), there)


def test_a_copy_between_npus_converts():
    host = numbered(torch.float32)
    moved = torch.zeros(8, 6, dtype=torch.float16, device="npu:1")
    moved.copy_(host.to("npu:0").t())
    assert torch.equal(moved.cpu(), host.t().half())


def test_a_copy_waits_for_the_work_before_it():
    """The source is written by queued work, the target is read by the other NPU right behind the copy."""
    # Powers of a rotation: each is another matrix, and none fades away.
    turn = torch.linalg.qr(torch.randn(300, 300, generator=torch.Generator().manual_seed(3))).Q
    here, expected = turn.to("npu:0"), turn
    factor = here
    for _ in range(20):
        here, expected = here @ factor, expected @ turn
        there = here.t().to("npu:1") + 1
    torch.testing.assert_close(there.cpu(), expected.t() + 1, rtol=0, atol=1e-5)


def test_data_parallel_gives_the_gradients_of_one_device():
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    x = torch.randn(6, 8)
    both = torch.nn.DataParallel(copy.deepcopy(net).to("npu:0"), device_ids=[0, 1])
    both(x.to("npu:0")).square().sum().backward()
    net(x).square().sum().backward()
    for want, got in zip(net.parameters(), both.parameters(), strict=True):
        torch.testing.assert_close(got.grad.cpu(), want.grad, rtol=1e-5, atol=1e-6)
