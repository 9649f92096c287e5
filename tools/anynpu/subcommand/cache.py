# SPDX-License-Identifier: Apache-2.0
"""Shows the compiled functions that are kept on disk, so that the next process need not compile them: `list` (each with
its age and size, and what is wrong with one that will not be used), `verify` (the same, and 1 if one is of no use),
`clear` (removes all). docs/caches.md tells more."""

import sys

from anynpu.library import door
from anynpu.output import table

KILO = 1024


def add_arguments(parser):
    parser.add_argument("what", nargs="?", default="list", choices=["list", "verify", "clear"])
    parser.add_argument(
        "--dir", default="", help="the folder that op_compiler_cache_dir names (default: as without it)"
    )


def age(seconds):
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def row(entry):
    return [entry.key, entry.function or "?", str(entry.nodes), f"{entry.bytes / KILO:.1f} KiB",
            f"{entry.compile_ms:.1f}", age(entry.used_s), entry.problem]  # fmt: skip


def listed(entries, folder):
    total = sum(entry.bytes for entry in entries)
    lines = [f"{folder}: {len(entries)} functions, {total / KILO / KILO:.1f} MiB"]
    if entries:
        head = ["key", "function", "nodes", "size", "compile ms", "used before", "problem"]
        lines.append(table.columns(head, [row(entry) for entry in entries]))
    return "\n".join(lines)


def execute(options):
    folder, entries = door.kept_folder(options.dir), door.kept(options.dir)
    if options.what == "clear":
        door.clear_kept(options.dir)
        left = len(door.kept(options.dir))
        print(f"{folder}: {len(entries) - left} functions removed")
        if left:
            print(f"anynpu cache: {left} functions cannot be removed; is the folder somebody else's?", file=sys.stderr)
        return 1 if left else 0
    print(listed(entries, folder))
    useless = sum(1 for entry in entries if entry.problem)
    if options.what == "verify" and useless:
        print(f"anynpu cache: {useless} of {len(entries)} entries will not be used; they are made anew when their "
              "functions are compiled, or removed with: anynpu cache clear", file=sys.stderr)  # fmt: skip
    return 1 if options.what == "verify" and useless else 0
