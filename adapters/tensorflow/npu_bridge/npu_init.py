# SPDX-License-Identifier: Apache-2.0
"""`from npu_bridge.npu_init import *`: every name that scripts in the style of TensorFlow 1 use on an NPU, and from
then on every session of the process runs on it.

Modules are loaded at the first use of a name, for they load TensorFlow; importing this one does not."""

import importlib

_ESTIMATOR = "npu_bridge.estimator.npu"
_HCCL = "hccl.manage.api"
# Where each name is.
_CLASSES = {
    "npu_config": "DumpConfig DynamicInputConfig ExperimentalConfig GraphMemoryOptimizeConfig MemoryConfig "
                  "NPURunConfig ProfilingConfig",
    "npu_estimator": "NPUEstimator NPUEstimatorSpec",
    "keras_to_npu": "model_to_npu_estimator",
    "npu_hook": "NPUBroadcastGlobalVariablesHook NPUCheckpointSaverHook NPUOutputTensorHook NpuEmptyHook "
                "SetIterationsVarHook TellMeStepOrLossHook npu_hooks_append",
    "npu_callbacks": "NPUBroadcastGlobalVariablesCallback npu_callbacks_append",
    "npu_optimizer": "KerasDistributeOptimizer NPUDistributedOptimizer NPUOptimizer npu_allreduce "
                     "npu_distributed_optimizer_wrapper npu_keras_optimizer npu_tf_optimizer",
    "npu_loss_scale_optimizer": "NPULossScaleOptimizer",
    "npu_loss_scale_manager": "ExponentialUpdateLossScaleManager FixedLossScaleManager",
    "npu_session": "close_session experimental_options init_resource npu_clear_session npu_config_proto "
                   "npu_graph_options npu_optimizer_options npu_run_config_init set_keras_session_npu_config "
                   "shutdown_resource",
    "npu_common": "get_npu_local_rank_id get_npu_local_rank_size get_npu_rank_id get_npu_rank_size",
}  # fmt: skip
_MODULES = {
    "npu_ops": "npu_bridge.estimator.npu_ops",
    "npu_unary_ops": "npu_bridge.estimator.npu_unary_ops",
    "npu_plugin": f"{_ESTIMATOR}.npu_plugin",
    "npu_scope": f"{_ESTIMATOR}.npu_scope",
    "npu_strategy": f"{_ESTIMATOR}.npu_strategy",
    "util": f"{_ESTIMATOR}.util",
    "hccl_ops": "npu_bridge.hccl.hccl_ops",
    "os": "os",  # scripts of the guide ask it for RANK_ID without importing it
    "rewriter_config_pb2": "tensorflow.core.protobuf.rewriter_config_pb2",
}
_PLACES = {name: f"{_ESTIMATOR}.{module}" for module, names in _CLASSES.items() for name in names.split()} | {
    "RewriterConfig": "tensorflow.core.protobuf.rewriter_config_pb2",
    "set_split_strategy_by_idx": "npu_bridge.hccl.split",
    "set_split_strategy_by_size": "npu_bridge.hccl.split",
    "create_group": _HCCL,
    "destroy_group": _HCCL,
    "get_group_rank_from_world_rank": _HCCL,
    "get_local_rank_id": _HCCL,
    "get_local_rank_size": _HCCL,
    "get_rank_id": _HCCL,
    "get_rank_size": _HCCL,
    "get_world_rank_from_group_rank": _HCCL,
}
__all__ = sorted({*_PLACES, *_MODULES})


def named(name):
    """What has this name, wherever sessions run."""
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    return getattr(importlib.import_module(_PLACES[name]), name)


def __getattr__(name):
    if name not in _PLACES and name not in _MODULES:
        raise AttributeError(f"module 'npu_bridge.npu_init' has no attribute {name!r}")
    importlib.import_module("npu_device.session").enable()
    return named(name)


def __dir__():
    return sorted({*globals(), *__all__})
