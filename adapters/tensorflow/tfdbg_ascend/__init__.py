# SPDX-License-Identifier: Apache-2.0
"""What each operator of a TensorFlow 2 program gave on the CPU or GPU, as files to compare dumps of the NPU with.

    import tfdbg_ascend as dbg
    dbg.set_dump_path("/data/golden")

It needs TensorFlow 2.15 and no NPU. The dump is on from the import, into the current folder, until disable()."""

from tfdbg_ascend.switch import disable, enable, get_dump_path, get_dump_switch, set_dump_path, start

__all__ = ["disable", "enable", "get_dump_path", "get_dump_switch", "set_dump_path"]

start()
