# SPDX-License-Identifier: Apache-2.0
"""torch.export of models on the NPU: the graph of the CPU, its results, saved and loaded again."""

import io

import model
import pytest
import torch
from torch.export.passes import move_to_device_pass


def targets(program):
    return [(node.op, str(node.target)) for node in program.graph.nodes]


@pytest.fixture(params=model.NAMES)
def pair(request):
    return model.pair(request.param)


@pytest.mark.promise("torch.export gives the graph of the CPU; a program is saved, loaded and moved to the CPU")
def test_the_graph_is_the_cpus_and_gives_its_results(pair):
    program = torch.export.export(pair.npu, (pair.x.npu(),))
    assert targets(program) == targets(torch.export.export(pair.cpu, (pair.x,)))
    assert pair.near(program.module()(pair.x.npu()))
    assert pair.near(program.run_decompositions().module()(pair.x.npu()))


def test_a_saved_program_runs_again_on_the_npu_and_on_the_cpu(pair):
    file = io.BytesIO()
    torch.export.save(torch.export.export(pair.npu, (pair.x.npu(),)), file)
    file.seek(0)
    program = torch.export.load(file)
    assert {value.device.type for value in program.state_dict.values()} == {"npu"}
    assert pair.near(program.module()(pair.x.npu()))
    moved = move_to_device_pass(program, "cpu")
    assert pair.near(moved.module()(pair.x))


def test_a_size_may_stay_open():
    pair = model.pair("cnn")
    sizes = ({0: torch.export.Dim("batch", min=2, max=64)},)
    program = torch.export.export(pair.npu, (pair.x.npu(),), dynamic_shapes=sizes)
    pair.x = torch.cat([pair.x, pair.x.flip(0), pair.x])
    assert pair.near(program.module()(pair.x.npu()))


def test_attention_of_torch_npu_fixes_the_sizes():
    """docs/pytorch.md tells of it; when this fails, a wheel has learned to leave them open."""
    pair = model.pair("transformer")
    sizes = ({0: torch.export.Dim("batch", min=2, max=64)},)
    with pytest.raises(torch._dynamo.exc.UserError, match="specialized it to be a constant"):
        torch.export.export(pair.npu, (pair.x.npu(),), dynamic_shapes=sizes)


def test_an_unlifted_graph_trains_as_on_the_cpu():
    pair = model.pair("cnn")
    gradients = []
    for net, x in ((pair.cpu, pair.x), (pair.npu, pair.x.npu())):
        exported = torch.export.export(net, (x,)).module()
        exported(x).square().sum().backward()
        gradients.append([p.grad.cpu() for p in exported.parameters()])
    for expected, got in zip(*gradients, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())
