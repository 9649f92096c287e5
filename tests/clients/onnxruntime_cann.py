# SPDX-License-Identifier: Apache-2.0
"""onnxruntime's CANN provider, as its wheel comes (onnxruntime-cann 1.24.4), on these libraries: ONNX's node tests of
opsets 9 to 13. Nothing may run on the provider of the CPU instead.

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
LEAST = 610
PROVIDER = [("CANNExecutionProvider", {"precision_mode": "must_keep_origin_dtype"})]
STRING = onnx.TensorProto.STRING


def model_of(folder):
    """The model of a test that is asked for, else none."""
    model = onnx.load(folder / "model.onnx")
    opsets = {one.domain: one.version for one in model.opset_import}
    ports = [*model.graph.input, *model.graph.output]
    tensors = all(p.type.HasField("tensor_type") and p.type.tensor_type.elem_type != STRING for p in ports)
    return model if tensors and len(opsets) == 1 and 9 <= opsets.get("", 0) <= 13 else None


def data(folder, what, i):
    return onnx.numpy_helper.to_array(onnx.load_tensor(folder / f"test_data_set_0/{what}_{i}.pb"))


def run(folder, model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=PROVIDER)
    assert session.get_providers()[0] == "CANNExecutionProvider", "the provider is not there"
    inputs = {port.name: data(folder, "input", i) for i, port in enumerate(model.graph.input)}
    for i, got in enumerate(session.run(None, inputs)):
        wanted = data(folder, "output", i)
        assert got.dtype == wanted.dtype, f"output {i} is {got.dtype}"
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-7)


def main():
    onnxruntime.set_default_logger_severity(4)
    passed, causes = 0, collections.defaultdict(list)
    for folder in sorted(DATA.iterdir()):
        if (model := model_of(folder)) is None:
            continue
        try:
            run(folder, model)
            passed += 1
        except Exception as error:
            causes[str(error).strip().splitlines()[-1][-100:]].append(folder.name)
    for cause, names in causes.items():
        print(f"{len(names)} of these: {', '.join(names[:3])}: {cause}")
    asked = passed + sum(map(len, causes.values()))
    print(f"onnxruntime-cann {onnxruntime.__version__}: {passed} of {asked} node tests of opsets 9 to 13")
    sys.exit(passed < LEAST)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # the provider leaves each model where it runs
        main()
