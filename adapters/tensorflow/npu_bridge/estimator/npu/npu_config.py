# SPDX-License-Identifier: Apache-2.0
"""NPURunConfig, and the groups of options that it takes. Each option is a key of a session (docs/tensorflow1.md), which
an estimator puts into the configuration of its sessions."""

import dataclasses
import enum
import warnings
from dataclasses import dataclass

import tensorflow as tf
from npu_device.setting import session

__all__ = ["DumpConfig", "DynamicInputConfig", "ExperimentalConfig", "GraphMemoryOptimizeConfig", "MemoryConfig",
           "NPURunConfig", "NpuExecutePlacement", "ProfilingConfig"]  # fmt: skip


class NpuExecutePlacement(enum.Enum):
    """Where npu_scope.npu_variable_scope puts variables; all are stored in the one memory that exists."""

    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"


@dataclass
class DumpConfig:
    """Tensors of operators as files: dump_config of npu.global_options()."""

    enable_dump: bool = False
    dump_path: str | None = None
    dump_step: str | None = None
    dump_mode: str = "output"
    enable_dump_debug: bool = False
    dump_debug_mode: str = "all"
    dump_data: str = "tensor"
    dump_layer: str | None = None


@dataclass
class ProfilingConfig:
    """Records of the process: profiling_config of npu.global_options()."""

    enable_profiling: bool = False
    profiling_options: str | None = None


@dataclass
class MemoryConfig:
    """How memory is given to graphs."""

    atomic_clean_policy: int = 0
    static_memory_policy: int = 0
    memory_optimization_policy: str | None = None


@dataclass
class DynamicInputConfig:
    """Shapes that a graph is to be compiled for in advance."""

    input_shape: str
    dynamic_dims: str
    dynamic_node_type: str


@dataclass
class GraphMemoryOptimizeConfig:
    """What is thrown away to be computed again."""

    recompute: str | None = None
    graph_slice: str | None = None


@dataclass
class ExperimentalConfig:
    """Options whose meaning may still change."""

    logical_device_cluster_deploy_mode: str = "LB"
    logical_device_id: str | None = None
    model_deploy_mode: str | None = None
    model_deploy_devicelist: str | None = None
    graph_memory_optimize_config: GraphMemoryOptimizeConfig | None = None
    enable_graph_parallel: bool | None = None
    graph_parallel_option_path: str | None = None
    graph_compiler_cache_dir: str | None = None
    resource_config_path: str | None = None
    accelerate_train_mode: str | None = None


# Parameters that are such groups, and those that are RunConfig's own; all others are keys of sessions.
GROUPS = {
    "profiling_config": ProfilingConfig,
    "dump_config": DumpConfig,
    "dynamic_input_config": DynamicInputConfig,
    "memory_config": MemoryConfig,
    "experimental_config": ExperimentalConfig,
    "graph_memory_optimize_config": GraphMemoryOptimizeConfig,
}
OF_RUNS = ("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
           "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
           "train_distribute", "eval_distribute")  # fmt: skip


def _members(name, group):
    """What a group of options sets, by key; TypeError for anything else in its place."""
    if not isinstance(group, GROUPS[name]):
        raise TypeError(f"{name} is {group!r}; it must be a {GROUPS[name].__name__}")
    values = ((field.name, field.default, getattr(group, field.name)) for field in dataclasses.fields(group))
    return _flat({name: value for name, default, value in values if value != default})


def _flat(given):
    """{key: value} of options and groups of them."""
    found = {}
    for name, value in given.items():
        found.update(_members(name, value) if name in GROUPS else {name: value})
    return found


class NPURunConfig(tf.compat.v1.estimator.RunConfig):
    """A RunConfig, with the options of the NPU. `session_parameters` has those that differ from their defaults, by the
    keys of sessions; TypeError or ValueError for a value that a key does not take."""

    def __init__(
        self,
        iterations_per_loop=1,
        profiling_config=None,
        model_dir=None,
        tf_random_seed=None,
        save_summary_steps=0,
        save_checkpoints_steps=None,
        save_checkpoints_secs=None,
        session_config=None,
        keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100,
        distribute=None,
        enable_data_pre_proc=True,
        precision_mode=None,
        enable_reduce_precision=False,
        variable_format_optimize=None,
        mix_compile_mode=False,
        hcom_parallel=True,
        graph_memory_max_size=None,
        variable_memory_max_size=None,
        dump_config=None,
        stream_max_parallel_num=None,
        is_tailing_optimization=False,
        horovod_mode=False,
        graph_run_mode=1,
        op_debug_level=None,
        enable_scope_fusion_passes=None,
        enable_exception_dump=2,
        op_select_implmode=None,
        optypelist_for_implmode=None,
        dynamic_input_config=None,
        aoe_mode=None,
        work_path=None,
        buffer_optimize="l2_optimize",
        enable_small_channel=0,
        fusion_switch_file=None,
        enable_compress_weight=False,
        compress_weight_conf=None,
        op_compiler_cache_mode=None,
        op_compiler_cache_dir=None,
        debug_dir=None,
        hcom_multi_mode=False,
        dynamic_input=None,
        dynamic_graph_execute_mode="dynamic_execute",
        dynamic_inputs_shape_range=None,
        train_distribute=None,
        eval_distribute=None,
        local_rank_id=None,
        local_device_list=None,
        session_device_id=None,
        distribute_config=None,
        modify_mixlist=None,
        op_precision_mode=None,
        device_type="default_device_type",
        soc_config=None,
        hccl_timeout=None,
        op_wait_timeout=None,
        op_execute_timeout=None,
        HCCL_algorithm=None,  # noqa: N803 (the vendor's name)
        customize_dtypes=None,
        op_debug_config=None,
        memory_config=None,
        experimental_config=None,
        topo_sorting_mode=None,
        aoe_config_file=None,
        insert_op_file=None,
        stream_sync_timeout=-1,
        event_sync_timeout=-1,
        external_weight=False,
        es_cluster_config=None,
        deterministic=0,
        frozen_variable=False,
        variable_placement="Device",
        jit_compile="auto",
        precision_mode_v2=None,
        ac_parallel_enable=None,
        **kwargs,
    ):
        given = {name: value for name, value in locals().items() if name in DEFAULTS}
        runs = {name: given[name] for name in OF_RUNS}
        if runs["train_distribute"] is None:
            runs["train_distribute"] = distribute  # its older name
        if save_checkpoints_steps is None and save_checkpoints_secs is None:
            del runs["save_checkpoints_steps"], runs["save_checkpoints_secs"]  # TensorFlow's: every ten minutes
        super().__init__(**runs)
        if kwargs:
            warnings.warn(f"NPURunConfig does not know {', '.join(sorted(kwargs))}: without effect", stacklevel=2)
        others = {name: value for name, value in given.items() if name not in (*OF_RUNS, "distribute")}
        self.session_parameters = _flat({n: value for n, value in others.items() if value != DEFAULTS[n]})
        session.checked(self.session_parameters)

    @property
    def iterations_per_loop(self):
        """How many steps one run of the training operator is."""
        return self.session_parameters.get("iterations_per_loop", 1)


DEFAULTS = dict(zip(NPURunConfig.__init__.__code__.co_varnames[1:], NPURunConfig.__init__.__defaults__, strict=False))
