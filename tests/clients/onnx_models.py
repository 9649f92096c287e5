# SPDX-License-Identifier: Apache-2.0
"""torch.onnx.export -> atc -> .om -> AscendCL: models of the kinds that are deployed, exported from torch on the CPU in
opset 13 and 18, converted, run by InferSession, compared with torch's own results.

    make clients   # all of them; it puts onnx and onnxscript into build/clients
    PYTHONPATH=build/clients python tests/clients/onnx_models.py
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
warnings.simplefilter("ignore")
sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import model_zoo  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from anynpu.infer import InferSession  # noqa: E402

CLOSE = {"must_keep_origin_dtype": 1e-4, "force_fp16": 2e-2}  # of the largest number of an output


def results(om, inputs):
    with InferSession(0, str(om)) as session:
        return session.infer([value.numpy() for value in inputs.values()])


def distances(name, opset, folder):
    model, inputs = model_zoo.made(name)
    with torch.no_grad():
        wanted = model(*inputs.values())
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    onnx = Path(folder) / "model.onnx"
    model_zoo.export(model, inputs, onnx, opset)
    for mode, close in CLOSE.items():
        command = ["atc", "--framework=5", f"--model={onnx}", f"--output={folder}/model", "--soc_version=Ascend910B1"]
        subprocess.run([*command, f"--precision_mode={mode}"], check=True, stdout=subprocess.DEVNULL)
        got = results(Path(folder) / "model.om", inputs)
        apart = [np.abs(g - w.numpy()).max() / np.abs(w.numpy()).max() for g, w in zip(got, wanted, strict=True)]
        yield mode, max(apart), close


def main():
    failed = []
    for name in sys.argv[1:] or model_zoo.MODELS:
        for opset in (13, 18):
            with tempfile.TemporaryDirectory() as folder:
                for mode, apart, close in distances(name, opset, folder):
                    print(f"{name:20s} opset {opset}  {mode:24s} {apart:.1e} of the largest", flush=True)
                    failed += [f"{name}, opset {opset}, {mode}"] * (not apart <= close)
    sys.exit(f"onnx_models: these are apart: {'; '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
