# SPDX-License-Identifier: Apache-2.0
"""The C entry pairs and the rows behind them."""

from table import MARKS

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Made by acl/generate from acl/aclnn/functions/{family}.tsv.\n"


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def boolean(value):
    return "true" if value else "false"


def rule_text(rule, row):
    same = [p.name for p in row.parameters].index(rule.same) if rule.same else -1
    return f"{{{rule.bits:#x}, {same}, {rule.low}, {rule.end}}}"


def parameter_line(p, row):
    words = [f'"{p.name}"', f'"{p.word}"', f"Word::{p.kind}", f"Mark::{MARKS[p.mark]}", boolean(p.ignored)]
    words += [boolean(p.optional)] + ([rule_text(row.rules[p.name], row)] if p.name in row.rules else [])
    return f"    {{{', '.join(words)}}},"


def row_line(row):
    texts = ", ".join(quote(t) for t in (row.name, row.family, row.operator, row.bind, row.arguments))
    return f"    {{{texts}, k{row.name}}},"


def signature(row):
    """The parameter list of phase 1, without the two results."""
    return ", ".join(f"{p.c_type} {p.name}" for p in row.parameters)


def entry_pair(row, index):
    names = ", ".join(f"real_argument({p.name})" if p.word == "real" else p.name for p in row.parameters)
    first = "".join(
        f"""
aclnnStatus {name}({signature(row)}, uint64_t* workspaceSize, aclOpExecutor** executor) {{
  const Argument arguments[] = {{{names}}};
  return phase1(kRows[{index}], arguments, workspaceSize, executor);
}}"""
        for name in row.sizes
    )
    return f"""{first}
aclnnStatus {row.name}(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {{
  return phase2(kRows[{index}], workspace, workspaceSize, executor, stream);
}}
"""


def family_source(family, rows):
    parts = [HEAD.format(family=family)]
    parts += ['#include "acl/aclnn/phase.h"']
    if any(p.word == "real" for row in rows for p in row.parameters):
        parts += ['#include "acl/aclnn/real_argument.h"']
    parts += [""]
    parts += [f'#include "aclnnop/{header}.h"' for header in sorted({row.header for row in rows})]
    parts += ["", "namespace npu::acl {", "namespace {", ""]
    for row in rows:
        parts.append(f"constexpr Parameter k{row.name}[] = {{")
        parts += [parameter_line(p, row) for p in row.parameters]
        parts.append("};")
    parts += ["", "const Row kRows[] = {"]
    parts += [row_line(row) for row in rows]
    parts += ["};", "", "}  // namespace"]
    parts += [f"std::span<const Row> rows_of_{family}() {{ return kRows; }}", "}  // namespace npu::acl", ""]
    parts += ["using namespace npu::acl;", "", 'extern "C" {']
    parts += [entry_pair(row, index) for index, row in enumerate(rows)]
    parts += ['}  // extern "C"', ""]
    return "\n".join(parts)


def rows_source(families):
    names = [family for family, rows in families.items() if rows]
    declarations = "\n".join(f"std::span<const Row> rows_of_{name}();" for name in names)
    members = ", ".join(f"rows_of_{name}()" for name in names)
    return f"""// SPDX-License-Identifier: Apache-2.0
// Made by acl/generate.
#include "acl/aclnn/row.h"

namespace npu::acl {{

{declarations}

std::span<const std::span<const Row>> row_families() {{
  static const std::span<const Row> families[] = {{{members}}};
  return families;
}}

}}  // namespace npu::acl
"""
