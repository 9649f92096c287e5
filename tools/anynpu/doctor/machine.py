# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` checks of this machine: CPU, memory, whether an NPU opens."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from anynpu.doctor.finding import GIGA, Finding
from anynpu.library import door, place

SYSTEM = Path("/sys/devices")


def cpu_fields():
    """The lines of the first processor in /proc/cpuinfo."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}


def widened(fields):
    """Types that are computed in fp32 on this CPU, as computes_natively in ops/cube/onednn.cpp has it."""
    flags = fields.get("flags", "").split()
    pairs = "avx512_bf16" in flags and fields.get("vendor_id") == "AuthenticAMD"
    native = {"bf16": pairs or "amx_bf16" in flags, "fp16": "avx512_fp16" in flags}
    return [name for name, fast in native.items() if not fast]


def check_cpu():
    fields = cpu_fields()
    flags = fields.get("flags", fields.get("Features", "")).split()
    features = {"AVX2": "avx2", "AVX-512": "avx512f", "bf16": "avx512_bf16", "AMX": "amx_tile"}
    have = [name for name, flag in features.items() if flag in flags]
    text = (
        f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}, {', '.join(have) or 'no vector extension known'}"
    )
    if "AVX2" in have:
        yield Finding("ok", text)
    else:
        yield Finding("note", text, "it works, several times slower; use a CPU with AVX2 (2013 or later)")
    if "AVX-512" in have and (types := widened(fields)):
        cure = "nothing to do; results are the same, at the speed of fp32"
        yield Finding("note", f"{' and '.join(types)} computed in fp32: this CPU does not multiply them faster", cure)


def processors(text):
    """{0, 1, 2, 3, 8} of "0-3,8"."""
    ends = (part.partition("-") for part in text.strip().split(",") if part)
    return {n for first, _, last in ends for n in range(int(first), int(last or first) + 1)}


def check_cores():
    """Cores that are unlike each other, or far from each other's memory, of those that this process may use."""
    mine = os.sched_getaffinity(0)
    nodes = {}
    for path in sorted(SYSTEM.glob("node/node[0-9]*"), key=lambda path: int(path.name[4:])):
        text = (path / "cpulist").read_text().strip()
        if processors(text) & mine:
            nodes[path.name[4:]] = text
    if len(nodes) > 1:
        text = ", ".join(f"{node}: cores {cores}" for node, cores in nodes.items())
        first = next(iter(nodes))
        cure = f"keep each rank on one node: numactl --cpunodebind={first} --membind={first} COMMAND"
        yield Finding("note", f"{len(nodes)} NUMA nodes ({text}), and memory of the others is slower", cure)
    kinds = [path / "cpus" for path in (SYSTEM / "cpu_core", SYSTEM / "cpu_atom")]
    if all(path.exists() and processors(path.read_text()) & mine for path in kinds):
        fast, slow = (path.read_text().strip() for path in kinds)
        text = f"fast cores {fast} and slow cores {slow}: the parts of a kernel wait for the slowest"
        yield Finding("note", text, f"try whether it is faster on the fast ones alone: taskset -c {fast} COMMAND")


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


CHECKS = (check_cpu, check_cores, check_memory, check_device)
