# SPDX-License-Identifier: Apache-2.0
"""What the CPU of this machine is: its class, by which measurements are told apart, and its caches."""

import os
import pathlib
import re

# AMD's family and the first model of a generation, the last first.
AMD = ((26, 0x00, "Zen 5"), (25, 0xA0, "Zen 4"), (25, 0x60, "Zen 4"), (25, 0x20, "Zen 3"), (25, 0x10, "Zen 4"),
       (25, 0x00, "Zen 3"), (23, 0x30, "Zen 2"), (23, 0x00, "Zen"))  # fmt: skip
INTEL = {0x55: "Skylake-SP", 0x6A: "Ice Lake-SP", 0x6C: "Ice Lake-SP", 0x8F: "Sapphire Rapids",
         0xCF: "Emerald Rapids", 0xAD: "Granite Rapids", 0xAE: "Granite Rapids"}  # fmt: skip
HAS_TILES = {0x8F, 0xCF, 0xAD, 0xAE}  # a hypervisor may hide them
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def fields(cpuinfo):
    """The lines of the first processor in /proc/cpuinfo."""
    first = cpuinfo.strip().split("\n\n")[0]
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}


def intel(model, flags):
    if model not in HAS_TILES:
        return INTEL.get(model)
    return f"{INTEL[model]} {'with' if 'amx_tile' in flags else 'without'} AMX"


def generation(found, flags):
    family, model = int(found.get("cpu family", 0)), int(found.get("model", 0))
    if found.get("vendor_id") == "AuthenticAMD":
        return next((name for f, first, name in AMD if family == f and model >= first), None)
    return intel(model, flags) if found.get("vendor_id") == "GenuineIntel" and family == 6 else None


def cpu_class(cpuinfo):
    """Zen 4, Sapphire Rapids with AMX, …; for one that is not known, the widest instructions that it has."""
    found = fields(cpuinfo)
    flags = found.get("flags", "").split()
    widest = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    return generation(found, flags) or widest


def size(text):
    """Bytes of "48K"."""
    number, unit = re.fullmatch(r"(\d+)([KMG]?)", text.strip()).groups()
    return int(number) * UNITS.get(unit, 1)


def sharing(text):
    """How many processors "0-3,8" names."""
    ends = (part.partition("-") for part in text.strip().split(","))
    return sum(int(last or first) - int(first) + 1 for first, _, last in ends)


def caches(root="/sys/devices/system/cpu"):
    """{"L1": {"bytes", "shared_by"}, …} of the first processor, for data."""
    found = {}
    for index in sorted(pathlib.Path(root, "cpu0/cache").glob("index*")):
        read = {name: (index / name).read_text().strip() for name in ("level", "type", "size", "shared_cpu_list")}
        if read["type"] != "Instruction":
            found[f"L{read['level']}"] = {"bytes": size(read["size"]), "shared_by": sharing(read["shared_cpu_list"])}
    return found


def describe(threads):
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    return {"class": cpu_class(cpuinfo), "name": fields(cpuinfo).get("model name", ""), "caches": caches(),
            "cores": len(os.sched_getaffinity(0)), "threads": threads}  # fmt: skip


def sentence(cpu):
    """One line, the head of a table."""
    sizes = ", ".join(f"{level} {cache['bytes'] >> 10} KiB" for level, cache in cpu["caches"].items())
    return f"{cpu['class']} ({cpu['name']}), {cpu['cores']} cores, {cpu['threads']} threads used; {sizes}"
