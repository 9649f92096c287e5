# SPDX-License-Identifier: Apache-2.0
"""Public headers: aclnnop/aclnn_<name>.h for each function."""

import textwrap
from collections import defaultdict

MEANING = {"": "in", ">": "out", "<>": "in, out"}
WORDS = {
    "tensor": "device tensor",
    "packed": "device tensor, also of 4-bit elements",
    "blocked": "device tensor, also in ACL_FORMAT_FRACTAL_NZ",
    "tensor[]": "list of device tensors",
    "blocked[]": "list of device tensors, also in ACL_FORMAT_FRACTAL_NZ",
    "scalar": "one host number of any type",
    "scalar[]": "list of host numbers",
    "int[]": "list of integers",
    "bool[]": "list of truth values",
    "float[]": "list of numbers",
    "dtype": "element type",
    "bool": "switch",
    "double": "number",
    "float": "number",
    "real": "number; a caller compiled for a float is understood where its register is clean, so declare a double",
    "str": "text, closed by a zero",
}


NOTHING_BUILT = """
/* None of the vendor's functions of this header is built: it is here for programs that include it without a call. A
 * call is the compiler's "not declared"; `anynpu ops` lists the functions there are. */
""".lstrip()


# Programs written for older toolkits name the headers by their folder then.
FORWARDS = """
/* SPDX-License-Identifier: Apache-2.0 */
/* Made by acl/generate. */
#include "aclnnop/{header}.h"
""".lstrip()


def rule_words(rule):
    """What acl/types.tsv says of one argument, for a reader of the header."""
    if rule.same:
        return f"; the type of `{rule.same}`"
    if not rule.types:
        also = f", and up to {rule.beyond} because torch-npu passes it" if rule.beyond else ""
        return f", {rule.low} to {rule.high}{also}"
    also = f", and because torch-npu passes them {', '.join(rule.also)}" if rule.also else ""
    return f": {', '.join(rule.documented)}{also}"


def doc_line(p, row):
    extra = ", may be NULL" if p.optional else ""
    extra += rule_words(row.rules[p.name]) if p.name in row.rules else ""
    extra += ", accepted and not used" if p.ignored else ""
    text = f"@param {p.name} [{MEANING[p.mark]}] {WORDS.get(p.word, 'integer')}{extra}"
    return textwrap.fill(text, width=120, initial_indent=" * ", subsequent_indent=" *        ")


def bind_sentences(row):
    """What the row's `bind` column says, for a reader of the header: "out=self mode='linear'"."""
    pairs = [item.split("=", 1) for item in row.bind.split()]
    marks = {p.name: p.mark for p in row.parameters}
    fixed = [f"{field} = {value.strip(chr(39))}" for field, value in pairs if value.startswith("'")]
    sentences = [f" The result replaces `{value}`." for field, value in pairs if marks.get(value) == "<>"]
    if fixed:
        sentences.append(f" Fixed: {', '.join(fixed)}.")
    return "".join(sentences)


def types_sentence(row, family):
    if not any(rule.types for rule in row.rules.values()):
        return f"Element types: {family.types};"
    return f"Element types as documented in {row.page}: another one is refused;"


def largest(row, arguments):
    if not row.asks_most:
        return ""
    return f"""/** Phase 1 of the largest call, which clients ask for before they capture a graph: the same. */
aclnnStatus {row.name}GetMaxWorkspaceSize({arguments}uint64_t* workspaceSize, aclOpExecutor** executor);
"""


def declaration(row, family):
    arguments = "".join(f"{p.c_type} {p.name}, " for p in row.parameters)
    behaviour = textwrap.fill(
        f"Behaves as {family.reference}. {family.shapes} {types_sentence(row, family)} "
        f"aclnn/aclnn_base.h says what holds for all functions.{bind_sentences(row)}",
        width=120, initial_indent=" * ", subsequent_indent=" * ",
    )  # fmt: skip
    return f"""/** Phase 1 of {row.name} (operator `{row.operator}`): checks the arguments and prepares the call.
{behaviour}
{chr(10).join(doc_line(p, row) for p in row.parameters)}
 * @param workspaceSize [out] bytes of device memory phase 2 needs (0)
 * @param executor [out] what phase 2 takes
 * @return 0; 161001 a required argument is NULL; 161002 an argument is wrong; 561xxx inner error. The reason is in
 *         aclGetRecentErrMsg(). Objects may be destroyed once phase 2 has returned. */
aclnnStatus {row.name}GetWorkspaceSize({arguments}uint64_t* workspaceSize, aclOpExecutor** executor);
{largest(row, arguments)}/** Phase 2: queues the work on `stream` (NULL: the default stream) and consumes the executor.
 * @return 0; 561103 the executor is NULL or was used already. */
aclnnStatus {row.name}(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
"""


def base_name(header):
    """The header whose users expect this variant in it too: aclnn_inplace_adds -> aclnn_adds."""
    return "aclnn_" + header.removeprefix("aclnn_").removeprefix("inplace_") if header.startswith("aclnn_") else header


def header_text(name, includes, declarations):
    guard = f"ANYNPU_ACLNNOP_{name.upper()}_H_"
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* Made by acl/generate. */", f"#ifndef {guard}"]
    lines += [f"#define {guard}", ""]
    lines += [f'#include "{include}"' for include in includes]
    lines += ["", "#pragma GCC visibility push(default)", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += declarations
    lines += ["#ifdef __cplusplus", "}", "#endif", "#pragma GCC visibility pop", "", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def variants_of(names):
    """Header -> the headers of its in-place and scalar variants."""
    variants = defaultdict(set)
    for name in names:
        base = base_name(name)
        scalar_base = base.removesuffix("s")
        variants[base].add(name)
        # aclnnAdds belongs to aclnn_add.h, but aclnnAbs to no aclnn_ab.h.
        if scalar_base in names or f"aclnn_inplace_{scalar_base.removeprefix('aclnn_')}" in names:
            variants[scalar_base].add(name)
    return variants


def header_texts(rows, families, named):
    """File name -> text. The header of a base function also shows its in-place and scalar variants; `named` holds the
    headers of acl/headers.tsv."""
    by_header = defaultdict(list)
    for row in rows:
        by_header[row.header].append(row)
    variants = variants_of(set(by_header))
    texts = {}
    for header in sorted(set(by_header) | set(variants) | set(named)):
        includes = ["aclnn/aclnn_base.h"]
        includes += named[header].includes if header in named else ()
        includes += [f"aclnnop/{name}.h" for name in sorted(variants[header] - {header})]
        declarations = [declaration(row, families[row.family]) for row in by_header.get(header, ())]
        if len(includes) == 1 and not declarations:
            declarations = [NOTHING_BUILT]
        texts[f"{header}.h"] = header_text(header, includes, declarations)
        texts[f"level2/{header}.h"] = FORWARDS.format(header=header)
    return texts
