# SPDX-License-Identifier: Apache-2.0
"""Runs a Python script, records what the host and the NPU do, and says where the time went: what makes the run slow,
what that costs and what helps; times, operators and calls, and what the chip would take by its public numbers
(modelled, not measured). An HTML page shows the same and a timeline. With -n the
script runs as several ranks, and the page names the one that others wait for. `anynpu profile show FOLDER` makes the
page of records that are there already, `anynpu profile diff A B` says what B does more or less than A; a program of its
own does both. Calls to CUDA are sent to the NPU as by `anynpu run`. Everything after the script's name belongs to the
script. (docs/profile.md tells more.)"""

import json
import os
import signal
import subprocess
import sys
import time
from argparse import REMAINDER
from pathlib import Path

from anynpu.library import place
from anynpu.subcommand import run

OF_THE_PROGRAM = ("show", "diff")


def add_arguments(parser):
    parser.add_argument("-n", "--ranks", type=int, help="run it as so many ranks, as anynpu launch does")
    parser.add_argument(
        "--output", metavar="DIR", help="where records and the page go (default: profile_SCRIPT_TIME beside you)"
    )
    parser.add_argument(
        "--soc", metavar="NAME,…", help="SoCs to model the time of, as 910B3,910A (default: the one of ANYNPU_SOC)"
    )
    parser.add_argument(
        "--no-modules",
        action="store_true",
        help="do not note down for which module of PyTorch each operator runs, which takes some 30 us of the host's "
        "time for each call of a module",
    )
    parser.add_argument("--no-transfer", action="store_true", help="do not send CUDA calls to the NPU")
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help="the Python script to run; or show, or diff")
    parser.add_argument("arguments", metavar="…", nargs=REMAINDER, help="its arguments")


def command(options, output):
    if options.ranks is not None:
        alone = ["--no-transfer"] if options.no_transfer else []
        ranks = ["-n", str(options.ranks), "--log-dir", str(output / "logs"), *alone]
        return [sys.executable, "-m", "anynpu", "launch", *ranks, options.script, *options.arguments]
    target = ["-m", options.script] if options.module else [options.script]
    return [sys.executable, *target, *options.arguments]


def environment(options, output):
    recorded = {"output": str(output), "task_time": "l1", "runtime_api": "on", "msproftx": "on"}
    asked = {"PROFILING_MODE": "true", "PROFILING_OPTIONS": json.dumps(recorded)}
    modules = {"ANYNPU_MODULES": "0" if options.no_modules else "1"}
    return {**os.environ, **run.environment(not options.no_transfer), **asked, **modules}


def wait(words, variables):
    """The exit code as a shell tells it. Signals are for the script: what it has recorded until then is shown."""
    child = subprocess.Popen(words, env=variables)
    wanted = {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: lambda *_: child.terminate()}  # Ctrl-C reaches both
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def collections(output):
    return set(output.glob("PROF_*"))


def models(options):
    return [] if options.soc is None else ["--soc", options.soc]


def show(options, folders, output):
    """The page, and where everything is."""
    page = output / "profile.html"
    words = [place.pages_of_profiles(), "show", *sorted(folders), "--html", page, *models(options)]
    print(flush=True)
    if subprocess.run(list(map(str, words))).returncode == 0:
        print(f"\nThe same with a timeline: {page}")
    print("The records:", *sorted(folders))


def output_of(options):
    """A folder that is there."""
    name = f"profile_{Path(options.script).stem}_{time.strftime('%Y%m%d%H%M%S')}"
    output = Path(options.output or name).absolute()
    output.mkdir(parents=True, exist_ok=True)
    return output


def check(options):
    if options.module and options.ranks is not None:
        raise ValueError("-m and -n exclude each other: ranks run a script; give its file")
    if not options.module and not Path(options.script).is_file():
        raise FileNotFoundError(f"there is no file {options.script}; give the path of a Python script")
    run.check_frameworks()


def execute(options):
    if options.script in OF_THE_PROGRAM:
        program = place.pages_of_profiles()
        wanted = models(options) if options.script == "show" else []
        os.execv(program, [str(program), options.script, *options.arguments, *wanted])
    check(options)
    output = output_of(options)
    known = collections(output)
    code = wait(command(options, output), environment(options, output))
    if fresh := collections(output) - known:
        show(options, fresh, output)
    else:
        print("anynpu profile: nothing was recorded: the script has used no NPU", file=sys.stderr)
    return code
