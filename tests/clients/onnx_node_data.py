# SPDX-License-Identifier: Apache-2.0
"""ONNX's own node tests, as its wheel (onnx 1.23.2) makes them with NumPy, through the engine's test of such data:
those of opsets up to 25. Causes of the few differences are in graph/import/onnx/node_data_fixture.h.

    make clients   # all of them; it puts onnx into build/clients
    PYTHONPATH=build/clients python tests/clients/onnx_node_data.py
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

PROGRAM = Path(__file__).parents[2] / "build/graph_test"
NEWEST = 25


def message(value, port):
    """A value as the message that the type of its port asks for."""
    if isinstance(value, onnx.TensorProto):
        return value
    if port.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, port.name)
    if port.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, port.name)
    return numpy_helper.from_array(np.asarray(value), port.name)


def write(case, folder):
    data = folder / case.name / "test_data_set_0"
    data.mkdir(parents=True)
    (data.parent / "model.onnx").write_bytes(case.model.SerializeToString())
    inputs, outputs = case.data_sets[0]
    for kind, values, ports in (
        ("input", inputs, case.model.graph.input),
        ("output", outputs, case.model.graph.output),
    ):
        for i, (value, port) in enumerate(zip(values, ports, strict=True)):
            (data / f"{kind}_{i}.pb").write_bytes(message(value, port).SerializeToString())


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in collect_testcases(None):
            opsets = {one.domain: one.version for one in case.model.opset_import}
            if list(opsets) == [""] and opsets[""] <= NEWEST:
                write(case, folder)
        print(f"onnx {onnx.__version__}: {len(list(folder.iterdir()))} models of opsets up to {NEWEST}", flush=True)
        environment = os.environ | {"ANYNPU_ONNX_DATA": name}
        command = [PROGRAM, "--gtest_filter=OnnxNodeData.GivesWhatNumPyGave", "--gtest_brief=1"]
        sys.exit(subprocess.run(command, env=environment).returncode)


if __name__ == "__main__":
    main()
