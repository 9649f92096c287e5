# SPDX-License-Identifier: Apache-2.0
"""Model files for tests: ONNX written byte by byte, converted by the library as atc does it."""

import ctypes
import json

import numpy as np

WEIGHT = np.array([1, 2, 3], dtype=np.float32)
ONNX, FLOAT, INT64 = 5, 1, 7
SIX = {"format": "ND", "shape": [6], "type": "float"}
ADD_OF_6 = json.dumps([{"op": "Add", "input_desc": [SIX, SIX], "output_desc": [SIX]}])


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def message(*fields):
    """(number, value) pairs; a value is an int, a str, or bytes."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def value_info(name, sizes, kind=FLOAT):
    dims = [(1, message((1, size) if isinstance(size, int) else (2, size))) for size in sizes]
    return message((1, name), (2, message((1, message((1, kind), (2, message(*dims)))))))


def node(op, inputs, output, *attributes):
    return message(
        *((1, name) for name in inputs), (2, output), (3, f"{op}_node"), (4, op), *((5, a) for a in attributes)
    )


def onnx(sizes):
    """out = x * weight + x, and its largest, along axis 1; `sizes` are those of x, texts where they vary."""
    weight = WEIGHT.reshape([3] + [1] * (len(sizes) - 2))
    constant = message(*((1, size) for size in weight.shape), (2, FLOAT), (8, "weight"), (9, weight.tobytes()))
    axes = message((1, "axes"), (8, 1), (20, 7))
    nodes = [
        node("Mul", ["x", "weight"], "scaled"),
        node("Add", ["scaled", "x"], "out"),
        node("ReduceMax", ["out"], "top", axes),
    ]
    graph = message(
        *((1, one) for one in nodes), (2, "scaled"), (5, constant), (11, value_info("x", sizes)),
        (12, value_info("out", sizes)), (12, value_info("top", [sizes[0], 1, *sizes[2:]])),
    )  # fmt: skip
    return message((1, 8), (2, "tests"), (8, message((2, 13))), (7, graph))


def gather():
    """y = table[x] of 4 numbers and 2 positions: a model whose run fails for a position that there is not."""
    table = message((1, 4), (2, FLOAT), (8, "table"), (9, np.arange(4, dtype=np.float32).tobytes()))
    inputs = [(11, value_info("x", [2], INT64)), (12, value_info("y", [2]))]
    graph = message((1, node("Gather", ["table", "x"], "y")), (2, "gather"), (5, table), *inputs)
    return message((1, 8), (2, "tests"), (8, message((2, 13))), (7, graph))


def expected(x):
    weight = WEIGHT.reshape([3] + [1] * (x.ndim - 2))
    out = x * weight + x
    return out, out.max(axis=1, keepdims=True)


def library():
    """The library that the module acl has loaded."""
    with open("/proc/self/maps") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if line.rstrip().endswith("/libanynpu.so")))


def convert(model, **flags):
    """The bytes of the model file; None where this library converts no ONNX."""
    loaded = library()
    if not hasattr(loaded, "anynpu_model_convert"):
        return None
    taken = []
    take = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    keep = take(lambda bytes_, size, _: taken.append(ctypes.string_at(bytes_, size)))
    pairs = [text.encode() for pair in {"precision_mode": "must_keep_origin_dtype", **flags}.items() for text in pair]
    texts = (ctypes.c_char_p * len(pairs))(*pairs)
    size = ctypes.c_size_t(len(model))
    count = ctypes.c_size_t(len(pairs) // 2)
    code = loaded.anynpu_model_convert(ONNX, model, size, b"scaled", None, texts, count, take(0), keep, None)
    loaded.aclGetRecentErrMsg.restype = ctypes.c_char_p
    text = (loaded.aclGetRecentErrMsg() or b"").decode()
    if code == 207000:
        return None
    assert code == 0, text
    return taken[0]


def written(path, sizes, **flags):
    """The path of a model file, or None."""
    content = convert(onnx(sizes), **flags)
    if content is None:
        return None
    path.write_bytes(content)
    return path


def single_operators(text):
    """{file name: bytes} of the operators that the JSON lists, as atc --singleop makes them."""
    made = {}
    take = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    keep = take(lambda name, bytes_, size, _: made.update({name.decode(): ctypes.string_at(bytes_, size)}))
    loaded = library()
    loaded.aclGetRecentErrMsg.restype = ctypes.c_char_p
    code = loaded.anynpu_singleop_convert(text.encode(), ctypes.c_size_t(len(text)), keep, None)
    assert code == 0, loaded.aclGetRecentErrMsg()
    return made
