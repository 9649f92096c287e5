# SPDX-License-Identifier: Apache-2.0
"""The vendor's command aoe: tunes a frozen graph of TensorFlow or a model of ONNX for this NPU. What wins goes into the
bank that programs use by themselves (docs/tuning.md). TensorFlow runs its graphs, so it must be installed for them; a
model of ONNX is converted as atc does it and run as an .om. A training script is tuned as it is by `anynpu tune`, or
with AOE_MODE set."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from anynpu.library import place, version
from anynpu.output import pipe

JOBS = {1: "graphs (subgraph tuning)", 2: "operators"}
FRAMEWORKS = {"0": "Caffe", "1": "MindSpore", "3": "TensorFlow", "5": "ONNX"}
ONNX = "5"
SUFFIXES = {"3": ".pb", ONNX: ".onnx"}  # of what is read
# Flags of atc that say which model it is that is tuned.
CONVERSION = ("input_shape", "out_nodes", "precision_mode", "input_format", "soc_version")
SOC = "Ascend910B1"  # a name in the file that binds nothing
# Of the vendor's command: what they ask for is decided by other means here, or is so anyway.
ACCEPTED = ("aicore_num", "device", "host_env_os", "host_env_cpu", "input_format", "log", "precision_mode",
            "soc_version", "progress_bar", "reload", "virtual_type",
            "compression_optimize_conf", "op_select_implmode")  # fmt: skip


def say(text):
    print(f"[Aoe] {text}", flush=True)


def refuse(text):
    say(f"[ERROR] {text}")
    return 1


def parser():
    top = argparse.ArgumentParser(prog="aoe", description=__doc__, allow_abbrev=False)
    top.add_argument("--job_type", "-j", type=int, help="1 graphs, 2 operators")
    top.add_argument("--framework", "-f", help="3: TensorFlow (also where it is left out), 5: ONNX")
    top.add_argument("--model", "-m", help="the frozen graph (.pb), the model (.onnx)")
    top.add_argument("--model_path", "-mp", help="a folder of models: each *.pb, or *.onnx, in it is tuned")
    top.add_argument("--input_shape", help='sizes of inputs that the graph leaves open: "x:8,224,224,3;y:8"')
    top.add_argument("--out_nodes", help='what is computed: "logits:0;probabilities"; else what no other node reads')
    top.add_argument("--output", default=".", help="the folder of aoe_result_*.json")
    top.add_argument("--tune_ops_file", help="JSON: names and types of the operators that are tuned")
    for name in ACCEPTED:
        of_onnx = "; of ONNX, as atc takes it" if name in CONVERSION else ""
        top.add_argument(f"--{name}", help=f"accepted, without effect here{of_onnx}")
    return top


def framework(options):
    return options.framework or "3"


def models(options):
    """The graphs to tune. ValueError for what is none."""
    if framework(options) not in SUFFIXES:
        name = FRAMEWORKS.get(options.framework)
        if name is None:
            raise ValueError(f"--framework is {options.framework}; there are {', '.join(FRAMEWORKS)}")
        raise ValueError(f"models of {name} are not read; run what executes the model with AOE_MODE={options.job_type}")
    suffix = SUFFIXES[framework(options)]
    if bool(options.model) == bool(options.model_path):
        raise ValueError(f"give one of --model=FILE{suffix} and --model_path=FOLDER")
    found = [Path(options.model)] if options.model else sorted(Path(options.model_path).glob(f"*{suffix}"))
    if not found:
        raise ValueError(f"--model_path {options.model_path} has no *{suffix}")
    for one in found:
        if not one.is_file():
            raise ValueError(f"--model {one} is no file")
    return found


def check(options):
    if options.job_type == 4:
        raise ValueError("--job_type=4 (gradient segments) is not built; give 1 (graphs) or 2 (operators)")
    if options.job_type not in JOBS:
        raise ValueError(f"--job_type is {options.job_type}; give 1 (graphs) or 2 (operators)")
    if not Path(options.output).is_dir():
        raise ValueError(f"--output {options.output} is no folder; make it first")
    if options.tune_ops_file and not Path(options.tune_ops_file).is_file():
        raise ValueError(f"--tune_ops_file {options.tune_ops_file} is no file")
    if framework(options) == ONNX:
        return
    if not (version.installed("tensorflow") or version.installed("tensorflow-cpu")):
        raise ValueError("TensorFlow is not installed here; install it with: pip install 'anynpu[tensorflow]'")


def commands(options, model, folder):
    """What is run one after the other; a model that is converted goes into `folder`."""
    return onnx_commands(options, model, folder) if framework(options) == ONNX else [graph_command(options, model)]


def onnx_commands(options, model, folder):
    flags = {name: getattr(options, name) for name in CONVERSION if getattr(options, name) is not None}
    flags = {"soc_version": SOC, **flags}
    converted = Path(folder) / "model"
    conversion = [place.conversion(), f"--framework={ONNX}", f"--model={model}", f"--output={converted}"]
    run = [sys.executable, "-m", "anynpu.infer.tuned", f"{converted}.om", "--tune", options.job_type]
    run += ["--work", options.output]
    if options.tune_ops_file:
        run += ["--tune_ops_file", options.tune_ops_file]
    return [[*conversion, *(f"--{name}={value}" for name, value in flags.items())], [str(word) for word in run]]


def graph_command(options, model):
    words = [sys.executable, "-m", "npu_device.run_graph", model, "--tune", options.job_type, "--work", options.output]
    for name in ("input_shape", "out_nodes", "tune_ops_file"):
        if (value := getattr(options, name)) is not None:
            words += [f"--{name}", value]
    return [str(word) for word in words]


def main(arguments=None):
    return pipe.until_the_reader_leaves(lambda: execute(arguments))


def execute(arguments):
    options = parser().parse_args(arguments)
    try:
        check(options)
        found = models(options)
    except ValueError as error:
        return refuse(error)
    for name in ACCEPTED:
        acts = framework(options) == ONNX and name in CONVERSION
        if getattr(options, name) is not None and not acts:
            say(f"[WARNING] --{name} is accepted and has no effect here")
    for model in found:
        say(f"{model}: tuning of {JOBS[options.job_type]}")
        with tempfile.TemporaryDirectory() as folder:
            for words in commands(options, model, folder):
                code = subprocess.run(words, env={**os.environ, "AOE_MODE": ""}).returncode
                if code:
                    return refuse(f"{model} could not be run; its error stands above")
    return 0


if __name__ == "__main__":
    sys.exit(main())
