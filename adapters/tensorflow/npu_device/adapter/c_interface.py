# SPDX-License-Identifier: Apache-2.0
"""C functions and structures for ctypes; `make docs` writes this anew."""

# Written by acl/generate/c_interface.py from:
#   acl/include/anynpu/error.h
#   acl/include/anynpu/settings.h
#   acl/include/anynpu/state.h
#   acl/include/anynpu/dump.h
#   acl/include/anynpu/profile.h
#   acl/include/anynpu/tuning.h
#   acl/include/anynpu/overflow.h
#   acl/include/anynpu/collective.h
#   acl/include/anynpu/graph.h
#   adapters/tensorflow/c_api/functions.h
# ruff: noqa
# fmt: off

import ctypes as C


class ClientVariable(C.Structure):
    """anynpu_client_variable"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("variable", C.c_char_p),
        ("acts", C.c_int),
        ("sentence", C.c_char_p),
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


class Overflow(C.Structure):
    """anynpu_overflow"""

    _fields_ = [
        ("struct_size", C.c_size_t),
        ("device", C.c_int32),
        ("step", C.c_int64),
        ("function", C.c_char_p),
        ("node", C.c_char_p),
        ("type", C.c_char_p),
        ("output", C.c_char_p),
        ("dtype", C.c_int),
        ("rank", C.c_int32),
        ("sizes", C.POINTER(C.c_int64)),
        ("least", C.c_double),
        ("most", C.c_double),
        ("infinities", C.c_int64),
        ("nans", C.c_int64),
        ("saturated", C.c_int64),
        ("text", C.c_char_p),
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


class SessionTensor(C.Structure):
    """anynpu_session_tensor"""

    _fields_ = [
        ("dtype", C.c_int),
        ("rank", C.c_int),
        ("sizes", C.POINTER(C.c_int64)),
        ("data", C.c_void_p),
        ("texts", C.POINTER(C.c_char_p)),
        ("lengths", C.POINTER(C.c_size_t)),
    ]


FUNCTIONS = {
    "anynpu_configured": (None, C.CFUNCTYPE(None, C.POINTER(Configuration), C.c_void_p), C.c_void_p,),
    "anynpu_detect_overflows": (C.c_int, C.c_int32, C.c_int32,),
    "anynpu_dump_start": (C.c_int, C.c_char_p,),
    "anynpu_each_client_variable": (None, C.CFUNCTYPE(None, C.POINTER(ClientVariable), C.c_void_p), C.c_void_p,),
    "anynpu_each_fusion": (None, C.CFUNCTYPE(None, C.c_char_p, C.c_char_p, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_each_overflow": (C.c_int, C.c_int32, C.CFUNCTYPE(None, C.POINTER(Overflow), C.c_void_p), C.c_void_p,),
    "anynpu_export_fusions": (None, C.c_char_p,),
    "anynpu_group_rank": (C.c_int32, C.c_char_p, C.c_int32, C.POINTER(C.c_uint32),),
    "anynpu_group_size": (C.c_int32, C.c_char_p, C.c_int32, C.POINTER(C.c_uint32),),
    "anynpu_library_write_files": (C.c_int, C.c_void_p, C.c_char_p, C.c_char_p,),
    "anynpu_live": (None, C.POINTER(C.c_size_t), C.POINTER(C.c_size_t),),
    "anynpu_overflow_detection": (C.c_int, C.c_int32, C.POINTER(C.c_int32),),
    "anynpu_overflow_mode": (C.c_int, C.c_int32, C.POINTER(C.c_int32),),
    "anynpu_profile_running": (C.c_int32,),
    "anynpu_profile_start": (C.c_int, C.c_char_p, C.c_int32,),
    "anynpu_profile_stop": (C.c_int,),
    "anynpu_recent_reason": (C.c_char_p,),
    "anynpu_set_overflow_mode": (C.c_int, C.c_int32,),
    "anynpu_set_wait_limits": (C.c_int, C.c_int64, C.c_int64,),
    "anynpu_tensorflow_callbacks": (C.c_void_p,),
    "anynpu_tensorflow_close": (C.c_int, C.c_int,),
    "anynpu_tensorflow_compile": (C.c_int, C.c_void_p, C.CFUNCTYPE(None, C.c_int, C.c_char_p),),
    "anynpu_tensorflow_device": (C.c_void_p, C.c_int, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p),),
    "anynpu_tensorflow_fetched_release": (None, C.c_void_p,),
    "anynpu_tensorflow_fusions": (None, C.c_void_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_tensorflow_iterators_alone": (None, C.c_int,),
    "anynpu_tensorflow_keep": (C.c_char_p, C.c_void_p, C.c_char_p, C.c_char_p,),
    "anynpu_tensorflow_log": (None, C.c_int, C.c_char_p,),
    "anynpu_tensorflow_loop_size": (None, C.c_int, C.c_int,),
    "anynpu_tensorflow_operators": (None, C.CFUNCTYPE(None, C.c_char_p), C.CFUNCTYPE(None, C.c_char_p),),
    "anynpu_tensorflow_overlap": (C.c_char_p, C.c_void_p, C.c_int,),
    "anynpu_tensorflow_report": (None, C.c_void_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_tensorflow_restart_random": (None, C.c_void_p,),
    "anynpu_tensorflow_run": (C.c_void_p, C.c_void_p, C.c_int, C.POINTER(SessionTensor), C.POINTER(SessionTensor), C.CFUNCTYPE(None, C.c_int, C.c_char_p),),
    "anynpu_tensorflow_session": (C.c_void_p, C.c_void_p, C.c_void_p, C.CFUNCTYPE(None, C.c_int, C.c_char_p),),
    "anynpu_tensorflow_session_close": (None, C.c_void_p,),
    "anynpu_tensorflow_session_graph": (C.c_int, C.c_void_p, C.c_void_p, C.c_size_t, C.CFUNCTYPE(None, C.c_int, C.c_char_p),),
    "anynpu_tensorflow_session_release": (None, C.c_void_p,),
    "anynpu_tensorflow_set_precision": (C.c_char_p, C.c_void_p, C.c_char_p, C.c_char_p, C.c_size_t, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_tensorflow_slice": (C.c_void_p, C.c_void_p, C.POINTER(C.c_char_p), C.c_size_t, C.POINTER(C.c_char_p), C.c_size_t, C.POINTER(C.c_char_p), C.c_size_t, C.POINTER(C.c_char_p), C.c_size_t, C.CFUNCTYPE(None, C.c_int, C.c_char_p),),
    "anynpu_tensorflow_slice_release": (None, C.c_void_p,),
    "anynpu_tensorflow_switch_fusion": (C.c_char_p, C.c_void_p, C.c_char_p, C.c_size_t, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_tensorflow_thread_start": (None, C.CFUNCTYPE(None),),
    "anynpu_tensorflow_write_files": (C.c_char_p, C.c_void_p, C.c_char_p, C.c_char_p,),
    "anynpu_tuning_begin": (C.c_int, C.c_int32, C.c_char_p, C.c_char_p, C.CFUNCTYPE(None, C.c_char_p, C.c_void_p), C.c_void_p,),
    "anynpu_tuning_running": (C.c_int32,),
    "anynpu_who_am_i": (None, C.CFUNCTYPE(None, C.POINTER(RankSource), C.c_void_p), C.c_void_p,),
    "anynpu_world_join": (C.c_int32,),
}


def declare(library):
    """Tells ctypes the types of all functions that the library has; gives the library."""
    for name, (result, *arguments) in FUNCTIONS.items():
        if function := getattr(library, name, None):
            function.restype, function.argtypes = result, arguments
    return library
