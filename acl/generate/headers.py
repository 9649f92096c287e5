# SPDX-License-Identifier: Apache-2.0
"""Public headers: aclnnop/aclnn_<name>.h for each function."""

import textwrap
from collections import defaultdict

MEANING = {"": "in", ">": "out", "<>": "in, out"}
WORDS = {
    "tensor": "device tensor",
    "tensor[]": "list of device tensors",
    "scalar": "one host number of any type",
    "scalar[]": "list of host numbers",
    "int[]": "list of integers",
    "bool[]": "list of truth values",
    "float[]": "list of numbers",
    "dtype": "element type",
    "bool": "switch",
    "double": "number",
    "float": "number",
    "str": "text, closed by a zero",
}


def doc_line(p):
    extra = ", may be NULL" if p.optional else ""
    extra += ", accepted and not used" if p.ignored else ""
    return f" * @param {p.name} [{MEANING[p.mark]}] {WORDS.get(p.word, 'integer')}{extra}"


def bind_sentences(row):
    """What the row's `bind` column says, for a reader of the header: "out=self mode='linear'"."""
    pairs = [item.split("=", 1) for item in row.bind.split()]
    marks = {p.name: p.mark for p in row.parameters}
    fixed = [f"{field} = {value.strip(chr(39))}" for field, value in pairs if value.startswith("'")]
    sentences = [f" The result replaces `{value}`." for field, value in pairs if marks.get(value) == "<>"]
    if fixed:
        sentences.append(f" Fixed: {', '.join(fixed)}.")
    return "".join(sentences)


def declaration(row, family):
    arguments = "".join(f"{p.c_type} {p.name}, " for p in row.parameters)
    behaviour = textwrap.fill(
        f"Behaves as {family.reference}. {family.shapes} Element types: {family.types}; "
        f"aclnn/aclnn_base.h says what holds for all functions.{bind_sentences(row)}",
        width=120, initial_indent=" * ", subsequent_indent=" * ",
    )  # fmt: skip
    return f"""/** Phase 1 of {row.name} (operator `{row.operator}`): checks the arguments and prepares the call.
{behaviour}
{chr(10).join(doc_line(p) for p in row.parameters)}
 * @param workspaceSize [out] bytes of device memory phase 2 needs (0)
 * @param executor [out] what phase 2 takes
 * @return 0; 161001 a required argument is NULL; 161002 an argument is wrong; 561xxx inner error. The reason is in
 *         aclGetRecentErrMsg(). Objects may be destroyed once phase 2 has returned. */
aclnnStatus {row.name}GetWorkspaceSize({arguments}uint64_t* workspaceSize, aclOpExecutor** executor);
/** Phase 2: queues the work on `stream` (NULL: the default stream) and consumes the executor.
 * @return 0; 561103 the executor is NULL or was used already. */
aclnnStatus {row.name}(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
"""


def base_name(row):
    """The header whose users expect this variant in it too: aclnnInplaceAdds -> aclnn_add."""
    if not row.header.startswith("aclnn_"):
        return row.header
    name = row.header.removeprefix("aclnn_").removeprefix("inplace_")
    return "aclnn_" + name


def header_text(guard_name, includes, declarations):
    guard = f"ANYNPU_ACLNNOP_{guard_name.upper()}_H_"
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* Made by acl/generate. */", f"#ifndef {guard}"]
    lines += [f"#define {guard}", "", '#include "aclnn/aclnn_base.h"']
    lines += [f'#include "aclnnop/{name}.h"' for name in includes]
    lines += ["", "#pragma GCC visibility push(default)", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += declarations
    lines += ["#ifdef __cplusplus", "}", "#endif", "#pragma GCC visibility pop", "", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def header_texts(rows, families):
    """File name -> text. The header of a base function also shows its in-place and scalar variants."""
    by_header = {row.header: row for row in rows}
    variants = defaultdict(set)
    for header, row in by_header.items():
        base = base_name(row)
        scalar_base = base.removesuffix("s")
        variants[base].add(header)
        # aclnnAdds belongs to aclnn_add.h, but aclnnAbs to no aclnn_ab.h.
        if scalar_base in by_header or f"aclnn_inplace_{scalar_base.removeprefix('aclnn_')}" in by_header:
            variants[scalar_base].add(header)
    texts = {}
    for header in sorted(set(by_header) | set(variants)):
        own = [by_header[header]] if header in by_header else []
        declarations = [declaration(row, families[row.family]) for row in own]
        includes = sorted(variants[header] - {header})
        texts[f"{header}.h"] = header_text(header, includes, declarations)
    return texts
