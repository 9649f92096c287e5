# SPDX-License-Identifier: Apache-2.0
"""Checks this machine and this installation: versions, CPU, memory, whether ranks can meet, libraries and the order in
which they are found, clashes with a real CANN, features that are not built. Every finding comes with its cure. The exit
code is 1 if something must be mended, else 0."""

import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from anynpu import doctor_frameworks, doctor_ranks, door, place, unbuilt, version
from anynpu.finding import GIGA, Finding


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


def cpu_flags():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("flags", "Features")):
            return set(line.split(":", 1)[1].split())
    return set()


def check_cpu():
    flags = cpu_flags()
    features = {"AVX2": "avx2", "AVX-512": "avx512f", "bf16": "avx512_bf16", "AMX": "amx_tile"}
    have = [name for name, flag in features.items() if flag in flags]
    text = (
        f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}, {', '.join(have) or 'no vector extension known'}"
    )
    if "AVX2" in have:
        yield Finding("ok", text)
    else:
        yield Finding("note", text, "it works, several times slower; use a CPU with AVX2 (2013 or later)")
    if "AVX-512" in have and "AMX" not in have:
        yield Finding("note", "no AMX: fp16 and bf16 are computed in fp32", "nothing to do; results are the same")


def check_memory():
    now = door.configured()
    if now.problem:
        yield Finding("bad", now.problem, "anynpu settings tells what each variable takes")
        return
    text = f"{now.machine_memory / GIGA:.1f} GiB of memory; each of {now.device_count} {now.soc} offers "
    text += f"{now.capacity / GIGA:.1f} GiB"
    if now.capacity >= 2 * GIGA:
        yield Finding("ok", text)
    else:
        yield Finding("note", text, "models of some size need more: raise ANYNPU_MEMORY or the limit of the container")


def check_device():
    """What every program does first. In a process of its own, so that no device stays in use here."""
    door.library()  # where it does not load, that was said
    code = (
        "import ctypes, sys; from anynpu import door; lib = door.library(); "
        "size = (ctypes.c_size_t * 2)(); pointer = ctypes.c_void_p(); lib.aclInit(None); "
        "bad = lib.aclrtSetDevice(0) or lib.aclrtGetMemInfo(1, size, ctypes.byref(size, 8)) "
        "or lib.aclrtMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20), 0); "
        "print(lib.anynpu_recent_reason().decode()) if bad else None; sys.exit(bool(bad))"
    )
    environment = {**os.environ, "PYTHONPATH": str(place.HERE.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        yield Finding("ok", "an NPU opens, and gives and takes back memory")
    else:
        text = (done.stdout + done.stderr).strip().splitlines() or [f"it ended with {done.returncode}"]
        yield Finding("bad", f"an NPU does not open: {text[-1]}", "lower ANYNPU_MEMORY, or raise what is named above")


def check_rpath():
    folder = place.rpath_folder()
    if folder is None:
        return
    library = folder / "libascendcl.so"
    if place.is_ours(library):
        yield Finding("ok", f"torch-npu finds our libraries first, in {folder}")
    elif library.exists():
        cure = f"move {folder} away and reinstall AnyNPU: torch-npu uses that file whatever the environment says"
        yield Finding("bad", f"{library} is not ours", cure)
    else:
        cure = "nothing to do; to load without the hook, install AnyNPU into the same environment as torch-npu"
        yield Finding("note", f"{folder} is not there; anynpu.preload opens our libraries before torch_npu", cure)


def search_folders(variable):
    return [Path(entry) for entry in os.environ.get(variable, "").split(":") if entry]


def check_order():
    names = [path.name for path in place.vendor_libraries(place.libraries())]
    for name in names:
        for folder in search_folders("LD_LIBRARY_PATH"):
            if (folder / name).exists():
                if not place.is_ours(folder / name):
                    cure = f"take {folder} out of LD_LIBRARY_PATH (anynpu env prints ours)"
                    yield Finding("bad", f"C programs load {folder / name}, which is not ours", cure)
                break
    if os.environ.get("LD_PRELOAD"):
        cure = "unset LD_PRELOAD unless you need it"
        yield Finding("note", "LD_PRELOAD is set: torch-npu then looks for functions in it first", cure)


def check_toolkit():
    for variable in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH"):
        value = os.environ.get(variable)
        if not value or Path(value) in (place.home(), place.home() / "opp"):
            continue
        cure = f"unset {variable}, or start from a shell that has not run the toolkit's set_env.sh"
        if list(Path(value).glob("lib64/libopapi_*.so")) or variable == "ASCEND_CUSTOM_OPP_PATH":
            yield Finding("bad", f"{variable}={value}: torch-npu asks the libraries there before ours", cure)
        else:
            yield Finding("note", f"{variable}={value} names another toolkit", cure)
    if list(Path("/dev").glob("davinci*")):
        cure = "to use them, work in an environment without AnyNPU"
        yield Finding("note", "this machine has real NPUs; AnyNPU does not use them", cure)


def check_toolkit_folders():
    home = os.environ.get("ASCEND_HOME_PATH")
    if home is None:
        return
    opp = os.environ.get("ASCEND_OPP_PATH", "")
    wanted = [Path(home, "runtime"), Path(home, "compiler"), Path(opp or "/ASCEND_OPP_PATH is not set")]
    for folder in wanted:
        if not folder.exists():
            cure = 'unset ASCEND_HOME_PATH, or use ours: eval "$(anynpu env)"'
            yield Finding("bad", f"ASCEND_HOME_PATH is set, so torch-npu will not start without {folder}", cure)


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


def check_unbuilt():
    """All features of the guides that are not built, and functions of the C interface that refuse for it."""
    refusing = {}
    for entry in door.unfinished():
        refusing.setdefault(entry.feature, []).append(entry)
    for feature in unbuilt.features():
        entries = refusing.pop(feature.feature, [])
        names = ", ".join([feature.names, *(entry.name for entry in entries if entry.name not in feature.names)])
        yield Finding("note", f"not built: {feature.feature} ({names})", feature.instead)
    for feature, entries in sorted(refusing.items()):
        names = ", ".join(entry.name for entry in entries)
        yield Finding("note", f"not built: {feature} ({names} return 207000)", entries[0].text)


CHECKS = (
    check_files,
    check_core,
    *doctor_frameworks.CHECKS,
    check_cpu,
    check_memory,
    check_device,
    *doctor_ranks.CHECKS,
    check_rpath,
    check_order,
    check_toolkit,
    check_toolkit_folders,
    check_migration,
    check_unbuilt,
)


def findings():
    """All findings; a library that does not load spoils no other check."""
    failures = set()
    for check in CHECKS:
        try:
            yield from check()
        except OSError as error:
            if str(error) not in failures:
                yield Finding("bad", str(error), "install what is named above, or reinstall AnyNPU: pip install .")
            failures.add(str(error))


def add_arguments(parser):
    parser.add_argument("--quiet", action="store_true", help="only what must be mended")


def execute(options):
    worst = 0
    for finding in findings():
        if finding.grade == "bad":
            worst = 1
        if finding.grade == "bad" or not options.quiet:
            print(finding)
    print("something must be mended: follow the arrows" if worst else "all is well")
    return worst
