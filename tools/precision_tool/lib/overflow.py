# SPDX-License-Identifier: Apache-2.0
"""Which operators overflowed, as the device's records tell, each with what it read and wrote."""

import json
from pathlib import Path

from . import dump
from .config import config as cfg
from .toolkit import say

NAMES = {"AIC": "AI Core", "AIV": "AI Vector", "AICPU": "AI CPU", "SDMA": "Collective"}
BITS = {0x8: "negative of the least whole number", 0x10: "overflow of whole numbers", 0x20: "overflow of floats",
        0x80: "a negative number became unsigned", 0x100: "overflow in a conversion to float16",
        0x400: "overflow in a product"}  # fmt: skip
SUMS = {0x900: "an infinity in a sum between devices", 0xA00: "underflow in a sum between devices",
        0xB00: "NaN went into a sum between devices", 0xC00: "NaN in a sum between devices",
        0xD00: "NaN on both sides of a sum between devices"}  # fmt: skip


class Record:
    """A record of the device: what overflowed, and which task that was."""

    def __init__(self, path, data):
        self.path = path
        kind, part = next(parts(data), ("?", {}))
        self.kind = NAMES.get(kind, kind)
        status = part.get("status", 0)
        self.status = next((s for s in status if s), 0) if isinstance(status, list) else status
        self.task, self.stream = str(part.get("task_id", "")), str(part.get("stream_id", ""))
        self.timestamp = path.name.split(".")[4]

    def meaning(self):
        sums = SUMS.get(self.status & 0xFF00)
        return (
            [sums] if self.kind == "Collective" and sums else [text for bit, text in BITS.items() if self.status & bit]
        )

    def operator(self):
        """The dump file of the task beside the record."""
        for path, name in dump.names(self.path.parent).items():
            words = name.split(".")
            if words[0] != "Opdebug" and len(words) >= 4 and words[2:4] == [self.task, self.stream]:
                return path, words
        return None, []


def parts(data):
    """(kind, members) of each part of a record, of either form, that overflowed."""
    if "acc_list" in data:
        yield data["acc_list"].get("acc_type", "?"), data["acc_list"].get("data", {})
    else:
        yield from ((kind, part) for kind, part in reversed(data.items()) if part.get("status"))


def records():
    """All of them, the earliest first."""
    for path in sorted(Path(cfg.NPU_OVERFLOW_DUMP_DIR).rglob("Opdebug.*"), key=lambda p: p.name.split(".")[4:5]):
        if path.suffix != ".json" and ".output." not in path.name:
            yield path


def check(most=None):
    """Shows the first ones; gives how many there are."""
    found = list(records())
    if not found:
        return 0
    say("INFO", f"Find [{len(found)}] overflow ops below {cfg.NPU_OVERFLOW_DUMP_DIR}")
    for path in found[:most]:
        dump.decode(path, cfg.OVERFLOW_DECODE_DIR)
        decoded = Path(cfg.OVERFLOW_DECODE_DIR, f"{path.name}.output.0.json")
        show(Record(path, json.loads(decoded.read_text())))
    return len(found)


def show(record):
    path, words = record.operator()
    print(f"[{words[0]}][{record.task}] {words[1]}" if path else f"[?][{record.task}] without a dump file")
    print(f" - [{record.kind}][Status:{record.status}][TaskId:{record.task}] {record.meaning()}")
    print(f" - First overflow file timestamp [{record.timestamp}] -")
    if path:
        print("\n".join(dump.ranges(dump.decode(path, cfg.OVERFLOW_DECODE_DIR))))
