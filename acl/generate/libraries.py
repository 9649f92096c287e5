# SPDX-License-Identifier: Apache-2.0
"""What libanynpu.so exports, and the placeholder symbols of the vendor-named filter libraries.

A filter library's own definitions are never run: the loader looks in libanynpu.so first. They exist so that a program
can be linked with -lascendcl and so that nm shows what the library offers.
"""

from table import TableError

# Toolkits from 8.5 on split their runtime and their operators; programs link the old name or a new one.
ALSO_AS = {"libascendcl": ["libacl_rt"], "libopapi": ["libopapi_math", "libopapi_nn"]}


def entry_names(rows):
    return [name for row in rows for name in (*row.sizes, row.name)]


def version_script(rows, symbols):
    names = sorted(set(entry_names(rows)) | {s.name for s in symbols})
    return "{\n  global:\n" + "".join(f"    {name};\n" for name in names) + "  local: *;\n};\n"


def placeholders(rows, symbols, libraries):
    """Library -> names. Libraries without a built symbol stay empty shells: clients name them when they are loaded."""
    out = {library: [] for library in libraries}
    out["libopapi"] += entry_names(rows)
    for symbol in symbols:
        for library in symbol.libraries:
            if library == "libanynpu":
                continue
            if library not in out:
                raise TableError(f"{symbol.name}: library {library} is not built; name it in cmake/product.cmake")
            out[library].append(symbol.name)
    for library, others in ALSO_AS.items():
        for other in others:
            out[other] += out[library]
    return {library: sorted(names) for library, names in out.items()}


def assembly(names):
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* Made by acl/generate. */", "  .text"]
    for name in names:
        lines += [f"  .globl {name}", f"  .type {name}, @function", f"{name}:"]
    lines += ["  .zero 16", '  .section .note.GNU-stack,"",@progbits', ""]
    return "\n".join(lines)
