# SPDX-License-Identifier: Apache-2.0
"""The types of single operators that a torch-npu wheel asks for: what its machine code hands to OpCommand::Name.

    python tests/wheels/operator_names.py …/torch_npu/lib/libtorch_npu.so

Compilers write a short constant text as numbers stored on the stack, a longer one as a copy of 16 bytes and the rest,
and some call a constructor with the text's start, or with both its ends. What stands in the instructions before each
call is put together again. A name that is chosen at run time comes out in part (`V2`, `Grad`) or not at all.
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

NAME = re.compile(rb"[A-Z][A-Za-z0-9_]+")
BEFORE = 90  # instructions; none of a text's stores was further from its call
WIDTHS = {"b": 1, "w": 2, "l": 4, "q": 8}
REGISTERS = {}  # name of a register or a part of it: (register, bytes)
for a in "abcd":
    REGISTERS |= {f"r{a}x": (f"r{a}x", 8), f"e{a}x": (f"r{a}x", 4), f"{a}x": (f"r{a}x", 2), f"{a}l": (f"r{a}x", 1)}
for a in ("si", "di", "bp"):
    REGISTERS |= {f"r{a}": (f"r{a}", 8), f"e{a}": (f"r{a}", 4), a: (f"r{a}", 2), f"{a}l": (f"r{a}", 1)}
for a in range(8, 16):
    REGISTERS |= {f"r{a}": (f"r{a}", 8), f"r{a}d": (f"r{a}", 4), f"r{a}w": (f"r{a}", 2), f"r{a}b": (f"r{a}", 1)}
PLACE = r"(-?(?:0x[0-9a-f]+)?)\(%(\w+)\)$"
SET = re.compile(r"mov(?:abs|\w)? \$0x([0-9a-f]+),%(\w+)$")
STORE_NUMBER = re.compile(r"mov([bwlq]) \$0x([0-9a-f]+)," + PLACE)
STORE_REGISTER = re.compile(r"mov %(\w+)," + PLACE)
LOAD_16 = re.compile(r"v?mov\w+ -?0x[0-9a-f]+\(%rip\),%(xmm\d+) # ([0-9a-f]+)")
STORE_16 = re.compile(r"v?mov(?:ups|aps|dqa|dqu) %(xmm\d+)," + PLACE)
CONSTANT = re.compile(r"lea -?0x[0-9a-f]+\(%rip\),%(\w+) # ([0-9a-f]+)")
START_OF_TEXT = re.compile(r"lea -0x([0-9a-f]+)\(%(\w+)\),%rsi$")


class Library:
    def __init__(self, path):
        self.path, self.data = path, Path(path).read_bytes()
        lines = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)", lines)
        self.sections = [tuple(int(n, 16) for n in row) for row in found]

    def at(self, address, count):
        for start, offset, size in self.sections:
            if start <= address < start + size:
                return self.data[offset + address - start : offset + address - start + count]
        return b""

    def calls(self):
        """For each call of OpCommand::Name the instructions before it, as far as its function goes."""
        command = ["objdump", "-d", "--no-show-raw-insn", self.path]
        window = collections.deque(maxlen=BEFORE)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dump:
            for line in dump.stdout:
                if line.endswith(">:\n"):
                    window.clear()
                elif "\t" in line:
                    text = re.sub(r"\s+", " ", line.split("\t")[1].strip())
                    if text.startswith("call") and "OpCommand4Name" in text:
                        yield list(window)
                        window.clear()
                    else:
                        window.append(text)


class Text:
    """What instructions put into memory."""

    def __init__(self, library):
        self.library = library
        self.numbers, self.sixteen, self.ends = {}, {}, {}
        self.memory = collections.defaultdict(dict)  # register: {displacement: byte}
        self.lengths, self.spans, self.constants = set(), [], []

    def store(self, place, content):
        start = int(place[0] or "0", 16)
        self.memory[place[1]] |= {start + i: byte for i, byte in enumerate(content)}

    def follow(self, text):
        if (m := SET.match(text)) and m[2] in REGISTERS:
            self.numbers[REGISTERS[m[2]][0]] = int(m[1], 16)
        elif m := STORE_NUMBER.match(text):
            width, value = WIDTHS[m[1]], int(m[2], 16)
            self.store((m[3], m[4]), (value % (1 << 8 * width)).to_bytes(width, "little"))
            if m[1] == "q":
                self.lengths.add(value)
        elif (m := STORE_REGISTER.match(text)) and m[1] in REGISTERS:
            register, width = REGISTERS[m[1]]
            if register in self.numbers:
                value = self.numbers[register] % (1 << 8 * width)
                self.store((m[2], m[3]), value.to_bytes(width, "little"))
        elif m := LOAD_16.match(text):
            self.sixteen[m[1]] = self.library.at(int(m[2], 16), 16)
        elif (m := STORE_16.match(text)) and m[1] in self.sixteen:
            self.store((m[2], m[3]), self.sixteen[m[1]])
        elif (m := START_OF_TEXT.match(text)) and m[2] in self.ends:
            self.spans.append(self.library.at(self.ends[m[2]] - int(m[1], 16), int(m[1], 16)))
        elif m := CONSTANT.match(text):
            self.ends[m[1]] = int(m[2], 16)
            self.constants.append(self.library.at(int(m[2], 16), 64).split(b"\0")[0])

    def name(self):
        """The text that was put together last: of the length that was stored with it, if there is one."""
        spans = [span for span in self.spans if NAME.fullmatch(span)]
        if spans:
            return spans[-1].decode()
        found = [name for memory in self.memory.values() for name in NAME.findall(dense(memory))]
        exact = [name for name in found if len(name) in self.lengths]
        constants = [text for text in self.constants if NAME.fullmatch(text)]
        return (exact or found or constants or [b""])[-1].decode()


def dense(memory):
    """The bytes in order, with a gap where there is one."""
    out, last = bytearray(), None
    for place in sorted(memory):
        if last is not None and place != last + 1:
            out.append(0)
        out.append(memory[place])
        last = place
    return bytes(out)


def names(path):
    """({name: calls}, calls whose name was not found)"""
    library, found = Library(path), collections.Counter()
    for window in library.calls():
        text = Text(library)
        for instruction in window:
            text.follow(instruction)
        found[text.name()] += 1
    return {name: found[name] for name in sorted(found) if name}, found[""]


if __name__ == "__main__":
    seen, lost = names(sys.argv[1])
    print("\n".join(seen))
    print(f"{len(seen)} names in {sum(seen.values())} calls, {lost} calls without a name", file=sys.stderr)
