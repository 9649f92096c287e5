# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` checks of this installation: its library, its files, the migration tool."""

import subprocess
import time
from importlib import metadata

from anynpu.doctor.finding import Finding
from anynpu.library import door, place, version


def check_files():
    """What pip has installed is still there. A checkout has no such list."""
    try:
        files = metadata.files("anynpu") or []
    except metadata.PackageNotFoundError:
        return
    lost = [str(file) for file in files if not file.locate().exists()]
    if lost:
        cure = "reinstall it: pip install --force-reinstall --no-deps ."
        yield Finding("bad", f"{len(lost)} of {len(files)} installed files are missing, first {lost[0]}", cure)


def check_core():
    start = time.perf_counter()
    folder = place.libraries()
    built = door.version()
    seconds = time.perf_counter() - start
    yield Finding("ok", f"AnyNPU {built}: {folder / place.CORE} loads in {seconds * 1000:.0f} ms")
    if version.installed("anynpu") not in (built, None):
        cure = "reinstall it: pip install --force-reinstall ."
        yield Finding("bad", f"the Python package is {version.anynpu()}, the library {built}", cure)
    broken = [f for f in door.functions() if f.problem]
    for function in broken:
        yield Finding(
            "bad", f"{function.name} cannot be called: {function.problem}", "report this line: it is our fault"
        )
    yield Finding("ok", f"{len(door.functions()) - len(broken)} aclnn functions on {len(door.operators())} operators")


def check_migration():
    """The migration tool starts, with what it brings along."""
    try:
        command = [place.migration(), "--explain", "all"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        yield Finding("bad", f"anynpu migrate does not start: {error}", "reinstall it: pip install --force-reinstall .")
        return
    if done.returncode == 0:
        yield Finding("ok", f"anynpu migrate knows {len(done.stdout.splitlines())} rules")
    else:
        yield Finding(
            "bad", f"anynpu migrate fails: {done.stderr.strip()}", "reinstall AnyNPU; if it stays, report this"
        )
