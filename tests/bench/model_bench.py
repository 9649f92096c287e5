# SPDX-License-Identifier: Apache-2.0
"""Models of files: .om through AscendCL against ONNX Runtime on the CPU, and against torch's eager mode on the CPU,
with as many threads each, in alternating runs. Above 1 the .om is faster.

    make bench   # all of them; it puts onnxruntime and onnx into build/bench-onnxruntime
    PYTHONPATH=build/bench-onnxruntime python tests/bench/model_bench.py [--pairs 9] [--only WORD] [--json FILE]
"""

import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
warnings.simplefilter("ignore")

import model_zoo  # noqa: E402
import onnxruntime  # noqa: E402
import result  # noqa: E402
import torch  # noqa: E402
from anynpu.infer import InferSession  # noqa: E402

CASES = [(name, batch) for name in ("ResNet-50", "MobileNetV3", "BERT", "detector") for batch in (1, 8)]
THREADS = os.cpu_count()
LEAST_SECONDS = 0.2  # of one timing


def converted(name, batch, folder):
    model, inputs = model_zoo.made(name, batch)
    onnx = Path(folder) / "model.onnx"
    model_zoo.export(model, inputs, onnx, 13)
    command = ["atc", "--framework=5", f"--model={onnx}", f"--output={folder}/model", "--soc_version=Ascend910B1"]
    subprocess.run([*command, "--precision_mode=must_keep_origin_dtype"], check=True, stdout=subprocess.DEVNULL)
    return model, inputs, onnx, Path(folder) / "model.om"


def peers(model, inputs, onnx):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
    arrays = {name: value.numpy() for name, value in inputs.items()}

    def eager():
        with torch.inference_mode():
            model(*inputs.values())

    return {"ONNX Runtime": lambda: session.run(None, arrays), "torch": eager}


def seconds(run, times):
    result.quiet()
    start = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - start) / times


def times_of(run):
    for _ in range(3):
        run()
    return max(1, int(LEAST_SECONDS / seconds(run, 1)))


def compare(name, batch, pairs, results):
    with tempfile.TemporaryDirectory() as folder:
        model, inputs, onnx, om = converted(name, batch, folder)
        arrays = [value.numpy() for value in inputs.values()]
        with InferSession(0, str(om)) as session:
            ours = times_of(lambda: session.infer(arrays))
            for peer, run in peers(model, inputs, onnx).items():
                theirs = times_of(run)
                taken = [(seconds(run, theirs), seconds(lambda: session.infer(arrays), ours)) for _ in range(pairs)]
                results.add(f"{name}, batch {batch}, {peer}", peer, taken)


def main():
    asked = result.arguments(__doc__)
    torch.set_num_threads(THREADS)
    results = result.Results("models", THREADS)
    for name, batch in CASES:
        if asked.only in f"{name}, batch {batch}":
            compare(name, batch, asked.pairs, results)
    results.close(asked.json)


if __name__ == "__main__":
    main()
