# SPDX-License-Identifier: Apache-2.0
"""The words of functions.tsv: the class of C++ behind each, and what the C function is given for it."""

NUMBERS = {
    "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t",
    "i64": "int64_t", "u64": "uint64_t", "size": "size_t", "f32": "float", "f64": "double", "ptr": "void*",
    "str": "const char*",
}  # fmt: skip
# Of words without a parameter: the class, and the C arguments by kind.
PLAIN = {
    "str": ("Text", ["ptr"]),
    "text": ("Measured", ["ptr", "size"]),
    "pairs": ("Pairs", ["i32", "ptr", "ptr"]),
    "to": ("To", ["ptr", "size"]),
    "dims": ("InDims", ["ptr"]),
    "gears": ("Gears", ["ptr", "size"]),
}
OUT = {"dims": "OutDims", "batch": "OutBatch", "hw": "OutImage", "utilization": "OutUtilization"}


class WordError(Exception):
    """An argument that makes no sense."""


def number(name):
    if name not in NUMBERS:
        raise WordError(f"'{name}' is no number; known are {', '.join(NUMBERS)}")
    return NUMBERS[name]


def output(word):
    return (OUT[word] if word in OUT else f"Out<{number(word)}>"), ["ptr"]


def parametric(word, parameters):
    types = [number(name) for name in parameters]
    if word == "list" and len(types) == 1:
        return f"List<{types[0]}>", ["i32", "ptr"]
    if word == "listed" and len(types) == 1:
        return f"Listed<{types[0]}>", ["i32", "ptr"]
    if word == "array" and len(types) == 2:
        return f"Array<{', '.join(types)}>", ["ptr", parameters[1]]
    if word == "cut" and len(types) == 1:
        return f"Cut<{types[0]}>", ["ptr", parameters[0]]
    if word == "from" and len(types) == 1:
        return f"From<{types[0]}>", ["ptr", parameters[0]]
    if word == "read" and len(types) == 1:
        return f"Read<{types[0]}>", ["ptr", parameters[0]]
    if word == "cell" and len(types) == 1:
        return f"Cell<{types[0]}>", ["ptr"]
    if word == "filled" and len(types) == 1:
        return f"Filled<{types[0]}, false>", ["ptr", "size"]
    if word == "filling" and len(types) == 1:
        return f"Filled<{types[0]}, true>", ["size", "ptr"]
    raise WordError(f"'{'/'.join([word, *parameters])}' is no word")


def input_word(word):
    if word in PLAIN:
        return PLAIN[word]
    if word in NUMBERS:
        return f"In<{NUMBERS[word]}>", [word]
    name, *parameters = word.split("/")
    return parametric(name, parameters)


def result(word):
    """The class of what the C function returns, and its kind."""
    if word == "code":
        return "Code", "i32"
    if word == "none":
        return "Nothing", "void"
    return f"Value<{number(word)}>", "ptr" if word == "str" else word
