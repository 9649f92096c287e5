# SPDX-License-Identifier: Apache-2.0
"""torch.onnx.export of models on the NPU: the file is that of the CPU, and its graph computes what the model does.

    make clients   # all of them; it puts onnx and onnxscript into build/clients
    PYTHONPATH=build/clients python tests/clients/onnx_export.py

A small CNN and a small transformer (tests/ways_out/model.py), by torch's exporter of traces (dynamo=False) and by
that of torch.export (dynamo=True). The latter has no ONNX for operators that torch-npu overrides and so keeps whole, as
aten::adaptive_avg_pool2d: programs are moved to the CPU first. The reference evaluator of onnx runs the files.
Versions it was run with: onnx 1.23.2, onnxscript 0.7.2, torch 2.13.0, torch-npu 2.13.0.
"""

import io
import pathlib
import sys
import warnings

import onnx
import onnx.reference
import torch
import torch_npu  # noqa: F401 - makes the device npu
from torch.export.passes import move_to_device_pass

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ways_out"))
import model  # noqa: E402


def exported(net, x, dynamo):
    file = io.BytesIO()
    if dynamo:
        net = move_to_device_pass(torch.export.export(net, (x,)), "cpu")
    torch.onnx.export(net, (x,), file, dynamo=dynamo, opset_version=18)
    return onnx.load_from_string(file.getvalue())


def nodes(graph):
    return [(node.op_type, list(node.input), list(node.output)) for node in graph.graph.node]


def main():
    warnings.simplefilter("ignore")
    for name in model.NAMES:
        pair = model.pair(name)
        expected = pair.cpu(pair.x).detach()
        for dynamo in (False, True):
            ours, cpus = (exported(net, x, dynamo) for net, x in ((pair.npu, pair.x.npu()), (pair.cpu, pair.x)))
            onnx.checker.check_model(ours)
            evaluator = onnx.reference.ReferenceEvaluator(ours)
            (got,) = evaluator.run(None, {evaluator.input_names[0]: pair.x.numpy()})
            error = (torch.from_numpy(got.copy()) - expected).abs().max() / expected.abs().max()
            same = "the CPU's" if nodes(ours) == nodes(cpus) else "not the CPU's"
            print(f"{name} dynamo={dynamo}: {len(ours.graph.node)} nodes, {same}, within {error:.1e}")
            assert error < 1e-5
            assert same == "the CPU's"


if __name__ == "__main__":
    main()
