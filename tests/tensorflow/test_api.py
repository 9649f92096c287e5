# SPDX-License-Identifier: Apache-2.0
"""What we declare of TensorFlow's C API is what TensorFlow declares, and what the library asks of it is there."""

import pathlib
import re
import subprocess

import tensorflow as tf
from npu_device.adapter import library

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARAMETER_NAME = re.compile(r"(?<=[*&\w])\s+\w+$|(?<=\*)\w+$")


def plain(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.S | re.M)
    return re.sub(r"\s+", " ", text)


def functions(text):
    """(name, "result(parameter types)") of the functions declared."""
    out = set()
    text = plain(text).replace("TF_CAPI_EXPORT", "").replace("extern ", "").replace("struct ", "")
    for result, name, parameters in re.findall(r"([\w ]+[ *]+)(TFE?_\w+) ?\(((?:[^()]|\([^()]*\))*)\);", text):
        types = [] if parameters.strip() in ("", "void") else re.split(r",(?![^(]*\))", parameters)
        out.add((name, shape(result) + "(" + ",".join(shape(t) for t in types) + ")"))
    return out


def shape(parameter):
    """A parameter's type without its name and without blanks."""
    text = re.sub(r"\(\*\w*\)", "(*)", parameter.strip())
    if "(*)" in text:
        head, _, inner = text.partition("(*)")
        inner = ",".join(shape(t) for t in inner.strip("() ").split(","))
        return re.sub(r"\s", "", head) + "(*)(" + inner + ")"
    words = re.findall(r"\w+|\*", text)
    named = len([w for w in words if w not in ("const", "unsigned", "*")]) > 1
    if named and words[-1] != "*":
        words.pop()
    return "".join(words)


def test_functions_are_declared_as_tensorflow_declares_them():
    mine = functions((ROOT / "adapters/tensorflow/c_api/tf_api.h").read_text())
    include = pathlib.Path(tf.sysconfig.get_include()) / "tensorflow/c"
    theirs = set()
    for header in [*include.glob("*.h"), *(include / "eager").glob("*.h")]:
        theirs.update(functions(header.read_text()))
    assert len(mine) > 35
    assert mine - theirs == set()


def test_the_library_asks_for_nothing_else():
    symbols = subprocess.run(["nm", "-D", "-C", str(library.path())], capture_output=True, text=True, check=True).stdout
    wanted = {line.split()[-1].partition("@")[0] for line in symbols.splitlines() if " U " in line}
    assert not [name for name in wanted if "tensorflow::" in name]
    mine = functions((ROOT / "adapters/tensorflow/c_api/tf_api.h").read_text())
    assert {name for name in wanted if name.startswith("TF")} <= {name for name, _ in mine}
