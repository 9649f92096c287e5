# SPDX-License-Identifier: Apache-2.0
"""onnxruntime's CANN provider, as its wheel comes (onnxruntime-cann 1.24.4), on these libraries: ONNX's node tests of
opsets 9 to 13, as whole graphs and operator by operator. Nothing may run on the provider of the CPU instead.

    make clients   # all of them; it puts the wheel into build/clients-onnxruntime, onnx into build/clients
    PYTHONPATH=build/clients-onnxruntime:build/clients python tests/clients/onnxruntime_cann.py

Left out are models of texts and sequences, which the provider gives back to the CPU.
"""

import collections
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

DATA = Path("/usr/share/libonnx-testdata/data/node")
LEAST, LEAST_KINDS, LEAST_SINGLE = 610, 26, 99
GRAPHS = {"precision_mode": "must_keep_origin_dtype"}
ONE_BY_ONE = {"enable_cann_graph": "0"}
NO_KERNEL = "fallback to CPU EP has been explicitly disabled"  # the provider has none for this operator and type
STRING = onnx.TensorProto.STRING


def model_of(folder, newest):
    """The model of a test that is asked for, else none."""
    model = onnx.load(folder / "model.onnx")
    opsets = {one.domain: one.version for one in model.opset_import}
    ports = [*model.graph.input, *model.graph.output]
    tensors = all(p.type.HasField("tensor_type") and p.type.tensor_type.elem_type != STRING for p in ports)
    return model if tensors and len(opsets) == 1 and 9 <= opsets.get("", 0) <= newest else None


def data(folder, what, i):
    return onnx.numpy_helper.to_array(onnx.load_tensor(folder / f"test_data_set_0/{what}_{i}.pb"))


def run(folder, model, settings):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    provider = ("CANNExecutionProvider", settings)
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=[provider])
    assert session.get_providers()[0] == "CANNExecutionProvider", "the provider is not there"
    inputs = {port.name: data(folder, "input", i) for i, port in enumerate(model.graph.input)}
    for i, got in enumerate(session.run(None, inputs)):
        wanted = data(folder, "output", i)
        assert got.dtype == wanted.dtype, f"output {i} is {got.dtype}"
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-7)


def run_all(settings, newest):
    """Operators of each model that is right, by its name, and the names of others by the last words of the error."""
    right, causes = {}, collections.defaultdict(list)
    for folder in sorted(DATA.iterdir()):
        if (model := model_of(folder, newest)) is None:
            continue
        try:
            run(folder, model, settings)
            right[folder.name] = {node.op_type for node in model.graph.node}
        except Exception as error:
            causes[str(error).strip().splitlines()[-1][-160:]].append(folder.name)
    for cause, names in causes.items():
        if NO_KERNEL not in cause:
            print(f"{len(names)} of these: {', '.join(names[:3])}: {cause}")
    asked = len(right) + sum(len(names) for cause, names in causes.items() if NO_KERNEL not in cause)
    return right, asked


def main():
    onnxruntime.set_default_logger_severity(4)
    right, asked = run_all(GRAPHS, 13)
    print(f"onnxruntime-cann {onnxruntime.__version__}: {len(right)} of {asked} node tests of opsets 9 to 13")
    single, asked = run_all(ONE_BY_ONE, 20)
    kinds = set().union(*single.values())
    print(f"operator by operator: {len(kinds)} kinds, {len(single)} of {asked} node tests: {' '.join(sorted(kinds))}")
    sys.exit(len(right) < LEAST or len(kinds) < LEAST_KINDS or len(single) < LEAST_SINGLE)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # the provider leaves each model where it runs
        main()
