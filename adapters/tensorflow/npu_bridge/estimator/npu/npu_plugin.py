# SPDX-License-Identifier: Apache-2.0
"""The NPU as a resource of the process. These may be called before TensorFlow is imported."""

import inspect
import sys

from npu_device.setting import session, telling
from npu_device.setting.overflow import is_inf_nan_enabled, set_device_sat_mode

__all__ = ["init_rdma_pool", "is_inf_nan_enabled", "npu_close", "npu_global_init", "npu_global_shutdown",
           "npu_resource_init", "npu_resource_shutdown", "set_device_sat_mode"]  # fmt: skip


def npu_resource_init(
    graph_run_mode=1,
    op_debug_level=0,
    enable_profiling=False,
    profiling_options=None,
    precision_mode=None,
    enable_scope_fusion_passes=None,
    enable_exception_dump=2,
    aoe_mode=None,
    work_path=None,
    op_compiler_cache_mode=None,
    op_compiler_cache_dir=None,
    debug_dir=None,
    hcom_multi_mode=False,
    distribute_config=None,
    aoe_config_file=None,
    precision_mode_v2=None,
):
    """Sets options of the process, which hold from the first session on, as if it named them itself. An argument that
    has its default leaves its option alone. TypeError and ValueError as for sessions."""
    given = dict(locals())
    defaults = {name: one.default for name, one in inspect.signature(npu_resource_init).parameters.items()}
    known = session.checked({name: value for name, value in given.items() if value != defaults[name]})
    session.put_in_force(known, lambda: _device() is not None and _device().is_open(), lambda: None)


def _device():
    """The module that opens devices, if the program has needed it."""
    return sys.modules.get("npu_device.device")


def npu_resource_shutdown():
    """Ends what reads data sets ahead. The device stays usable until the process ends, which closes it."""
    if _device() is not None:
        _device().close()


def npu_close():
    """As npu_resource_shutdown."""
    npu_resource_shutdown()


# Their names in scripts that are older.
npu_global_init, npu_global_shutdown = npu_resource_init, npu_resource_shutdown


def init_rdma_pool(mem_size):
    """Accepted: memory for direct access from other hosts is taken as it is used. ValueError for no size."""
    if isinstance(mem_size, bool) or not isinstance(mem_size, int) or mem_size <= 0:
        raise ValueError(f"mem_size is {mem_size!r}; it is a number of bytes above 0")
    telling.once("pool", "init_rdma_pool has no effect: there is no pool to reserve, memory is taken as it is used")
