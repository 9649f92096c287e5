# SPDX-License-Identifier: Apache-2.0
"""Build-time generator: python adapters/pyacl/generate --table adapters/pyacl/functions.tsv --out FOLDER.

Writes part_<module>.cpp, the functions of one module, and parts.cpp, which lists them. A file whose content stays the
same is left alone, so nothing is compiled again.
"""

import argparse
import sys
from pathlib import Path

import table
import words

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Made by adapters/pyacl/generate from functions.tsv.\n"


def entry(row):
    if row.special:
        return f"special::{row.name.replace('.', '_')}"
    classes = [words.result(row.returned[0][1])[0], *(argument.spelled[0] for argument in row.arguments)]
    return f"invoke<{', '.join(classes)}>"


def line(row):
    texts = ", ".join(f'"{text}"' for text in (row.name, row.function, ", ".join(row.names), ", ".join(row.results)))
    return f"    {{{texts}, {row.least}, {len(row.names)}, &{entry(row)}}},"


def part_source(module, rows):
    headers = ["core/function.h", "core/invoke.h", "core/structure.h", "core/word.h", "special/entry.h"]
    lines = [HEAD, *(f'#include "adapters/pyacl/{header}"' for header in headers)]
    lines += ["", "namespace npu::pyacl {", "namespace {", "Function functions[] = {", *map(line, rows), "};"]
    lines += ["}  // namespace", f"std::span<Function> functions_of_{module or 'acl'}() {{ return functions; }}"]
    return "\n".join([*lines, "}  // namespace npu::pyacl", ""])


def parts_source(modules):
    declared = "\n".join(f"std::span<Function> functions_of_{module or 'acl'}();" for module in modules)
    members = "\n".join(f'      {{"{module}", functions_of_{module or "acl"}()}},' for module in modules)
    return f"""{HEAD}
#include "adapters/pyacl/core/function.h"

namespace npu::pyacl {{
{declared}
std::span<const Part> parts() {{
  static const Part all[] = {{
{members}
  }};
  return all;
}}
}}  // namespace npu::pyacl
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = table.read(options.table)
    modules = list(dict.fromkeys(row.module for row in rows))
    for module in modules:
        members = [row for row in rows if row.module == module]
        write(options.out / f"part_{module or 'acl'}.cpp", part_source(module, members))
    write(options.out / "parts.cpp", parts_source(modules))


if __name__ == "__main__":
    try:
        main()
    except table.TableError as error:
        sys.exit(str(error))
