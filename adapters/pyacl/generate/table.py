# SPDX-License-Identifier: Apache-2.0
"""functions.tsv, read: one line is one function of the module."""

import re
from dataclasses import dataclass

import words

COLUMNS = ["name", "function", "arguments", "results"]


class TableError(Exception):
    """A line that makes no sense; the text names it."""


@dataclass(frozen=True)
class Argument:
    """`names:word`, `>name:word` written by the C function, `<name:word` given back, `names>name:word` both; `?`."""

    names: tuple  # of the Python arguments
    word: str
    back: str  # the name of what is given back, or ""
    optional: bool
    mark: str

    @property
    def spelled(self):
        """The class, and the kinds of its C arguments."""
        if self.mark == ">":
            return words.output(self.word)
        if self.mark == "<":
            return "Kept", ["ptr"]
        return words.input_word(self.word)


@dataclass(frozen=True)
class Row:
    name: str
    function: str
    arguments: tuple
    returned: tuple  # (name, word) pairs: one, or those of a function of its own

    @property
    def special(self):
        """Written by hand in special/."""
        return any(word == "any" for _, word in self.returned)

    @property
    def module(self):
        return self.name.rpartition(".")[0]

    @property
    def names(self):
        return [name for argument in self.arguments for name in argument.names]

    @property
    def least(self):
        return sum(len(argument.names) for argument in self.arguments if not argument.optional)

    @property
    def results(self):
        back = [argument.back for argument in self.arguments if argument.back]
        return back + [name for name, _ in self.returned if name != "none"]

    @property
    def signature(self):
        """(kind of the result, kinds of the C function's arguments)."""
        kinds = [kind for argument in self.arguments for kind in argument.spelled[1]]
        return words.result(self.returned[0][1])[1], kinds


def parse_argument(text):
    match = re.fullmatch(r"([<>]?)([\w,]+)(?:>(\w+))?:([\w/]+)(\?)?", text)
    if not match:
        raise TableError(f"'{text}' is not [<|>]name[,name][>name]:word[?]")
    mark, names, back, word, optional = match.groups()
    names = tuple(names.split(","))
    if mark:
        return Argument(() if mark == ">" else names, word, names[0], False, mark)
    return Argument(names, word, back or "", optional is not None, "")


def parse_row(cells):
    name, function, arguments, results = cells
    if not re.fullmatch(r"([a-z]+\.)?[a-z][a-z0-9_]*", name):
        raise TableError(f"'{name}' is not module.name")
    row = Row(
        name,
        "" if function == "-" else function,
        tuple(parse_argument(one) for one in arguments.split() if one != "-"),
        tuple(tuple(one.split(":")) for one in results.split()),
    )
    if not row.special:
        _ = row.signature
    seen_optional = [argument.optional for argument in row.arguments if argument.names]
    if seen_optional != sorted(seen_optional):
        raise TableError("an argument that must be given follows one that may be left out")
    return row


def read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines[0].split("\t") != COLUMNS:
        raise TableError(f"{path}: the first line must be {' TAB '.join(COLUMNS)}")
    rows = {}
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        try:
            if len(cells) != len(COLUMNS):
                raise TableError(f"{len(cells)} columns, expected {len(COLUMNS)}")
            row = parse_row(cells)
        except (TableError, words.WordError) as error:
            raise TableError(f"{path}:{number}: {error}") from None
        if row.name in rows:
            raise TableError(f"{path}:{number}: {row.name} stands twice")
        rows[row.name] = row
    return list(rows.values())
