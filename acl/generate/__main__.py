# SPDX-License-Identifier: Apache-2.0
"""Build-time generator of the door: python acl/generate --tables acl --out build/generated --libraries libopapi ….

Writes entries/<family>.cpp and entries/rows.cpp (the C functions), include/aclnnop/*.h (public headers), exports.map
(what libanynpu.so shows) and filter/<library>.S (placeholders of the vendor-named libraries). A file whose content
stays the same is left alone, so nothing is compiled again.
"""

import argparse
import sys
from pathlib import Path

import entries
import headers
import libraries
import table
import unsupported


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--libraries", nargs="+", required=True, help="filter libraries to make symbols for")
    options = parser.parse_args()
    named = table.read_headers(options.tables / "headers.tsv")
    rows_by_family = table.read_rows(options.tables / "aclnn" / "functions", named)
    families = table.read_types(options.tables / "types.tsv", rows_by_family)
    families = table.mark_largest(options.tables / "max_workspace.tsv", families)
    symbols = table.read_symbols(options.tables / "symbols.tsv")
    rows = [row for family in families.values() for row in family]

    for family, members in families.items():
        write(options.out / "entries" / f"{family}.cpp", entries.family_source(family, members))
    write(options.out / "entries" / "rows.cpp", entries.rows_source(families))
    refused = unsupported.read(options.tables / "unsupported.tsv", symbols)
    write(options.out / "entries" / "unsupported.cpp", unsupported.source(refused))
    folder = options.out / "include" / "aclnnop"
    texts = headers.header_texts(rows, table.read_families(options.tables / "families.tsv", families), named)
    for name, text in texts.items():
        write(folder / name, text)
    for stale in set(folder.rglob("*.h")) - {folder / name for name in texts}:
        stale.unlink()
    write(options.out / "exports.map", libraries.version_script(rows, symbols))
    for library, names in libraries.placeholders(rows, symbols, options.libraries).items():
        write(options.out / "filter" / f"{library}.S", libraries.assembly(names))


if __name__ == "__main__":
    try:
        main()
    except table.TableError as error:
        sys.exit(f"acl/generate: {error}")
