# SPDX-License-Identifier: Apache-2.0
"""C functions and structures for ctypes; `make docs` writes this anew."""

# Written by acl/generate/c_interface.py from:
#   acl/include/anynpu/collective.h
# ruff: noqa
# fmt: off

import ctypes as C


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


FUNCTIONS = {
    "anynpu_group_create": (C.c_int32, C.c_char_p, C.c_uint32, C.POINTER(C.c_uint32),),
    "anynpu_group_destroy": (C.c_int32, C.c_char_p,),
    "anynpu_group_from_world": (C.c_int32, C.c_char_p, C.c_uint32, C.POINTER(C.c_uint32),),
    "anynpu_group_rank": (C.c_int32, C.c_char_p, C.c_int32, C.POINTER(C.c_uint32),),
    "anynpu_group_size": (C.c_int32, C.c_char_p, C.c_int32, C.POINTER(C.c_uint32),),
    "anynpu_group_to_world": (C.c_int32, C.c_char_p, C.c_uint32, C.POINTER(C.c_uint32),),
    "anynpu_split_by_index": (C.c_int32, C.c_char_p, C.c_uint32, C.POINTER(C.c_uint32),),
    "anynpu_split_by_size": (C.c_int32, C.c_char_p, C.c_uint32, C.POINTER(C.c_double),),
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
