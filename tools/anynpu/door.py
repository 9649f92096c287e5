# SPDX-License-Identifier: Apache-2.0
"""The door's introspection (acl/include/anynpu/*.h) as Python lists. Everything known is asked of libanynpu.so."""

import ctypes as C
from functools import cache
from types import SimpleNamespace

from anynpu import place

TEXT, NUMBER, SIZE = C.c_char_p, C.c_int32, C.c_uint64


def _struct(title, /, **members):
    return type(title, (C.Structure,), {"_fields_": [("struct_size", C.c_size_t), *members.items()]})


OPERATOR = _struct("operator", name=TEXT, family=TEXT, fields=TEXT, traits=TEXT)
FUNCTION = _struct("function", name=TEXT, family=TEXT, operator_name=TEXT, arguments=TEXT, problem=TEXT)
SETTING = _struct("setting", variable=TEXT, type=TEXT, default_text=TEXT, in_force=TEXT, sentence=TEXT)
CLIENT_VARIABLE = _struct("client_variable", variable=TEXT, acts=C.c_int, sentence=TEXT)
USAGE = _struct(
    "usage", pid=NUMBER, process=TEXT, soc=TEXT, device_count=NUMBER, device=NUMBER,
    capacity=SIZE, used=SIZE, high_water=SIZE, tasks=SIZE, busy_ns=SIZE,
)  # fmt: skip
CONFIGURATION = _struct(
    "configuration", soc=TEXT, device_count=NUMBER, capacity=SIZE, machine_memory=SIZE, problem=TEXT
)
UNFINISHED = _struct("unfinished", name=TEXT, feature=TEXT, text=TEXT)
TABLE_RANK = _struct("table_rank", rank=NUMBER, device=NUMBER, server=TEXT, pod=TEXT)
RANK_SOURCE = _struct(
    "rank_source", source=TEXT, table=TEXT, rank=NUMBER, size=C.c_uint32, device=NUMBER, first_port=C.c_uint16,
    ports=C.c_uint16, problem=TEXT,
)  # fmt: skip

COLLECTIVE_PLAN = _struct(
    "collective_plan", operation=TEXT, bytes=SIZE, algorithm=TEXT, us=C.c_double, limit_us=C.c_double
)
OPERATOR_PRECISION = _struct("operator_precision", op=TEXT, aliases=TEXT, unit=TEXT, list=TEXT, dtypes=TEXT)
PRECISION_EFFECT = _struct("precision_effect", op=TEXT, effect=TEXT)


@cache
def library():
    return C.CDLL(str(place.libraries() / place.CORE), C.RTLD_LOCAL)


def _copy(pointer, kind):
    out = SimpleNamespace()
    for name, member in kind._fields_[1:]:
        value = getattr(pointer.contents, name)
        setattr(out, name, (value or b"").decode() if member is TEXT else value)
    return out


def _each(function, kind, *arguments):
    """All items. A function that can refuse raises ValueError with its text."""
    found = []
    visit = C.CFUNCTYPE(None, C.POINTER(kind), C.c_void_p)(lambda item, _: found.append(_copy(item, kind)))
    code = getattr(library(), function)(*arguments, visit, None)
    if arguments and code != 0:
        library().aclGetRecentErrMsg.restype = C.c_char_p
        raise ValueError((library().aclGetRecentErrMsg() or b"").decode().removeprefix(f"[{function}] "))
    return found


def operators():
    return _each("anynpu_each_operator", OPERATOR)


def functions():
    return _each("anynpu_each_function", FUNCTION)


def settings():
    return _each("anynpu_each_setting", SETTING)


def client_variables():
    return _each("anynpu_each_client_variable", CLIENT_VARIABLE)


def usages():
    return _each("anynpu_each_usage", USAGE)


def unfinished():
    return _each("anynpu_each_unfinished", UNFINISHED)


def version():
    library().anynpu_version.restype = C.c_char_p
    return library().anynpu_version().decode()


def configured():
    """What a program started now would see: SoC, number of NPUs, memory."""
    return _each("anynpu_configured", CONFIGURATION)[0]


def table_ranks(path):
    """The ranks of a rank table, in order. ValueError says what is wrong with it."""
    return _each("anynpu_each_table_rank", TABLE_RANK, str(path).encode())


def who_am_i():
    """Which rank a program started now would be."""
    return _each("anynpu_who_am_i", RANK_SOURCE)[0]


def collective_plans(ranks):
    """How collectives on so many ranks will be done. Raises ValueError for a number or an HCCL_ALGO without sense."""
    return _each("anynpu_each_collective_plan", COLLECTIVE_PLAN, C.c_uint32(ranks))


def operator_precisions():
    """The published table of precision."""
    return _each("anynpu_each_operator_precision", OPERATOR_PRECISION)


def precision_effects(mode):
    """{operator: what a precision mode makes of it}. Raises ValueError for a mode that there is not."""
    found = _each("anynpu_each_precision_effect", PRECISION_EFFECT, mode.encode())
    return {one.op: one.effect for one in found}
