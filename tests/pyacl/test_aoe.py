# SPDX-License-Identifier: Apache-2.0
"""The command aoe on a model of ONNX: converted, run as an .om, what wins kept."""

import json
import os
import subprocess
import sys

import numpy as np
from model_file import FLOAT, message, node, value_info


def convolution(batch):
    """relu(conv(x)) of 16 channels to 32, as ONNX."""
    weight = np.random.default_rng(0).standard_normal((32, 16, 3, 3), np.float32)
    sizes = [(1, size) for size in weight.shape]
    constant = message(*sizes, (2, FLOAT), (8, "weight"), (9, weight.tobytes()))
    nodes = [node("Conv", ["x", "weight"], "y"), node("Relu", ["y"], "out")]
    graph = message(
        *((1, one) for one in nodes), (2, "conv"), (5, constant), (11, value_info("x", [batch, 16, 24, 24])),
        (12, value_info("out", [batch, 32, 22, 22])),
    )  # fmt: skip
    return message((1, 7), (7, graph), (8, message((2, 13))))


def aoe(folder, *words):
    code = "import sys; from anynpu.aoe import main; sys.exit(main())"
    variables = {**os.environ, "TUNE_BANK_PATH": str(folder / "bank")}
    command = [sys.executable, "-c", code, "--framework=5", f"--output={folder}", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, env=variables)


def test_a_model_of_onnx_is_tuned(tmp_path):
    (tmp_path / "net.onnx").write_bytes(convolution(4))
    done = aoe(tmp_path, "--job_type=2", f"--model={tmp_path}/net.onnx", "--precision_mode=must_keep_origin_dtype")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[Aoe] tuning of operators ends" in done.stdout
    (bank,) = (tmp_path / "bank/custom/op").glob("*/*.json")
    assert any(entry["point"] == "conv_way" for entry in json.loads(bank.read_text())["entries"])
    (report,) = tmp_path.glob("aoe_result_opat_*.json")
    assert json.loads(report.read_text())
    before = bank.read_text()
    again = aoe(tmp_path, "--job_type=2", f"--model_path={tmp_path}", "--precision_mode=must_keep_origin_dtype")
    assert again.returncode == 0 and bank.read_text() == before, "a second run measures nothing"


def test_what_cannot_be_tuned_is_told(tmp_path):
    (tmp_path / "net.onnx").write_bytes(convolution("n"))
    words = ["--job_type=1", f"--model={tmp_path}/net.onnx"]
    done = aoe(tmp_path, *words)
    assert done.returncode == 1 and "leaves sizes of x open" in done.stderr and "[Aoe] [ERROR]" in done.stdout
    assert aoe(tmp_path, *words, "--input_shape=x:2,16,24,24").returncode == 0
    done = aoe(tmp_path, *words, "--input_shape=z:2")
    assert done.returncode == 1 and "no input z" in done.stderr
    (tmp_path / "tune.cfg").write_text('{"tune_optimization_level": "O3"}')
    done = aoe(tmp_path, *words, "--input_shape=x:2,16,24,24", f"--tune_ops_file={tmp_path}/tune.cfg")
    assert done.returncode == 1 and '"O3"; write "O1" or "O2"' in done.stderr
