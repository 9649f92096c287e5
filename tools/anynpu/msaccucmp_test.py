# SPDX-License-Identifier: Apache-2.0
import csv
import pathlib
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
    path.write_bytes(header(1, array.shape, array.nbytes) + array.tobytes())


def header(kind, sizes, count):
    """What stands in front of the elements of one output."""
    shape = field(1, b"".join(map(varint, sizes)))
    output = field(1, kind) + field(2, 2) + field(3, shape) + field(6, count) + field(7, shape)
    made = field(1, b"2.0") + field(3, output)
    return struct.pack("<Q", len(made)) + made


@pytest.mark.parametrize("folder", ["tools", "toolkit/tools"])
def test_it_lies_where_the_guides_look(dumps, folder):
    script = pathlib.Path(__file__).parent / folder / "operator_cmp/compare/msaccucmp.py"
    command = [sys.executable, script, "compare", "-m", dumps / "mine", "-g", dumps / "golden", "-out", dumps / "out"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert list((dumps / "out").glob("result_*.csv"))


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


NUMBERS = [0, 1, 2, 100, 127]
TORCH = [  # number in the dump, elements, what torch has
    (1, np.array([*NUMBERS, -1.5, np.inf, -np.inf, np.nan, -0.0, 1e-45], "f4"), "float32"),
    (2, np.array([*NUMBERS, -1.5, np.inf, np.nan, 6e-8], "f2"), "float16"),
    (3, np.array([*NUMBERS, -128], "i1"), "int8"),
    (4, np.array([*NUMBERS, 255], "u1"), "uint8"),
    (5, np.array([*NUMBERS, -32768], "i2"), "int16"),
    (6, np.array([*NUMBERS, 65535], "u2"), "int32"),
    (7, np.array([*NUMBERS, -(2**31)], "i4"), "int32"),
    (8, np.array([*NUMBERS, -(2**63), 2**63 - 1], "i8"), "int64"),
    (9, np.array([*NUMBERS, 2**32 - 1], "u4"), "int64"),
    (11, np.array([False, True, True]), "bool"),
    (12, np.array([*NUMBERS, 1e300, np.nan, -np.inf], "f8"), "float64"),
    (16, np.array([1 + 2j, complex(np.inf, np.nan)], "c8"), "complex64"),
    (17, np.array([1 + 2j, complex(np.inf, np.nan)], "c16"), "complex128"),
]


def as_torch(folder, kind, shape, elements):
    """The tensor of a dump file that became one of torch."""
    torch = pytest.importorskip("torch")
    file = folder / "Op.a.1.0.1600000000000001"
    file.write_bytes(header(kind, shape, len(elements)) + elements)
    done = run("convert", "-d", file, "-t", "pt", "-out", folder / "out")
    assert done.returncode == 0, done.stderr
    return torch.load(folder / "out" / f"{file.name}.output.0.pt", weights_only=True)


@pytest.mark.parametrize(("kind", "array", "name"), TORCH, ids=lambda value: value if isinstance(value, str) else "")
def test_a_dump_becomes_a_tensor_of_torch(tmp_path, kind, array, name):
    found = as_torch(tmp_path, kind, [1, array.size], array.tobytes())
    assert str(found.dtype) == f"torch.{name}" and found.shape == (1, array.size) and found.is_contiguous()
    if array.dtype.itemsize == found.element_size():
        assert found.numpy().tobytes() == array.tobytes()
    else:
        assert found[0].tolist() == array.tolist()


@pytest.mark.parametrize(("kind", "name"), [(27, "bfloat16"), (34, "float8_e5m2"), (35, "float8_e4m3fn")])
def test_floats_that_numpy_has_not_become_tensors_of_torch(tmp_path, kind, name):
    torch = pytest.importorskip("torch")
    bits = torch.arange(256, dtype=torch.int32).to(torch.uint8)
    golden = torch.cat([bits, bits.flip(0)]).view(getattr(torch, name))
    found = as_torch(tmp_path, kind, list(golden.shape), golden.view(torch.uint8).numpy().tobytes())
    if kind == 27:
        assert found.dtype == golden.dtype and torch.equal(found.view(torch.uint8), golden.view(torch.uint8))
    else:
        assert found.dtype == torch.float32 and torch.equal(found.nan_to_num(7), golden.float().nan_to_num(7))


def test_of_torch_one_number_and_none(tmp_path):
    assert as_torch(tmp_path, 1, [], struct.pack("<f", 2.5)).tolist() == [2.5]
    empty = as_torch(tmp_path, 2, [0, 3], b"")
    assert empty.shape == (0, 3) and str(empty.dtype) == "torch.float16"


def test_of_torch_blocks_follow_each_other(tmp_path):
    array = np.random.default_rng(0).integers(0, 2**32, (3, 5000), "u4")
    assert as_torch(tmp_path, 9, array.shape, array.tobytes()).tolist() == array.tolist()


@pytest.mark.parametrize(
    ("kind", "count", "width", "told"),
    [(10, 4, 8, "torch has no storage of uint64; write it with -t npy."), (1, 1 << 30, 4, "4 GiB fit; use -t npy.")],
)
def test_what_torchs_file_does_not_hold_is_refused(tmp_path, kind, count, width, told):
    file = tmp_path / "Op.a.1.0.1600000000000001"
    file.write_bytes(header(kind, [count], count * width))
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size + count * width)  # without a block on the disk
    done = run("convert", "-d", file, "-t", "pt", "-out", tmp_path / "out")
    assert done.returncode != 0 and told in done.stderr, done.stderr
    assert not list((tmp_path / "out").glob("*.pt"))


@pytest.mark.parametrize("command", ["convert -d mine", "compare -m mine -g golden"])
def test_scripts_of_ones_own_are_refused_with_a_way(dumps, command):
    done = run(*(str(dumps / word) if word in ("mine", "golden") else word for word in command.split()), "-c", dumps)
    assert done.returncode != 0 and "modules of Python" in done.stderr and "convert -t npy" in done.stderr


@pytest.mark.parametrize("ending", ["h5", "hdf5", "pth"])
def test_goldens_in_hdf5_are_refused_with_a_way(dumps, ending):
    (dumps / "arrays").mkdir()
    (dumps / f"arrays/layer.0.1600000000000000.{ending}").write_bytes(b"\x89HDF\r\n")
    done = run("compare", "-m", dumps / "mine", "-g", dumps / "arrays", "-out", dumps / "out")
    assert done.returncode != 0 and f"{ending}: files of PyTorch and HDF5 are not read" in done.stderr
    assert "numpy.save(" in done.stderr


@pytest.mark.parametrize("more", [[], ["-ffts"]])
def test_slices_that_are_not_put_together_are_told(dumps, more):
    for thread in range(2):
        write_dump(
            dumps / f"mine/Add.layer_two.2.0.1600000000000002.4.0.{thread}.0", np.full((4, 6), thread, np.float32)
        )
    done = run("compare", "-m", dumps / "mine", "-g", dumps / "golden", "-out", dumps / "out", *more)
    assert done.returncode == 0, done.stderr
    assert (
        "[WARNING]" in done.stderr and "of 1 operators there are several slices (FFTS+), as of layer_two" in done.stderr
    )


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
