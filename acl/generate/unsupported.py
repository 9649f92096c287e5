# SPDX-License-Identifier: Apache-2.0
"""Bodies of names that clients link but whose feature is not built (acl/unsupported.tsv): each refuses with a text."""

from dataclasses import dataclass

from table import TableError, read_lines


@dataclass(frozen=True)
class Unsupported:
    name: str
    feature: str
    text: str


def read(path, symbols):
    known = {symbol.name for symbol in symbols}
    out = []
    for where, cells in read_lines(path, ["name", "feature", "text"]):
        if cells[0] not in known:
            raise TableError(f"{where}: {cells[0]} does not stand in symbols.tsv")
        out.append(Unsupported(*cells))
    return out


def source(entries):
    rows = "".join(f'    {{"{e.name}", "{e.feature}", "{e.text}"}},\n' for e in entries)
    # The arguments are never looked at, so none is declared; no header with the true signature is included.
    bodies = "".join(
        f'__attribute__((visibility("default"))) int {e.name}() {{ return refuse_unsupported(kFeatures[{i}]); }}\n'
        for i, e in enumerate(entries)
    )
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
