# SPDX-License-Identifier: Apache-2.0
"""Scopes that mark the nodes built inside them. Those of without_npu_compile_scope and keep_dtype_scope are done; what
the others ask for is a matter of memory, engines and lanes that software has not, and says so once."""

import contextlib

import tensorflow.compat.v1 as tf
from npu_device.scope import keep_dtype_scope, npu_recompute_scope
from npu_device.setting import telling

__all__ = ["keep_dtype_scope", "npu_graph_slice_scope", "npu_mem_type_scope", "npu_qos_label_scope",
           "npu_recompute_scope", "npu_stage_scope", "npu_variable_scope", "npu_weight_prefetch_scope",
           "op_specified_engine_scope", "subgraph_multi_dims_scope", "without_npu_compile_scope"]  # fmt: skip


def _value(value):
    if isinstance(value, bool):
        return tf.AttrValue(b=value)
    return tf.AttrValue(i=value) if isinstance(value, int) else tf.AttrValue(s=tf.compat.as_bytes(value))


@contextlib.contextmanager
def _marked(**attributes):
    with tf.get_default_graph()._attr_scope({name: _value(value) for name, value in attributes.items()}):
        yield


def _idle(scope, why, **attributes):
    telling.once(scope, f"{scope} has no effect on results or speed here: {why}")
    return _marked(**attributes)


def without_npu_compile_scope():
    """Nodes built in a `with` block of this run on the host."""
    return _marked(_without_npu_compile=True)


def npu_variable_scope(placement="ALL"):
    """Accepted: variables are placed in the one memory that there is. `placement`: a name, or a member of an enum."""
    placement = getattr(placement, "value", placement)
    if not isinstance(placement, str):
        raise ValueError(f"placement is {placement!r}; it is a name, such as 'ALL', or a member of NpuExecutePlacement")
    why = "variables lie in the memory of the device, which host and NPU share"
    return _idle("npu_variable_scope", why, _variable_placement=placement)


def npu_stage_scope(stage):
    """Accepted: a graph is one stage."""
    why = "a graph is not cut into the stages of a pipeline"
    return _idle("npu_stage_scope", why, _stage_level=_whole("stage", stage))


def npu_mem_type_scope():
    """Accepted: there is one kind of memory."""
    return _idle("npu_mem_type_scope", "there is one kind of memory", _output_memory_type=1)


def npu_weight_prefetch_scope(buffer_pool_id=0, buffer_pool_size=536870912):
    """Accepted: weights lie where they are computed with."""
    return _idle(
        "npu_weight_prefetch_scope",
        "weights lie where they are computed with, and are not fetched ahead",
        _buffer_pool_id=_whole("buffer_pool_id", buffer_pool_id),
        _buffer_pool_size=_whole("buffer_pool_size", buffer_pool_size),
    )


def op_specified_engine_scope(engine_name, kernel_lib_name):
    """Accepted: there is one engine, that of the CPU's cores."""
    return _idle(
        "op_specified_engine_scope",
        "there is one engine, that of the CPU's cores",
        _specified_engine_name=engine_name,
        _specified_kernel_lib_name=kernel_lib_name,
    )


def subgraph_multi_dims_scope(index):
    """Accepted: each shape gets a plan of its own, whatever shapes were told."""
    why = "each shape that a run brings gets a plan of its own"
    return _idle("subgraph_multi_dims_scope", why, _subgraph_multi_dims_index=_whole("index", index))


def npu_graph_slice_scope(slice_num=None):
    """Accepted: no operator is cut to fit a smaller memory."""
    sliced = {} if slice_num is None else {"_graph_slice_num": _whole("slice_num", slice_num)}
    return _idle("npu_graph_slice_scope", "no operator is cut to fit a smaller memory", _graph_slice=True, **sliced)


def npu_qos_label_scope(label):
    """Accepted: no other traffic competes for the memory."""
    return _idle("npu_qos_label_scope", "traffic on a bus is not told apart", _qos_service_label=_whole("label", label))


def _whole(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, 0 or more")
    return value
