# SPDX-License-Identifier: Apache-2.0
"""Bodies of names that clients link but whose feature is not built (acl/unsupported.tsv): each refuses with a text."""

from dataclasses import dataclass

from table import TableError, read_lines


@dataclass(frozen=True)
class Unsupported:
    returns: str
    name: str
    feature: str
    text: str


def read(path, symbols):
    returns = {symbol.name: symbol.returns for symbol in symbols}
    out = []
    for where, cells in read_lines(path, ["name", "feature", "text"]):
        if cells[0] not in returns:
            raise TableError(f"{where}: {cells[0]} does not stand in symbols.tsv")
        out.append(Unsupported(returns[cells[0]], *cells))
    return out


def body(entry, index):
    """The arguments are never looked at, so none is declared; who is to get an object gets a null pointer."""
    refusal = f"refuse_unsupported(kFeatures[{index}])"
    made, returned = (
        ("void*", f"{refusal}; return nullptr") if entry.returns.endswith("*") else ("int", f"return {refusal}")
    )
    return f'__attribute__((visibility("default"))) {made} {entry.name}() {{ {returned}; }}\n'


def source(entries):
    rows = "".join(f'    {{"{e.name}", "{e.feature}", "{e.text}"}},\n' for e in entries)
    bodies = "".join(body(entry, index) for index, entry in enumerate(entries))  # no header declares them
    return f"""// SPDX-License-Identifier: Apache-2.0
// Made by acl/generate from acl/unsupported.tsv.
#include "acl/unsupported.h"

namespace npu::acl {{
namespace {{
constexpr UnsupportedFeature kFeatures[] = {{
{rows}}};
}}  // namespace
std::span<const UnsupportedFeature> unsupported_features() {{ return kFeatures; }}

extern "C" {{
{bodies}}}
}}  // namespace npu::acl
"""
