# SPDX-License-Identifier: Apache-2.0
"""Runs a Python script on the software NPU. Calls to CUDA (`.cuda()`, `device="cuda"`) are sent to the NPU by
torch-npu's transfer_to_npu, so that a script written for a GPU needs no change; --no-transfer leaves them alone, for
scripts that say device="npu" themselves. --report tells at the end what became of the functions of a TensorFlow script,
and which operators of a PyTorch script torch-npu ran on the host: how often, bytes in and out, and the line. --strict
makes such an operator an error at its line. --nan-check names the operator that made the first infinity or NaN, and the
line. --self-check computes each operator once more in float64 and names those that deviate. --repeat N runs the script
N times and names the first operator whose result differs; --bisect finds the fewest fusion passes, or nodes of reduced
precision, that move its loss. Everything after the script's name belongs to the script."""

import os
import sys
from argparse import REMAINDER
from pathlib import Path

from anynpu.bisect import search
from anynpu.library import place, version
from anynpu.ranks import slurm
from anynpu.repeat import repeat

VALUED = ("--self-check-sample", "--repeat", "--digest", "--bisect", "--watch", "--golden", "--tolerance")


def add_arguments(parser):
    parser.add_argument("--no-transfer", action="store_true", help="do not send CUDA calls to the NPU")
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="tell at the end what became of each function (TensorFlow) and which operators ran on the host (PyTorch): "
        "text on stderr, or with =FILE a file, as JSON when it is called *.json",
    )
    parser.add_argument(
        "--strict", action="store_true", help="PyTorch: an operator that torch-npu would run on the host is an error"
    )
    parser.add_argument(
        "--nan-check",
        action="store_true",
        help="tell on stderr which operator made the first infinity or NaN of finite inputs, and the line",
    )
    parser.add_argument(
        "--self-check",
        metavar="REFERENCE",
        choices=["fp64"],
        help="compute each operator once more from its own inputs, by NumPy in float64 (fp64, the only reference), and "
        "tell on stderr which deviate more than rounding explains, and the line",
    )
    parser.add_argument(
        "--self-check-sample",
        metavar="N",
        type=int,
        default=1,
        help="with --self-check: only every N-th task of each kind of operator",
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=int,
        help="run N times; name the first operator that reads the same and writes something else",
    )
    parser.add_argument("--digest", metavar="FOLDER", help="keep digests of all operators, for anynpu dump digest")
    parser.add_argument(
        "--bisect", choices=("fusion", "precision"), help="find what has to be switched off to move the loss back"
    )
    parser.add_argument("--watch", metavar="REGEX", help="with --bisect: the loss in what the script prints, in ( )")
    parser.add_argument("--series", action="store_true", help="with --bisect: every loss printed, not the last alone")
    parser.add_argument("--golden", metavar="VALUE|FILE", help="with --bisect: the loss, or series, that is right")
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="R",
        help="with --bisect: how near, relative to it, is right (default: a tenth of the way, at most 0.02)",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help="the Python script to run")
    parser.add_argument("arguments", metavar="…", nargs=REMAINDER, help="its arguments")


def spelled_out(arguments):
    """--report and --self-check alone: without a value argparse would take the script's name for one."""
    valued = {i + 1 for i, one in enumerate(arguments) if one in VALUED}
    script = next((i for i, one in enumerate(arguments) if not one.startswith("-") and i not in valued), len(arguments))
    alone = {"--report": "--report=1", "--self-check": "--self-check=fp64"}
    return [alone.get(one, one) for one in arguments[:script]] + arguments[script:]


def check_together(options):
    """ValueError for what has no sense beside each other."""
    several = [f"--{name}" for name in ("repeat", "bisect") if getattr(options, name)]
    single = [f"--{name}" for name in ("report", "nan_check", "self_check", "digest") if getattr(options, name)]
    if several and len(several + single) > 1:
        both = ", ".join(several + single).replace("_", "-")
        raise ValueError(f"{both} exclude each other: {several[0]} runs the script several times; ask for one of them")
    watches = [f"--{name}" for name in ("watch", "series", "golden", "tolerance") if getattr(options, name)]
    if watches and not options.bisect:
        raise ValueError(f"{', '.join(watches)} says something of a loss, which only --bisect looks at")
    if options.repeat is not None and options.repeat < 2:
        raise ValueError(f"--repeat is {options.repeat}; give 2 or more, for runs are compared with the first")
    if options.self_check_sample < 1:
        raise ValueError(f"--self-check-sample is {options.self_check_sample}; give a whole number from 1 on")


def environment(transfer, report=None, strict=False, nan_check=False, digest=None, self_check=None, sample=1):
    """What the script's process needs on top of ours."""
    out = {} if "ASCEND_HOME_PATH" in os.environ else place.toolkit()  # torch-npu prints a warning without it
    if transfer:
        out["TORCH_TRANSFER_TO_NPU"] = os.environ.get("TORCH_TRANSFER_TO_NPU", "1")
    if report:
        out["ANYNPU_REPORT"] = report if report == "1" else str(Path(report).absolute())
    if strict:
        out["ANYNPU_STRICT"] = "1"
    if nan_check:
        out["ANYNPU_NAN_CHECK"] = "1"
    if digest:
        out["ANYNPU_DIGEST"] = str(Path(digest).absolute())
    if self_check:
        out["ANYNPU_SELF_CHECK"], out["ANYNPU_SELF_CHECK_SAMPLE"] = self_check, str(sample)
    return out


def check_frameworks():
    """A script for TensorFlow needs no torch; what it is written for shows only when it runs."""
    if version.installed("tensorflow") or version.installed("tensorflow-cpu"):
        return
    for package in ("torch", "torch_npu"):
        if place.package_folder(package) is None:
            raise ValueError(f"{package} is not installed here; install it with: pip install 'anynpu[torch]'")
    if version.installed("torch") is None:
        raise ValueError("torch is not installed here; install it with: pip install 'anynpu[torch]'")


def script_process(options):
    """The command of the script's own process, and what it needs on top of our environment."""
    if not options.module and not Path(options.script).is_file():
        raise FileNotFoundError(f"there is no file {options.script}; give the path of a Python script")
    check_together(options)
    if options.digest and not Path(options.digest).is_dir():
        raise ValueError(f"--digest is {options.digest}, which is no folder; make it first")
    check_frameworks()
    asked = (options.report, options.strict, options.nan_check, options.digest)
    check = options.self_check, options.self_check_sample
    target = ["-m", options.script] if options.module else [options.script]
    command = [sys.executable, *target, *options.arguments]
    return command, environment(not options.no_transfer, *asked, *check) | slurm.variables(os.environ)


def execute(options):
    command, more = script_process(options)
    os.environ.update(more)
    if options.repeat:
        return repeat.execute(command, options.repeat)
    if options.bisect:
        loss = (options.watch, options.series, options.golden, options.tolerance)
        return search.execute(options.bisect, command, *loss)
    sys.stdout.flush()
    # The script gets a process that looks as if it had been started by hand: its own argv, no frame of ours.
    os.execv(sys.executable, command)
