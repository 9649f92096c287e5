# SPDX-License-Identifier: Apache-2.0
"""The limit that a piece of work stands under on this machine, as tests/bench/machine_limit measures it."""

import json
import pathlib
import subprocess
from dataclasses import dataclass

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/machine_limit"
# With what a product of this type may be computed: narrow types may be widened, so fp32's rate is in reach of all.
WAYS = {"fp32": ("fp32",), "fp64": ("fp64",), "bf16": ("bf16 tiles", "bf16 dot", "fp32"), "fp16": ("fp16", "fp32")}


@dataclass
class Arithmetic:
    """Work bound by fused multiply-adds; each counts as two operations."""

    dtype: str
    operations: float


@dataclass
class Traffic:
    """Work bound by what it must at least read and write; its tensors together hold `resident` bytes."""

    moved: float
    resident: float


def held(caches, threads):
    """What so many threads hold in each level together, in bytes, the nearest level first."""
    return {level: c["bytes"] * -(-threads // c["shared_by"]) for level, c in sorted(caches.items())}


def working_sets(caches, threads):
    """The bytes that a thread goes over: half of its part of a level; for memory, what no cache holds."""
    sets = {level: total // 2 // threads for level, total in held(caches, threads).items()}
    largest = max(held(caches, threads).values(), default=0)
    return sets | {"memory": max(4 * largest, 1 << 28) // threads}


def measure(cpu, threads, program=PROGRAM):
    """What so many threads reach at once; None where the program is not built."""
    if not program.exists():
        return None
    sets = [f"{level}:{size}" for level, size in working_sets(cpu["caches"], threads).items()]
    return json.loads(subprocess.run([program, str(threads), *sets], capture_output=True, text=True, check=True).stdout)


def level_of(resident, cpu):
    """The nearest level that holds so many bytes, in the caches of the threads used."""
    return next((name for name, size in held(cpu["caches"], cpu["threads"]).items() if resident <= size), "memory")


def bound(work, cpu, rates):
    """The name of the limit and the seconds that the work takes at it; None where either is not known."""
    if work is None or rates is None:
        return None
    if isinstance(work, Arithmetic):
        way = max((w for w in WAYS[work.dtype] if w in rates["operations"]), key=rates["operations"].get)
        return {"limit": way, "rate": rates["operations"][way], "seconds": work.operations / rates["operations"][way]}
    level = level_of(work.resident, cpu)
    rate = max(rates["bytes"][level][way] for way in ("copy", "triad"))  # what reads and writes
    return {"limit": level, "rate": rate, "seconds": work.moved / rate}


def sentences(rates):
    if rates is None:
        yield f"no limits: build {PROGRAM.name} with -DANYNPU_BENCHES=ON"
        return
    words = ", ".join(f"{name} {rate / 1e9:.0f}" for name, rate in rates["operations"].items())
    yield f"{rates['threads']} threads, G operations/s: {words}"
    for level, ways in rates["bytes"].items():
        words = ", ".join(f"{way} {rate / 1e9:.0f}" for way, rate in ways.items())
        yield f"    {level} GB/s: {words}"
