# SPDX-License-Identifier: Apache-2.0
"""Shows the NPUs and the processes that use them, in the form of the vendor's npu-smi: info, info -l, info -m, info -t
{usages,memory,common,health,proc-mem,temp,power,board} -i NPU, and info watch. NA is what only a card has; set refuses,
for there is no card to set. `top` draws what all NPUs do, with the last minute of each."""

import argparse
import sys
import time

from anynpu.library import door, version
from anynpu.output import pipe

MEGA = 1 << 20
SAMPLE = 0.1  # seconds between two looks at the busy time
WIDTHS = (27, 15, 52)
PROCESS_WIDTHS = (27, 15, 26, 25)
LINE = "+" + "+".join("-" * width for width in WIDTHS) + "+"
RULE = LINE.replace("-", "=")
DETAILS = ("usages", "memory", "common", "health", "proc-mem", "temp", "power", "board")
NO_CARD = "NA"
WATCHED = {  # by the letters of `watch -s`
    "p": "Pwr(W)", "t": "Temp(C)", "a": "AI Core(%)", "i": "AI Cpu(%)", "c": "Ctrl Cpu(%)", "m": "Memory(%)",
    "b": "Memory BW(%)",
}  # fmt: skip


class Npu:
    """What all processes together do on one NPU."""

    def __init__(self, number, name, capacity):
        self.number, self.name, self.capacity = number, name, capacity
        self.processes = []  # (pid, name, bytes)
        self.used = 0
        self.busy = 0.0  # share of the sampling time

    def add(self, usage, busy):
        self.processes.append((usage.pid, usage.process, usage.used))
        self.used += usage.used
        self.busy += busy

    @property
    def core_percent(self):
        return min(100, round(100 * self.busy))

    @property
    def memory_percent(self):
        return round(100 * self.used / self.capacity) if self.capacity else 0


def look():
    """The NPUs now: what the environment configures, and what the processes on them do."""
    before = {(u.pid, u.device): u.busy_ns for u in door.usages()}
    start = time.monotonic()
    if before:
        time.sleep(SAMPLE)
    after = door.usages()
    seconds = max(time.monotonic() - start, 1e-9)
    now = door.configured()
    if now.problem:
        raise ValueError(now.problem)
    npus = {number: Npu(number, now.soc, now.capacity) for number in range(now.device_count)}
    for usage in after:
        if usage.device < 0:
            continue
        npu = npus.setdefault(usage.device, Npu(usage.device, usage.soc, usage.capacity))
        npu.add(usage, (usage.busy_ns - before.get((usage.pid, usage.device), usage.busy_ns)) / 1e9 / seconds)
    return [npus[number] for number in sorted(npus)]


def row(widths, *cells):
    return "|" + "|".join(f" {cell:<{width - 1}}" for cell, width in zip(cells, widths, strict=True)) + "|"


def chip_rows(npu):
    memory = f"{npu.used // MEGA:<5} / {npu.capacity // MEGA}"
    return [
        row(WIDTHS, f"{npu.number:<5} {npu.name.removeprefix('Ascend')}", "OK", f"{'-':<12}{'-':<18}0     / 0"),
        row(WIDTHS, f"{0:<5} {npu.number}", "0000:00:00.0", f"{npu.core_percent:<12}{'0     / 0':<18}{memory}"),
    ]


