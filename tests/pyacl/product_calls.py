# SPDX-License-Identifier: Apache-2.0
"""acl.blas: products of matrices and of a matrix with a vector, and the handles of both."""

import numpy as np

import acl

HUGE_FIRST, TO_DEVICE, TO_HOST, ND = 0, 1, 2, 2
TYPES = {np.float16: 1, np.int8: 2, np.int32: 3}
# Functions, the type of A and B, that of C.
KINDS = {"ex": (np.float16, np.float16), "h": (np.float16, np.float16), "s8": (np.int8, np.int32)}
M, N, K = 2, 4, 3


def run(call, folder):
    if not call.has("blas.gemm_ex"):
        return
    for kind, (source, target) in KINDS.items():
        a = np.arange(M * K, dtype=source).reshape(M, K)
        product(call, kind, "gemm", a, np.arange(K * N, dtype=source).reshape(K, N), target)
        product(call, kind, "gemv", a, np.arange(K, dtype=source), target)


def name_of(kind, shape, prefix=""):
    return f"blas.{prefix}{shape}_ex" if kind == "ex" else f"blas.{prefix}{kind}{shape}"


def to_device(call, array):
    pointer = call("rt.malloc", array.nbytes, HUGE_FIRST)
    acl.rt.memcpy(pointer, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, TO_DEVICE)
    return pointer


def check(call, pointer, right):
    call("rt.synchronize_stream", 0)
    got = np.empty_like(right)
    acl.rt.memcpy(acl.util.numpy_to_ptr(got), got.nbytes, pointer, got.nbytes, TO_HOST)
    assert np.array_equal(got, right)


def product(call, kind, shape, a, b, target):
    """c = 2 * a @ b + 3 * c, from a c of ones."""
    c = np.ones((M, N) if shape == "gemm" else (M,), dtype=target)
    right = (2 * (a.astype(np.int64) @ b.astype(np.int64)) + 3).astype(target)
    alpha, beta = np.array([2], target), np.array([3], target)
    pointers = [to_device(call, array) for array in (a, b, c)]
    # Of each matrix or vector: address, how its elements follow each other, and the type where the name has none.
    told = [[p, -1, *([TYPES[x.dtype.type]] if kind == "ex" else [])] for p, x in zip(pointers, (a, b, c), strict=True)]
    sizes = [0, 0, 0, M, N, K] if shape == "gemm" else [0, M, K]
    factors = [acl.util.numpy_to_ptr(alpha), acl.util.numpy_to_ptr(beta)]
    call(name_of(kind, shape), *sizes, factors[0], *told[0], *told[1], factors[1], *told[2], 0, 0)
    check(call, pointers[2], right)
    by_handle(call, kind, shape, sizes, (a, b, c, alpha, beta), right)


def by_handle(call, kind, shape, sizes, arrays, right):
    types = [TYPES[array.dtype.type] for array in arrays[:3]] if kind == "ex" else []
    handle = call(name_of(kind, shape, "create_handle_for_"), *sizes, *types, 0)
    pointers = [to_device(call, array) for array in arrays]
    buffers = [call("create_data_buffer", p, array.nbytes) for p, array in zip(pointers, arrays, strict=True)]
    call("op.execute_with_handle", handle, buffers, buffers[2:3], 0)
    check(call, pointers[2], right)
    call("op.destroy_handle", handle)
