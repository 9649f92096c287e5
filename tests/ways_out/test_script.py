# SPDX-License-Identifier: Apache-2.0
"""torch.jit of models on the NPU: traced, scripted, frozen, saved, and loaded on the NPU and on the CPU."""

import io

import model
import pytest
import torch

MADE = {"trace": lambda net, x: torch.jit.trace(net, x), "script": lambda net, x: torch.jit.script(net)}


@pytest.fixture(params=model.NAMES)
def pair(request):
    return model.pair(request.param)


def operators(graph):
    return [node.kind() for node in graph.nodes() if node.kind() != "prim::Constant"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.promise("torch.jit traces, scripts, freezes, saves and loads models, on the NPU and from it to the CPU")
@pytest.mark.parametrize("way", MADE)
def test_the_graph_is_the_cpus_and_gives_its_results(pair, way):
    x = pair.x.npu()
    net = MADE[way](pair.npu, x)
    assert operators(net.inlined_graph) == operators(MADE[way](pair.cpu, pair.x).inlined_graph)
    frozen = torch.jit.freeze(net)
    for run in (net, frozen):
        assert all(pair.near(run(x)) for _ in range(3)), "its first calls are observed, later ones optimised"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("way", MADE)
def test_a_saved_model_runs_again_on_the_npu_and_on_the_cpu(pair, way, frozen):
    net = MADE[way](pair.npu, pair.x.npu())
    file = io.BytesIO()
    torch.jit.save(torch.jit.freeze(net) if frozen else net, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    result = loaded(pair.x.npu())
    assert result.device.type == "npu" and pair.near(result)
    file.seek(0)
    if not frozen:  # a frozen model's constants carry their device into its code
        assert pair.near(torch.jit.load(file, map_location="cpu")(pair.x))


@pytest.mark.filterwarnings("ignore")
def test_a_scripted_function_with_branches_and_gradients():
    @torch.jit.script
    def folded(x, steps: int):
        total = torch.zeros_like(x)
        for i in range(steps):
            if i % 2 == 0:
                total = total + x.sin() * float(i + 1)
                total = total.abs()
            else:
                total = total * x.cos()
        return total

    x = torch.linspace(-2, 2, 41)
    values = []
    for device in ("cpu", "npu"):
        here = x.to(device, copy=True).requires_grad_()
        for _ in range(3):
            here.grad = None
            out = folded(here, 5)
            out.sum().backward()
        values.append((out.detach().cpu(), here.grad.cpu()))
    for expected, got in zip(*values, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
