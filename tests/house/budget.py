# SPDX-License-Identifier: Apache-2.0
"""Sizes of files and functions, as house.md budgets them. Functions are found by their braces: close, not exact."""

import re
from statistics import median, quantiles

import source

FUNCTION = re.compile(r"^(?![ \t]*(?:namespace|class|struct|enum|union|extern|#|//))[^;=]*\)[^;{}]*\{\s*$")


def lines_of(path):
    return source.text(path).splitlines()


def product_files():
    return [path for path in source.with_suffix(".h", ".cpp") if path.parts[0] in source.rooms()]


def function_lengths(lines):
    """Length of each function body that opens at the end of a line, its braces left out."""
    found, depth, open_at = [], 0, None
    for number, line in enumerate(lines):
        code = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//.*', "", line)
        if open_at is None and FUNCTION.match(code):
            open_at, base = number, depth
        depth += code.count("{") - code.count("}")
        if open_at is not None and depth <= base:
            found.append(max(number - open_at - 1, 0))
            open_at = None
        elif open_at is None and re.search(r"\)[^;{}]*\{.*\}\s*$", code):
            found.append(1)
    return found


def is_comment(line):
    return line.lstrip().startswith(("//", "/*", "* ", "*/"))


def share(paths):
    lines = [line for path in paths for line in lines_of(path) if line.strip()]
    return 100 * sum(map(is_comment, lines)) / max(len(lines), 1)


def percentile90(values):
    return quantiles(values, n=10)[8] if len(values) > 1 else values[0]


def report():
    paths = [path for path in product_files() if not source.is_test(path)]
    sizes = [len(lines_of(path)) for path in paths]
    functions = [length for path in paths for length in function_lengths(lines_of(path))]
    within = 100 * sum(length <= 30 for length in functions) / len(functions)
    conditions = sum(
        line.lstrip().startswith("#if") and not re.search("_H_|__cplusplus", line)
        for p in paths
        for line in lines_of(p)
    )
    public = [path for path in paths if "include" in path.parts]
    return [
        f"files      {len(paths)}: median {median(sizes):.0f} lines (120), 90th percentile "
        f"{percentile90(sizes):.0f} (500), longest {max(sizes)} (1000)",
        f"functions  {len(functions)}: median {median(functions):.0f} lines (5), 90th percentile "
        f"{percentile90(functions):.0f} (30), within 30 lines {within:.1f} % (92)",
        f"#if        {1000 * conditions / sum(sizes):.2f} per 1,000 lines (1)",
        f"comments   {share(paths):.0f} % (10 to 18), public headers {share(public):.0f} % (25 to 40)",
    ]
