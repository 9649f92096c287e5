# SPDX-License-Identifier: Apache-2.0
"""Rows of text as columns, or as the Markdown table of a generated page."""


def columns(head, rows):
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def markdown(head, rows):
    cells = [[cell.replace("|", "\\|") for cell in row] for row in [head, ["---"] * len(head), *rows]]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)
