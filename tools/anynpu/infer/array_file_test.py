# SPDX-License-Identifier: Apache-2.0
import pytest

from anynpu.infer import array_file

numpy = pytest.importorskip("numpy")


@pytest.mark.parametrize("form", ["NPY", "BIN", "TXT"])
def test_what_is_written_is_read(tmp_path, form):
    array = numpy.random.default_rng(1).random((2, 3), dtype=numpy.float32)
    path = array_file.write(numpy, tmp_path, "x", array, form)
    read = numpy.loadtxt(path) if form == "TXT" else array_file.read(numpy, path, "float32", [2, 3])
    numpy.testing.assert_allclose(read, array, rtol=1e-6)


def test_bytes_take_the_shape_of_the_input(tmp_path):
    path = tmp_path / "x.bin"
    numpy.arange(6, dtype=numpy.int32).tofile(path)
    assert array_file.read(numpy, path, "int32", [-1, 2]).shape == (3, 2)
    with pytest.raises(ValueError, match=r"has 24 bytes, the input takes 32: \[2, 4\] of int32"):
        array_file.read(numpy, path, "int32", [2, 4])
    with pytest.raises(ValueError, match=r"6 elements of int32, which make no \[-1, 4\]"):
        array_file.read(numpy, path, "int32", [-1, 4])
