# SPDX-License-Identifier: Apache-2.0
"""run.py [NAME…]: plants the faults of planted.toml one by one, in a copy of the product's sources or in the script
that runs, and looks for each with the one command that is meant for it: the culprit must be named first. Each command
also runs without a fault, and must name nobody. `make planted` runs all; the product must be built and installed."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from planted import HERE, ROOT, nothing_told, planted, told  # which makes the next two known

import overlay  # isort: skip
from fault import StaleError  # isort: skip

WORK = overlay.FOLDER / "planted"
LIMIT = 300  # seconds for a command


def environment(library):
    """Programs load `library` before the installed one of the same name."""
    paths = [str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3",
        "ANYNPU_LIBRARY": str(library), "LD_PRELOAD": str(library), "ANYNPU_SELF_CHECK_CASES": str(WORK),
    }  # fmt: skip


def call(words, folder, variables):
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=folder, env=variables, timeout=LIMIT, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def kept(fault, arguments, folder, variables):
    """A run of the script that leaves its dump, or its digests, in `folder`."""
    folder.mkdir()
    launch = ["-m", "anynpu", "launch", "-n", fault.ranks] if fault.ranks > 1 else []
    own = {"ANYNPU_DIGEST": str(folder)} if fault.command == "dump digest" else {}
    status, output = call([*launch, HERE.parent / fault.script, *arguments.split()], folder, variables | own)
    if status:
        raise RuntimeError(f"{fault.script} {arguments} ended with {status}\n{output}")


def look(fault, arguments, library):
    """What the fault's command says of the script with these arguments."""
    variables = environment(library)
    with tempfile.TemporaryDirectory(prefix="anynpu-planted-") as name:
        folder = Path(name)
        if fault.command in ("compare", "dump digest"):
            kept(fault, arguments, folder / "run", variables)
            kept(fault, fault.clean, folder / "golden", variables)
            return call(["-m", "anynpu", *fault.command.split(), "run", "golden"], folder, variables)[1]
        words = [*fault.command.split(), HERE.parent / fault.script, *arguments.split()]
        return call(["-m", "anynpu", *words], folder, variables)[1]


def changed_library(fault):
    """The product's library with the fault in it, or as it is."""
    if fault.change is None:
        return overlay.FOLDER / "lib/libanynpu.so"
    tree = WORK / fault.name
    shutil.rmtree(tree, ignore_errors=True)
    overlay.copy_tree(tree)
    fault.change.plant(tree)
    overlay.link("lib/libanynpu.so", fault.file, tree)
    return tree / "build/lib/libanynpu.so"


def plant(fault):
    """True where the command named the culprit first; prints a line."""
    library = changed_library(fault)
    start = time.monotonic()
    output = look(fault, fault.arguments, library)
    seconds, found = time.monotonic() - start, fault.found(output)
    first = (told(fault.command, output) or ["nobody"])[0]
    word = "found" if found else "MISSED"
    print(f"{fault.kind}: anynpu {fault.command}: {first}: {word}, {seconds:.0f} s", flush=True)
    if not found:
        print(output, flush=True)
    shutil.rmtree(WORK / fault.name, ignore_errors=True)
    return found


def innocent(fault):
    """True where the command names nobody in the same script without the fault."""
    start = time.monotonic()
    output = look(fault, fault.clean, overlay.FOLDER / "lib/libanynpu.so")
    right = nothing_told(fault.command, output)
    word, seconds = ("nobody named" if right else "NAMED"), time.monotonic() - start
    print(f"no fault: anynpu {fault.command} {fault.script} {fault.clean}: {word}, {seconds:.0f} s", flush=True)
    if not right:
        print(output, flush=True)
    return right


def count(faults, moved):
    return sum(fault.moved == moved for fault in faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help="faults to plant; all by default")
    given, known = parser.parse_args(), {fault.name: fault for fault in planted()}
    if unknown := [name for name in given.name if name not in known]:
        sys.exit(f"there is no fault {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [known[name] for name in given.name] or list(known.values())
    WORK.mkdir(exist_ok=True)
    overlay.ninja("--quiet", "lib/libanynpu.so")
    try:
        found = [fault for fault in chosen if plant(fault)]
    except (StaleError, overlay.BuildError) as error:
        sys.exit(str(error))
    twins = {(fault.command, fault.script, fault.clean): fault for fault in chosen}
    named = sum(not innocent(fault) for fault in twins.values())
    for moved, text in ((False, "planted faults named first"), (True, "named first where they were moved")):
        print(f"{count(found, moved)} of {count(chosen, moved)} {text}")
    print(f"{len(twins) - named} of {len(twins)} runs without a fault named nobody")
    sys.exit(named > 0 or found != chosen)


if __name__ == "__main__":
    main()