def process_rows(npu):
    if not npu.processes:
        return [row((96,), f"No running processes found in NPU {npu.number}")]
    return [
        row(PROCESS_WIDTHS, f"{npu.number:<7} 0", pid, name[:25], used // MEGA) for pid, name, used in npu.processes
    ]


def overview(npus):
    lines = ["+" + "-" * 96 + "+", row((96,), f"npu-smi {version.anynpu():<24} Version: {version.anynpu()}"), LINE]
    lines += [row(WIDTHS, "NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)")]
    lines += [row(WIDTHS, "Chip  Device", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)"), RULE]
    for npu in npus:
        lines += [*chip_rows(npu), RULE]
    lines += [LINE, row(PROCESS_WIDTHS, "NPU     Chip", "Process id", "Process name", "Process memory(MB)"), RULE]
    for npu in npus:
        lines += [*process_rows(npu), RULE]
    return lines


def pairs(**values):
    return [f"\t{name.replace('_', ' '):<31}: {value}" for name, value in values.items()]


def listing(npus):
    out = pairs(Total_Count=len(npus))
    for npu in npus:
        out += ["", *pairs(NPU_ID=npu.number, Chip_Count=1)]
    return out


def mapping(npus):
    rows = [f"\t{npu.number:<31}{0:<31}{npu.number:<31}{npu.name}" for npu in npus]
    return [f"\t{'NPU ID':<31}{'Chip ID':<31}{'Chip Logic ID':<31}Chip Name", *rows]


def detail(npu, kind):
    capacity, used = npu.capacity // MEGA, npu.used // MEGA
    usage = {
        "HBM_Capacity(MB)": capacity,
        "HBM_Usage_Rate(%)": npu.memory_percent,
        "Aicore_Usage_Rate(%)": npu.core_percent,
    }
    lines = pairs(NPU_ID=npu.number, Chip_Count=1)
    if kind in ("usages", "common"):
        lines += [*pairs(**usage), *pairs(Chip_ID=0)]
    elif kind == "memory":
        lines += [*pairs(**{"HBM_Capacity(MB)": capacity, "HBM_Used(MB)": used}), *pairs(Chip_ID=0)]
    elif kind == "temp":
        lines += pairs(**{"NPU_Temperature_(C)": NO_CARD, "Chip_ID": 0})
    elif kind == "power":
        lines += pairs(**{"NPU_Real-time_Power(W)": NO_CARD, "Chip_ID": 0})
    elif kind == "board":
        names = ("Firmware Version", "Compatibility", "Board ID", "PCB ID", "BOM ID", "PCIe Bus Info", "Slot ID")
        lines += pairs(Product_Name=npu.name, Software_Version=version.anynpu(), **dict.fromkeys(names, NO_CARD))
    elif kind == "health":
        lines += [*pairs(Health_Status="OK", Error_Code="NA"), *pairs(Chip_ID=0)]
    else:
        for pid, name, size in npu.processes:
            lines += pairs(**{"Process_id": pid, "Process_name": name, "Process_memory(MB)": size // MEGA})
    return lines


def add_arguments(parser):
    parser.add_argument("what", nargs="*", metavar="info [watch] | set | top")
    parser.add_argument("-l", dest="list", action="store_true", help="the NPUs")
    parser.add_argument("-m", dest="map", action="store_true", help="which chip is which device")
    parser.add_argument("-t", dest="type", metavar="TYPE", help=", ".join(DETAILS))
    parser.add_argument("-i", dest="npu", type=int, help="the NPU that -t or watch tells about")
    parser.add_argument("-d", dest="delay", type=int, default=1, help="watch, top: seconds between two looks")
    parser.add_argument("-s", dest="shown", default="".join(WATCHED), help="watch: columns, letters of ptaicmb")
    parser.add_argument("-c", dest="chip", type=int, default=0, help=argparse.SUPPRESS)


def report(options):
    npus = look()
    if options.list:
        return listing(npus)
    if options.map:
        return mapping(npus)
    if options.type is None:
        return overview(npus)
    if options.type not in DETAILS:
        raise ValueError(f"-t {options.type} is none of {', '.join(DETAILS)}")
    chosen = [npu for npu in npus if npu.number == options.npu]
    if not chosen:
        raise ValueError(f"-t needs the number of an NPU (-i); there are {', '.join(str(n.number) for n in npus)}")
    return detail(chosen[0], options.type)


def watched(npu, letter):
    return {"a": npu.core_percent, "m": npu.memory_percent}.get(letter, NO_CARD)


def watch(options):
    """A line for each NPU every so many seconds, until it is interrupted."""
    if options.delay < 1 or set(options.shown) - set(WATCHED):
        raise ValueError(f"watch takes seconds from 1 on (-d), and letters of {''.join(WATCHED)} (-s)")
    heads = ["NpuID(Idx)", "ChipId(Idx)", *(WATCHED[letter] for letter in options.shown)]
    print("".join(f"{head:<14}" for head in heads), flush=True)
    while True:
        for npu in look():
            if options.npu in (None, npu.number):
                cells = [npu.number, 0, *(watched(npu, letter) for letter in options.shown)]
                print("".join(f"{cell!s:<14}" for cell in cells), flush=True)
        time.sleep(options.delay)


BARS = " ▁▂▃▄▅▆▇█"
HISTORY = 60  # looks


def bar(percent, width=30):
    """`percent` of `width` cells."""
    full = round(width * percent / 100)
    return "█" * full + "·" * (width - full)


def drawn(npus, history):
    """The page of `top`: a line and a history for each NPU, and the processes by memory."""
    lines = [f"npu-smi {version.anynpu()}  {time.strftime('%H:%M:%S')}  {len(npus)} NPU(s), Ctrl-C ends", ""]
    for npu in npus:
        seen = history.setdefault(npu.number, [])
        seen[:] = [*seen, npu.core_percent][-HISTORY:]
        memory = f"{npu.used // MEGA} / {npu.capacity // MEGA} MB"
        lines.append(f"NPU {npu.number:<3} {npu.name:<14} core {npu.core_percent:>3} % |{bar(npu.core_percent)}|")
        lines.append(f"{'':23}memory {npu.memory_percent:>3} % |{bar(npu.memory_percent)}| {memory}")
        lines.append(f"{'':23}{''.join(BARS[round(value * (len(BARS) - 1) / 100)] for value in seen)}")
    found = sorted(((used, pid, name, npu.number) for npu in npus for pid, name, used in npu.processes), reverse=True)
    lines += ["", f"{'NPU':<5}{'Process id':<12}{'Process name':<30}Process memory(MB)"]
    lines += [f"{number:<5}{pid:<12}{name[:29]:<30}{used // MEGA}" for used, pid, name, number in found]
    return lines


def top(options):
    """Draws anew every so many seconds; once where nobody looks, as in a pipe."""
    if options.delay < 1:
        raise ValueError("top takes seconds from 1 on (-d)")
    history, live = {}, sys.stdout.isatty()
    while True:
        page = "\n".join(drawn(look(), history))
        print(f"\033[H\033[2J{page}" if live else page, flush=True)
        if not live:
            return 0
        time.sleep(options.delay)


def refuse_setting(options):
    """In the vendor's words, on whose output scripts decide."""
    kind = options.type or "what is asked for"
    print("\n".join(pairs(Status="Failed", Message=f"This device does not support setting {kind}.")))
    print(
        "npu-smi: a software NPU has no card to set; the settings that act are shown by: anynpu settings",
        file=sys.stderr,
    )
    return 1


def execute(options):
    options.what = options.what or ["info"]
    running = {("info", "watch"): watch, ("top",): top, ("set",): refuse_setting}.get(tuple(options.what))
    if running:
        try:
            return running(options)
        except KeyboardInterrupt:
            return 0
    if options.what != ["info"]:
        raise ValueError(f"there is no {' '.join(options.what)}; there are info, info watch, set and top")
    print("\n".join(report(options)))
    return 0


def main():
    """The command npu-smi."""
    return pipe.until_the_reader_leaves(command)


def command():
    parser = argparse.ArgumentParser(prog="npu-smi", description=__doc__)
    parser.add_argument("-v", "--version", action="version", version=f"npu-smi version: {version.anynpu()}")
    add_arguments(parser)
    try:
        return execute(parser.parse_args())
    except BrokenPipeError:
        raise
    except (FileNotFoundError, ValueError, OSError) as error:
        print(f"npu-smi: {error}", file=sys.stderr)
        return 1
