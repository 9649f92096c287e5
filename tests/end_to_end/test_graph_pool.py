# SPDX-License-Identifier: Apache-2.0
"""Graphs that share a pool of memory, modules whose passes are graphs, and torch.compile, which makes such graphs."""

import copy

import pytest
import torch
import torch_npu  # noqa: F401
from test_graph import network, pytestmark  # noqa: F401
from torch import nn


def test_graphs_of_one_pool_run_one_behind_the_other():
    x = torch.ones(1000, device="npu")
    first, second = torch.npu.NPUGraph(), torch.npu.NPUGraph()
    with torch.npu.graph(first, pool=torch.npu.graph_pool_handle()):
        y = x * 2 + 1
    with torch.npu.graph(second, pool=first.pool()):
        z = y * 3 + x
    assert first.pool() == second.pool()
    for value in (1.0, 2.0, 5.0):
        x.fill_(value)
        first.replay()
        second.replay()
        assert y.cpu().eq(2 * value + 1).all() and z.cpu().eq(7 * value + 3).all()


def test_memory_of_a_graph_that_is_reset_serves_again():
    x = torch.ones(1 << 20, device="npu")
    torch.npu.synchronize()
    torch.npu.empty_cache()
    before = torch.npu.memory_reserved()
    for _ in range(3):
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            y = x + 1
        graph.replay()
        assert y[-1].item() == 2
        del y
        graph.reset()
        torch.npu.empty_cache()
    assert torch.npu.memory_reserved() <= before


def backward_agrees(ours, reference, graphed):
    """Some steps on new tensors, at other addresses than those of the capture."""
    for seed in range(3):
        x = torch.randn(5, 16, generator=torch.Generator().manual_seed(seed))
        there, here = x.npu().requires_grad_(), x.clone().requires_grad_()
        got, want = graphed(there).square().sum(), reference(here).square().sum()
        got.backward()
        want.backward()
        torch.testing.assert_close(got.cpu(), want, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(there.grad.cpu(), here.grad, rtol=1e-4, atol=1e-5)
        for mine, theirs in zip(ours.parameters(), reference.parameters(), strict=True):
            torch.testing.assert_close(mine.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-5)
        ours.zero_grad()
        reference.zero_grad()


@pytest.mark.filterwarnings("ignore")  # torch's own, about streams of backward
def test_a_graphed_module_trains():
    reference = network()
    ours = copy.deepcopy(reference).npu()
    sample = torch.randn(5, 16, device="npu", requires_grad=True)
    backward_agrees(ours, reference, torch.npu.make_graphed_callables(ours, (sample,)))


@pytest.mark.filterwarnings("ignore")
def test_two_graphed_modules_share_their_memory():
    reference = nn.Sequential(nn.Linear(16, 8), nn.Linear(8, 3))
    ours = copy.deepcopy(reference).npu()
    samples = [
        torch.randn(5, 16, device="npu", requires_grad=True),
        torch.randn(5, 8, device="npu", requires_grad=True),
    ]
    first, second = torch.npu.make_graphed_callables(tuple(ours), tuple((sample,) for sample in samples))
    backward_agrees(ours, reference, lambda x: second(first(x)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["aot_eager", "npugraph_ex", "npugraphs"])
def test_a_compiled_module_computes_on_each_new_tensor(backend):
    torch._dynamo.reset()
    reference = network()
    compiled = torch.compile(copy.deepcopy(reference).npu(), backend=backend)
    with torch.no_grad():
        kept = []  # so that each tensor has an address of its own
        for seed in range(4):
            x = torch.randn(8, 16, generator=torch.Generator().manual_seed(seed))
            kept.append(x.npu())
            torch.testing.assert_close(compiled(kept[-1]).cpu(), reference(x), rtol=1e-5, atol=1e-6)
