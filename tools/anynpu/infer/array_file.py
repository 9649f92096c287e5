# SPDX-License-Identifier: Apache-2.0
"""Files of arrays: .npy, and .bin, which are bytes alone and take the shape of the input."""

import math
from pathlib import Path


def read(numpy, path, dtype, shape):
    """The array of a file. `shape` is the input's in this run; one open size of a .bin follows from its length."""
    path = Path(path)
    if path.suffix == ".npy":
        return numpy.load(path)
    array = numpy.fromfile(path, dtype=dtype)
    known = math.prod(size for size in shape if size != -1)
    if -1 not in shape and array.size != known:
        wanted = known * array.itemsize
        raise ValueError(f"{path} has {array.nbytes} bytes, the input takes {wanted}: {list(shape)} of {dtype}")
    try:
        return array.reshape(shape)
    except ValueError:
        raise ValueError(f"{path} has {array.size} elements of {dtype}, which make no {list(shape)}") from None


def write(numpy, folder, name, array, form):
    """Writes folder/name.npy, .bin or .txt; gives the path."""
    path = Path(folder) / f"{name}.{form.lower()}"
    if form == "NPY":
        numpy.save(path, array)
    elif form == "BIN":
        array.tofile(path)
    else:
        numpy.savetxt(path, array.reshape(-1, array.shape[-1] if array.ndim else 1))
    return path
