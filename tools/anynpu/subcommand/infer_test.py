# SPDX-License-Identifier: Apache-2.0
"""What the command says of its flags; tests/pyacl/test_infer.py runs models."""

from types import SimpleNamespace

import pytest

from anynpu.command_test import anynpu
from anynpu.infer.port import Port
from anynpu.subcommand import infer

FLAGS = {"dymBatch": None, "dymHW": None, "dymDims": None, "dymShape": None, "input": None}


def port(name, *shape):
    return Port(name, "float32", "ND", shape, 0, 0)


def chosen(ports, **flags):
    return infer.chosen(SimpleNamespace(**{**FLAGS, **flags}), ports)


def test_a_file_that_is_not_there():
    code, _, err = anynpu("infer", "/nowhere/model.om")
    assert code == 1 and err == "anynpu infer: there is no file /nowhere/model.om; make one with atc\n"


def test_flags_choose_the_shapes():
    ports = [port("x", -1, 3), port("y", 5)]
    assert chosen(ports) == ("static", [[-1, 3], [5]])
    assert chosen(ports, dymBatch=4) == ("dymbatch", [[4, 3], [5]])
    assert chosen([port("x", 1, 3, -1, -1)], dymHW="4,6") == ("dymhw", [[1, 3, 4, 6]])
    assert chosen(ports, dymDims="y:5;x:2,3") == ("dymdims", [[2, 3], [5]])
    assert chosen(ports, dymShape="x:2,3;y:5") == ("dymshape", [[2, 3], [5]])


@pytest.mark.parametrize(
    "flags, text",
    [
        ({"dymHW": "224"}, "it is height and width"),
        ({"dymHW": "a,b"}, "sizes are numbers"),
        ({"dymDims": "x:1,3"}, "--dymDims names x; the inputs are x, y"),
        ({"dymShape": "1,3"}, "write NAME:"),
    ],
)
def test_flags_that_make_no_sense(flags, text):
    with pytest.raises(ValueError, match=text):
        chosen([port("x", -1, 3), port("y", 5)], **flags)


def test_zeros_need_known_sizes():
    numpy = pytest.importorskip("numpy")
    options = SimpleNamespace(**FLAGS)
    assert infer.fed(numpy, options, [port("x", 2, 3)], [[2, 3]])[0].shape == (2, 3)
    with pytest.raises(ValueError, match="open shape .* --dymBatch"):
        infer.fed(numpy, options, [port("x", -1, 3)], [[-1, 3]])
    options.input = "a.npy"
    with pytest.raises(ValueError, match="names 1 files, the model has 2 inputs: x, y"):
        infer.fed(numpy, options, [port("x", 1), port("y", 1)], [[1], [1]])


def test_one_gear_at_a_time():
    code, _, err = anynpu("infer", "model.om", "--dymBatch", "1", "--dymHW", "2,2")
    assert code == 2 and "not allowed with" in err
