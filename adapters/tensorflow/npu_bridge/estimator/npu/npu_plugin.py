# SPDX-License-Identifier: Apache-2.0
"""The NPU as a resource of the process. These may be called before TensorFlow is imported."""

import importlib
import inspect
import sys

from npu_device.setting import session, telling
from npu_device.setting.overflow import is_inf_nan_enabled, set_device_sat_mode

__all__ = ["get_rdma_cache", "get_var_addr_and_size", "init_rdma_pool", "is_inf_nan_enabled", "malloc_shared_memory",
           "npu_close", "npu_global_init", "npu_global_shutdown", "npu_resource_init", "npu_resource_shutdown",
           "rdma_remote_init", "rdma_remote_register", "set_device_sat_mode"]  # fmt: skip


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


def _no_remote_memory(name):
    raise NotImplementedError(
        f"{name} is not built: no process reads the memory of another by its address here. Keep what all need in a "
        "tf.Variable of each process, and use hccl_ops.allreduce, allgather and broadcast"
    )


def rdma_remote_register(remote_var_list):
    """Refused: publishes the addresses of variables to other hosts."""
    _no_remote_memory("rdma_remote_register")


def rdma_remote_init(remote_var_list, mem_size):
    """Refused: publishes the addresses of variables to other hosts, and reserves memory for what they send."""
    _no_remote_memory("rdma_remote_init")


def get_var_addr_and_size(var_name):
    """Refused: the address of a variable, for other hosts."""
    _no_remote_memory("get_var_addr_and_size")


def malloc_shared_memory(var_name, shape, data_type):
    """Refused: memory that processes of one host share, for other hosts to read."""
    _no_remote_memory("malloc_shared_memory")


def get_rdma_cache(data_type, shape, name="rdma_w"):
    """A variable of zeros, for what comes from other processes."""
    tf = importlib.import_module("tensorflow.compat.v1")
    return tf.get_variable(name, shape, data_type, tf.zeros_initializer())
