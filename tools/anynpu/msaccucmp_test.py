# SPDX-License-Identifier: Apache-2.0
import csv
import struct
import subprocess
import sys

import numpy as np
import pytest

MSACCUCMP = [sys.executable, "-c", "from anynpu.msaccucmp import main; main()"]


def field(number, value):
    """A field of protobuf: a whole number, or bytes behind their length."""
    head = bytes([number << 3 | (0 if isinstance(value, int) else 2)])
    return head + (varint(value) if isinstance(value, int) else varint(len(value)) + value)


def varint(value):
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def write_dump(path, array):
    """A dump file with one output of float32."""
    shape = field(1, b"".join(map(varint, array.shape)))
    output = field(1, 1) + field(2, 2) + field(3, shape) + field(6, array.nbytes) + field(7, shape)
    header = field(1, b"2.0") + field(3, output)
    path.write_bytes(struct.pack("<Q", len(header)) + header + array.tobytes())


@pytest.fixture
def dumps(tmp_path):
    """Two operators on both sides, the second with a difference."""
    golden = np.arange(24, dtype=np.float32).reshape(4, 6)
    for side in ("mine", "golden"):
        (tmp_path / side).mkdir()
        write_dump(tmp_path / side / "MatMul.layer_one.1.0.1600000000000001", golden)
        write_dump(tmp_path / side / "Add.layer_two.2.0.1600000000000002", golden + (side == "mine"))
    return tmp_path


def run(*arguments):
    return subprocess.run([*MSACCUCMP, *map(str, arguments)], capture_output=True, text=True)


def test_two_folders_are_compared(dumps):
    done = run("compare", "-m", dumps / "mine", "-g", dumps / "golden", "-out", dumps / "out")
    assert done.returncode == 0, done.stderr
    (result,) = (dumps / "out").glob("result_*.csv")
    rows = list(csv.DictReader(result.open(newline="")))
    assert [row["NPUDump"] for row in rows] == ["layer_one", "layer_two"]
    assert [row["MaxAbsoluteError"] for row in rows] == ["0.000000", "1.000000"]
    assert rows[1]["Shape"] == "[4,6]"


def test_a_dump_becomes_an_array(dumps):
    done = run("convert", "-d", dumps / "mine", "-out", dumps / "out")
    assert done.returncode == 0, done.stderr
    array = np.load(dumps / "out/MatMul.layer_one.1.0.1600000000000001.output.0.npy")
    np.testing.assert_array_equal(array, np.arange(24, dtype=np.float32).reshape(4, 6))


def test_a_partial_file_is_told_and_the_rest_goes_on(dumps):
    partial = dumps / "mine/MatMul.layer_one.1.0.1600000000000001"
    partial.write_bytes(partial.read_bytes()[:-1])
    done = run("compare", "-m", dumps / "mine", "-g", dumps / "golden", "-out", dumps / "out")
    assert done.returncode == 11
    (result,) = (dumps / "out").glob("result_*.csv")
    rows = list(csv.DictReader(result.open(newline="")))
    assert "not written to its end" in rows[0]["CompareFailReason"]
    assert rows[1]["MaxAbsoluteError"] == "1.000000"
    done = run("convert", "-d", dumps / "mine", "-out", dumps / "out")
    assert done.returncode == 11
    assert (dumps / "out/convert_failed_file_list.txt").read_text() == f"{partial}\n"


def test_arrays_are_compared_by_file(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(8, np.float32)), np.save(tmp_path / "b.npy", np.full(8, 2, np.float32))
    done = run("file_compare", "-m", tmp_path / "a.npy", "-g", tmp_path / "b.npy", "-out", tmp_path)
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.glob("file_result_*.txt")
    assert "MeanRelativeError: 0.500000" in result.read_text()


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["compare", "-m", "a"], 2),
        (["compare", "-m", "/nowhere", "-g", "/nowhere"], 3),
        (["compare", "-m", "a", "-g", "a", "-r", "1,2,1"], 6),
        (["file_compare", "-m", "a.bin", "-g", "b.npy", "-out", "."], 24),
        ([], 6),
    ],
)
def test_wrong_use_has_its_exit_code(arguments, code):
    assert run(*arguments).returncode == code
