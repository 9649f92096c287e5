# SPDX-License-Identifier: Apache-2.0
"""Calls every function wrongly. Prints a JSON object: name -> what was wrong with the answers. `python wrong_calls.py`.

The name of the function under way stands in the last line of stderr, for one that takes the process along.
"""

import json
import sys

import lookup

import acl

# Functions that would end what the others need, or wait for ever when only one argument is wrong.
PLAIN = {"i": 0, "u": 0, "s": 0, "f": 0.0, "p": 0}
SPECIAL = {"fn": print, "func": print, "args": [], "message": "x", "bytes": b"xx", "shape": (1,), "array": None,
           "attr_name": "x", "attr_value": [[1]], "dims_range": [[1, 2]], "roi_nums": [], "crop_areas": [],
           "paste_areas": [], "user_data": [], "type": 1}  # fmt: skip
NO_ADDRESSES = (8, 12345, (1 << 47) - 4096, (1 << 64) - 8)


def plain(word):
    """Arguments of Python that a word takes, none of them meaning anything."""
    if word in ("str", "text"):
        return [""]
    if word == "pairs":
        return [[], []]
    if word.startswith(("list/", "array/")):
        return [[]]
    if word.startswith("listed/"):
        return [0, []]
    if word.startswith("cut/"):
        return ["", 0]
    if word == "to" or word.startswith(("from/", "read/")):
        return [0, 0]
    if word == "dims":
        return [{"dims": []}]
    return [0.0 if word[0] == "f" and word[1:].isdigit() else 0]


def arguments_of(row):
    given = []
    for argument in row.arguments:
        if not argument.names:
            continue
        given += [SPECIAL.get(name, 0) for name in argument.names] if row.special else plain(argument.word)
    return given


def answer(function, given):
    """The code of a call, the error it raised, or None for a value."""
    try:
        result = function(*given)
    except (TypeError, ValueError) as error:
        return error
    return result


def raises(function, given, kind, text=""):
    got = answer(function, given)
    return [] if isinstance(got, kind) and text in str(got) else [f"{given!r}: {got!r} is no {kind.__name__}"]


def wrong_numbers(row, function):
    given = arguments_of(row)
    few, many = given[: row.least - 1], [*given, 0]
    problems = raises(function, few, TypeError, "takes") if row.least else []
    return problems + raises(function, many, TypeError, "takes")


def wrong_types(row, function):
    problems = []
    given = arguments_of(row)
    for index in range(len(given)):
        if row.special and row.names[index] in ("user_data", "args") and row.name != "util.start_thread":
            continue
        changed = [*given[:index], object(), *given[index + 1 :]]
        name = row.names[index]
        problems += raises(function, changed, TypeError, f"acl.{row.name}: {name} ")
    return problems


def wrong_values(row, function):
    """No crash, and a code or an error: numbers out of every range, and addresses where nothing is."""
    problems = []
    given = arguments_of(row)
    for index, plain_value in enumerate(given):
        if not isinstance(plain_value, int):
            continue
        problems += raises(function, [*given[:index], 1 << 80, *given[index + 1 :]], ValueError)
    for address in NO_ADDRESSES:
        changed = [address if isinstance(value, int) and is_address(row, i) else value for i, value in enumerate(given)]
        if changed != given:
            answer(function, changed)
    return problems


def is_address(row, index):
    at = 0
    for argument in row.arguments:
        for position in range(len(argument.names)):
            if at == index:
                return (
                    argument.word in ("ptr", "any")
                    or (argument.word in ("to",) or "/" in argument.word)
                    and position == 0
                )
            at += 1
    return False


def main():
    # A device, so that calls come as far as they can.
    acl.init()
    acl.rt.set_device(0)
    found = {}
    names = [name for name in lookup.there() if name not in ("finalize", "rt.reset_device", "rt.process_report")]
    for name in names:
        row, function = lookup.ROWS[name], lookup.function(name)
        print(name, file=sys.stderr, flush=True)
        problems = wrong_numbers(row, function) + wrong_types(row, function) + wrong_values(row, function)
        if problems:
            found[name] = problems
    print(json.dumps(found))


if __name__ == "__main__":
    main()
