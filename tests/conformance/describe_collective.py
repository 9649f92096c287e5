# SPDX-License-Identifier: Apache-2.0
"""Cases of products with a collective, on a communicator of one rank: shapes, types and layouts. What ranks do together
is in tests/collective/test_fused.py."""

import ctypes as C
import functools

from case import HALF, T, case

from device import LIB, Device, check


@functools.cache
def one_rank():
    Device()
    devices, communicator = (C.c_int32 * 1)(0), C.c_void_p()
    check(LIB.HcclCommInitAll(C.c_uint32(1), devices, C.byref(communicator)))
    name = C.create_string_buffer(128)
    check(LIB.HcclGetCommName(communicator, name))
    return name.value.decode()


def hcom(_):
    return one_rank()


def product(x1, x2, bias=None, x3=None):
    return x1 @ x2 + (0 if bias is None else bias) + (0 if x3 is None else x3)


def case_of(name, oracle, **values):
    case(name, oracle, HALF, terms="absolute", hcom=hcom, **{"comm_turn": 0, "stream_mode": 1, **values})


def sum_of_two(x1, x2, bias):
    return product(x1, x2, bias)


def sum_of_three(x1, x2, bias, x3):
    return product(x1, x2, bias, x3)


SIZES = [((5, 7), (7, 3)), ((64, 96), (96, 40)), ((1, 33), (33, 1))]
for x1, x2 in [*SIZES, ((2, 5, 7), (7, 3)), ((3, 40, 64), (64, 48))]:
    for bias in (None, T(x2[-1])):
        case_of("aclnnMatmulAllReduce", sum_of_two, x1=T(*x1), x2=T(*x2), bias=bias, reduce_op="sum")
        for x3 in (None, T(*x1[:-1], x2[-1])):
            for name, more in (("aclnnMatmulAllReduceV2", {}), ("aclnnMatmulAllReduceV3", {"comm_mode": "aiv"})):
                case_of(name, sum_of_three, x1=T(*x1), x2=T(*x2), bias=bias, x3=x3, reduce_op="sum", **more)

PLAIN = {"x1_scale": None, "x2_scale": None, "quant_scale": None, "block_size": 0, "group_size": 0, "comm_mode": "aiv"}


def gathered(self, x2, bias):
    return product(self, x2, bias), self


def scattered(self, x2, bias):
    return product(self, x2, bias)


def gathered_v2(self, x2, bias):
    return (*gathered(self, x2, bias), None)


def scattered_v2(self, x2, bias):
    return scattered(self, x2, bias), None


def alone(self, x2, bias):
    return product(self, x2, bias), None


for x1, x2 in SIZES:
    for bias in (None, T(x2[-1])):
        given = {"self": T(*x1), "x2": T(*x2), "bias": bias}
        case_of("aclnnAllGatherMatmul", gathered, gather_index=0, **given)
        case_of("aclnnAllGatherMatmul", alone, gather_index=0, **given)
        case_of("aclnnAllGatherMatmulV2", gathered_v2, gather_index=0, **given, **PLAIN)
        case_of("aclnnMatmulReduceScatter", scattered, reduce_op="sum", **given)
        case_of("aclnnMatmulReduceScatterV2", scattered_v2, reduce_op="sum", **given, **PLAIN)
