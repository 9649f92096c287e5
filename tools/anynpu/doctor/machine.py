# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` checks of this machine: CPU, memory, whether an NPU opens."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from anynpu.doctor.finding import GIGA, Finding
from anynpu.library import door, place


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
        "import ctypes, sys; from anynpu.library import door; lib = door.library(); "
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


CHECKS = (check_cpu, check_memory, check_device)
