# SPDX-License-Identifier: Apache-2.0
"""C functions and structures for ctypes; `make docs` writes this anew."""

# Written by acl/generate/c_interface.py from:
#   acl/include/anynpu/error.h
#   acl/include/anynpu/registry.h
#   acl/include/anynpu/settings.h
#   acl/include/anynpu/state.h
#   acl/include/anynpu/collective.h
#   acl/include/anynpu/cache.h
#   acl/include/anynpu/graph.h
#   acl/include/anynpu/nonfinite.h
#   acl/include/anynpu/digest.h
#   acl/include/anynpu/task.h
#   acl/include/anynpu/tuning.h
#   acl/include/anynpu/profile.h
# ruff: noqa
# fmt: off

import ctypes as C


class Operator(C.Structure):
    """anynpu_operator"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("name", C.c_char_p),
        ("family", C.c_char_p),
        ("fields", C.c_char_p),
        ("traits", C.c_char_p),
    ]


class Function(C.Structure):
    """anynpu_function"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("name", C.c_char_p),
        ("family", C.c_char_p),
        ("operator_name", C.c_char_p),
        ("arguments", C.c_char_p),
        ("problem", C.c_char_p),
    ]


class Unfinished(C.Structure):
    """anynpu_unfinished"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("name", C.c_char_p),
        ("feature", C.c_char_p),
        ("text", C.c_char_p),
    ]


class Choice(C.Structure):
    """anynpu_choice"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("cpu", C.c_char_p),
        ("work", C.c_char_p),
        ("dtype", C.c_char_p),
        ("variant", C.c_char_p),
        ("shapes", C.c_char_p),
        ("ways", C.c_char_p),
    ]


class Setting(C.Structure):
    """anynpu_setting"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("variable", C.c_char_p),
        ("type", C.c_char_p),
        ("default_text", C.c_char_p),
        ("in_force", C.c_char_p),
        ("sentence", C.c_char_p),
    ]


class ClientVariable(C.Structure):
    """anynpu_client_variable"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("variable", C.c_char_p),
        ("acts", C.c_int),
        ("sentence", C.c_char_p),
    ]


class Usage(C.Structure):
    """anynpu_usage"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("pid", C.c_int32),
        ("process", C.c_char_p),
        ("soc", C.c_char_p),
        ("device_count", C.c_int32),
        ("device", C.c_int32),
        ("capacity", C.c_uint64),
        ("used", C.c_uint64),
        ("high_water", C.c_uint64),
        ("tasks", C.c_uint64),
        ("busy_ns", C.c_uint64),
    ]


class Configuration(C.Structure):
    """anynpu_configuration"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("soc", C.c_char_p),
        ("device_count", C.c_int32),
        ("capacity", C.c_uint64),
        ("machine_memory", C.c_uint64),
        ("problem", C.c_char_p),
    ]


class TableRank(C.Structure):
    """anynpu_table_rank"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("rank", C.c_int32),
        ("device", C.c_int32),
        ("server", C.c_char_p),
        ("pod", C.c_char_p),
    ]


class RankSource(C.Structure):
    """anynpu_rank_source"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("source", C.c_char_p),
        ("table", C.c_char_p),
        ("rank", C.c_int32),
        ("size", C.c_uint32),
        ("device", C.c_int32),
        ("first_port", C.c_uint16),
        ("ports", C.c_uint16),
        ("problem", C.c_char_p),
    ]


class CollectivePlan(C.Structure):
    """anynpu_collective_plan"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("operation", C.c_char_p),
        ("bytes", C.c_uint64),
        ("algorithm", C.c_char_p),
        ("us", C.c_double),
        ("limit_us", C.c_double),
    ]


class Network(C.Structure):
    """anynpu_network"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("latency_us", C.c_double),
        ("message_us", C.c_double),
        ("bytes_per_us", C.c_double),
    ]


class Kept(C.Structure):
    """anynpu_kept"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("key", C.c_char_p),
        ("function", C.c_char_p),
        ("made", C.c_char_p),
        ("nodes", C.c_int64),
        ("bytes", C.c_int64),
        ("compile_ms", C.c_double),
        ("used_s", C.c_int64),
        ("problem", C.c_char_p),
    ]


class OperatorPrecision(C.Structure):
    """anynpu_operator_precision"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("op", C.c_char_p),
        ("aliases", C.c_char_p),
        ("unit", C.c_char_p),
        ("list", C.c_char_p),
        ("dtypes", C.c_char_p),
    ]


class PrecisionEffect(C.Structure):
    """anynpu_precision_effect"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("op", C.c_char_p),
        ("effect", C.c_char_p),
    ]


class Nonfinite(C.Structure):
    """anynpu_nonfinite"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("device", C.c_int32),
        ("type", C.c_char_p),
        ("node", C.c_char_p),
        ("graph", C.c_char_p),
        ("step", C.c_int64),
        ("output", C.c_char_p),
        ("dtype", C.c_int),
        ("rank", C.c_int32),
        ("sizes", C.POINTER(C.c_int64)),
        ("infinities", C.c_int64),
        ("nans", C.c_int64),
        ("of_infinities", C.c_int32),
        ("text", C.c_char_p),
    ]


