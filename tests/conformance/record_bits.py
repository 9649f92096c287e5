# SPDX-License-Identifier: Apache-2.0
"""Records what every described function of the door computes, bit by bit: a change that must not change results is
compared with what was before it.

python tests/conformance/record_bits.py OUT [--only NAME …]     a line for each function, case, dtype and layout
python tests/conformance/record_bits.py --compare A B           what differs; exit status 1 where anything does

The last word of a line is the hash of the written arguments, or of the text that refuses the call.
"""

import argparse
import hashlib
import os
import sys

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")  # the door alone, without the vendor's plug-in
import case  # noqa: E402
import described  # noqa: E402, F401 - fills CASES
import torch  # noqa: E402

from device import CallError, Device, call  # noqa: E402


class Recorder:
    """Stands between the cases and the library: each call adds to the digest what it wrote, or how it was refused."""

    def __init__(self):
        self.digest = None

    def call(self, device, name, words, values):
        try:
            call(device, name, words, values)
        except CallError as error:
            self.digest.update(f"{error}\n".encode())
            raise
        for argument, value in zip(case.FUNCTIONS[name], values, strict=True):
            if argument.role != "in":
                self._add(case._read(value))

    def _add(self, value):
        if isinstance(value, torch.Tensor):
            self.digest.update(f"{value.dtype} {list(value.shape)}\n".encode())
            dense = value.flatten().clone(memory_format=torch.contiguous_format)
            self.digest.update(dense.view(torch.uint8).numpy().tobytes() if dense.numel() else b"")
        for member in value if isinstance(value, list) else []:
            self._add(member)

    def line(self, label, run, *arguments):
        """What `run` calls, as a line; what the results should be is asked for elsewhere."""
        self.digest = hashlib.blake2b(digest_size=10)
        torch.manual_seed(0)
        try:
            run(*arguments)
        except (AssertionError, CallError) as error:
            print(f"{label}: {error}", file=sys.stderr)
        return f"{label} {self.digest.hexdigest()}"


def lines(only):
    recorder, device = Recorder(), Device()
    case.call = recorder.call
    for name in sorted(set(case.CASES) & set(only or case.CASES)):
        for number, one in enumerate(case.CASES[name]):
            for dtype, layout, shape in case._variants(one):
                of_shape = "" if shape is None else f" shape {list(shape)}".replace(", ", "x")
                label = f"{name} case {number} {case.type_name(dtype)} {layout}{of_shape}"
                yield recorder.line(label, case.run_variant, device, one, dtype, layout, shape, 0)
        if name in case.RULES:
            yield recorder.line(f"{name} refusals", case.refuse_each, device, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").rsplit(" ", 1) for line in file)


def compare(before, after):
    """Prints the labels of lines that differ; returns how many."""
    before, after = read(before), read(after)
    differing = [k for k in before | after if before.get(k) != after.get(k)]
    for label in differing:
        print(f"{label}: {before.get(label, 'not there')} became {after.get(label, 'not there')}")
    print(f"{len(before)} and {len(after)} lines, {len(differing)} differ")
    return len(differing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"))
    arguments = parser.parse_args()
    if arguments.compare:
        sys.exit(compare(*arguments.compare) > 0)
    with open(arguments.out or os.devnull, "w", encoding="utf-8") as file:
        for line in lines(arguments.only):
            print(line, file=file)


if __name__ == "__main__":
    main()
