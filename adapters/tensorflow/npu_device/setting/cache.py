# SPDX-License-Identifier: Apache-2.0
"""op_compiler_cache_mode and op_compiler_cache_dir: compiled functions are kept on disk for the next process."""

from npu_device.adapter import library
from npu_device.setting import debug


def put_in_force(info, options):
    """On a device. Who looks for errors wants everything compiled, and its files written: nothing is kept then."""
    if debug.wanted(options):
        return library.log("The compile cache is off, for op_debug_level or op_debug_config is set")
    library.keep(info, options.op_compiler_cache_mode, options.op_compiler_cache_dir or "")