class Task(C.Structure):
    """anynpu_task"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("text", C.c_char_p),
        ("blob_count", C.c_size_t),
        ("blobs", C.POINTER(C.c_void_p)),
        ("sizes", C.POINTER(C.c_size_t)),
    ]


FUNCTIONS = {
    "anynpu_bank_differences": (C.c_int, C.c_char_p, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_bank_file": (C.c_int, C.c_int32, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_bank_merge": (C.c_int, C.c_char_p, C.c_char_p, C.POINTER(C.c_size_t),),
    "anynpu_bank_read": (C.c_int, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_bank_verify": (C.c_int, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_clear_kept": (C.c_int, C.c_char_p,),
    "anynpu_configured": (None, C.CFUNCTYPE(None, C.POINTER(Configuration), C.c_void_p), C.c_void_p,),
    "anynpu_digest_start": (C.c_int, C.c_char_p, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_each_choice": (None, C.CFUNCTYPE(None, C.POINTER(Choice), C.c_void_p), C.c_void_p,),
    "anynpu_each_client_variable": (None, C.CFUNCTYPE(None, C.POINTER(ClientVariable), C.c_void_p), C.c_void_p,),
    "anynpu_each_collective_plan": (C.c_int32, C.c_uint32, C.CFUNCTYPE(None, C.POINTER(CollectivePlan), C.c_void_p), C.c_void_p,),
    "anynpu_each_collective_plan_between": (C.c_int32, C.c_uint32, C.c_uint32, C.POINTER(Network), C.CFUNCTYPE(None, C.POINTER(CollectivePlan), C.c_void_p), C.c_void_p,),
    "anynpu_each_function": (None, C.CFUNCTYPE(None, C.POINTER(Function), C.c_void_p), C.c_void_p,),
    "anynpu_each_kept": (C.c_int, C.c_char_p, C.CFUNCTYPE(None, C.POINTER(Kept), C.c_void_p), C.c_void_p,),
    "anynpu_each_operator": (None, C.CFUNCTYPE(None, C.POINTER(Operator), C.c_void_p), C.c_void_p,),
    "anynpu_each_operator_precision": (None, C.CFUNCTYPE(None, C.POINTER(OperatorPrecision), C.c_void_p), C.c_void_p,),
    "anynpu_each_precision_effect": (C.c_int, C.c_char_p, C.CFUNCTYPE(None, C.POINTER(PrecisionEffect), C.c_void_p), C.c_void_p,),
    "anynpu_each_setting": (None, C.CFUNCTYPE(None, C.POINTER(Setting), C.c_void_p), C.c_void_p,),
    "anynpu_each_table_rank": (C.c_int32, C.c_char_p, C.CFUNCTYPE(None, C.POINTER(TableRank), C.c_void_p), C.c_void_p,),
    "anynpu_each_tuned": (None, C.CFUNCTYPE(None, C.c_char_p, C.c_char_p, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_each_unfinished": (None, C.CFUNCTYPE(None, C.POINTER(Unfinished), C.c_void_p), C.c_void_p,),
    "anynpu_each_usage": (None, C.CFUNCTYPE(None, C.POINTER(Usage), C.c_void_p), C.c_void_p,),
    "anynpu_kept_folder": (C.c_char_p, C.c_char_p,),
    "anynpu_profile_module": (C.c_int, C.c_char_p, C.c_int32,),
    "anynpu_recent_reason": (C.c_char_p,),
    "anynpu_replay_task": (C.c_int, C.c_char_p, C.c_int32, C.CFUNCTYPE(None, C.POINTER(Task), C.c_void_p), C.c_void_p,),
    "anynpu_save_task": (C.c_int, C.POINTER(Task), C.c_char_p, C.c_char_p,),
    "anynpu_tuning_begin": (C.c_int, C.c_int32, C.c_char_p, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_tuning_end": (None,),
    "anynpu_version": (C.c_char_p,),
    "anynpu_watch_nonfinite": (None, C.CFUNCTYPE(None, C.POINTER(Nonfinite), C.c_void_p), C.c_void_p,),
    "anynpu_watch_tasks": (None, C.CFUNCTYPE(None, C.POINTER(Task), C.c_void_p), C.c_void_p, C.c_int64,),
    "anynpu_who_am_i": (None, C.CFUNCTYPE(None, C.POINTER(RankSource), C.c_void_p), C.c_void_p,),
    "anynpu_world_join": (C.c_int32,),
    "anynpu_world_leave": (C.c_int32,),
}


def declare(library):
    """Tells ctypes the types of all functions that the library has; gives the library."""
    for name, (result, *arguments) in FUNCTIONS.items():
        if function := getattr(library, name, None):
            function.restype, function.argtypes = result, arguments
    return library
