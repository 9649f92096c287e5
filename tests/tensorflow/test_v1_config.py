# SPDX-License-Identifier: Apache-2.0
"""NPURunConfig, the messages that migrated scripts wrap, and what brings sessions to the NPU."""

import inspect

import fresh
import pytest
import tensorflow as tf
from npu_bridge.estimator.npu import npu_config, npu_session
from npu_device.compat.v1 import SessionConfigBuilder
from npu_device.session import config
from npu_device.setting import session

pytestmark = pytest.mark.usefixtures("nothing_said")

# The vendor's parameters, in their order.
PARAMETERS = """iterations_per_loop profiling_config model_dir tf_random_seed save_summary_steps save_checkpoints_steps
    save_checkpoints_secs session_config keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps
    distribute enable_data_pre_proc precision_mode enable_reduce_precision variable_format_optimize mix_compile_mode
    hcom_parallel graph_memory_max_size variable_memory_max_size dump_config stream_max_parallel_num
    is_tailing_optimization horovod_mode graph_run_mode op_debug_level enable_scope_fusion_passes
    enable_exception_dump op_select_implmode optypelist_for_implmode dynamic_input_config aoe_mode work_path
    buffer_optimize enable_small_channel fusion_switch_file enable_compress_weight compress_weight_conf
    op_compiler_cache_mode op_compiler_cache_dir debug_dir hcom_multi_mode dynamic_input dynamic_graph_execute_mode
    dynamic_inputs_shape_range train_distribute eval_distribute local_rank_id local_device_list session_device_id
    distribute_config modify_mixlist op_precision_mode device_type soc_config hccl_timeout op_wait_timeout
    op_execute_timeout HCCL_algorithm customize_dtypes op_debug_config memory_config experimental_config
    topo_sorting_mode aoe_config_file insert_op_file stream_sync_timeout event_sync_timeout external_weight
    es_cluster_config deterministic frozen_variable variable_placement jit_compile precision_mode_v2
    ac_parallel_enable"""


def test_the_parameters_of_a_run_config():
    names = list(inspect.signature(npu_config.NPURunConfig.__init__).parameters)
    assert names == ["self", *PARAMETERS.split(), "kwargs"] and len(PARAMETERS.split()) == 76
    plain = npu_config.NPURunConfig()
    assert plain.session_parameters == {} and plain.iterations_per_loop == 1
    assert (plain.save_summary_steps, plain.save_checkpoints_secs, plain.log_step_count_steps) == (0, 600, 100)
    keys = {*session.KEYS, *session.PATHS, *npu_config.GROUPS, *npu_config.OF_RUNS, "distribute"}
    assert set(PARAMETERS.split()) <= keys, "each is a key of sessions, a group of them, or RunConfig's"


@pytest.mark.filterwarnings("ignore:(NpuOptimizer's key|RunConfig)")
def test_what_a_run_config_sets():
    memory = npu_config.GraphMemoryOptimizeConfig(recompute="auto")
    made = npu_config.NPURunConfig(
        iterations_per_loop=4,
        save_checkpoints_steps=7,
        precision_mode="allow_mix_precision",
        dump_config=npu_config.DumpConfig(enable_dump=True, dump_path="/tmp", dump_step="0|5"),
        profiling_config=npu_config.ProfilingConfig(True, '{"output": "/tmp"}'),
        memory_config=npu_config.MemoryConfig(static_memory_policy=2),
        dynamic_input_config=npu_config.DynamicInputConfig("x:-1,3", "1;2", "1"),
        experimental_config=npu_config.ExperimentalConfig(graph_memory_optimize_config=memory),
        hcom_parallel=False,
    )
    assert made.save_checkpoints_steps == 7 and made.save_checkpoints_secs is None
    assert made.session_parameters == {
        "iterations_per_loop": 4, "precision_mode": "allow_mix_precision", "enable_dump": True, "dump_path": "/tmp",
        "dump_step": "0|5", "enable_profiling": True, "profiling_options": '{"output": "/tmp"}',
        "static_memory_policy": 2, "input_shape": "x:-1,3", "dynamic_dims": "1;2", "dynamic_node_type": "1",
        "recompute": "auto", "hcom_parallel": False,
    }  # fmt: skip
    assert made.replace(model_dir="/tmp").session_parameters == made.session_parameters


def test_a_run_config_refuses_what_a_session_refuses():
    with pytest.raises(TypeError, match="dump_config is True; it must be a DumpConfig"):
        npu_config.NPURunConfig(dump_config=True)
    with pytest.raises(ValueError, match="option precision_mode is 'fast'"):
        npu_config.NPURunConfig(precision_mode="fast")
    with pytest.warns(UserWarning, match="NPURunConfig does not know colour, speed: without effect"):
        npu_config.NPURunConfig(speed=1, colour="red")


def test_configurations_that_migrated_scripts_wrap():
    given = tf.compat.v1.ConfigProto(log_device_placement=True)
    given.graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.ON_1
    made = npu_session.npu_config_proto(config_proto=given)
    for one in (made, npu_session.npu_config_proto(), SessionConfigBuilder(given).session_config):
        assert [each.name for each in one.graph_options.rewrite_options.custom_optimizers] == ["NpuOptimizer"]
        rewriting = one.graph_options.rewrite_options
        assert (rewriting.remapping, rewriting.memory_optimization) == (rewriting.OFF, rewriting.NO_MEM_OPT)
        assert one.allow_soft_placement and one.graph_options.optimizer_options.global_jit_level == -1
    assert made is given and made.log_device_placement
    assert npu_session.npu_graph_options(tf.compat.v1.GraphOptions(infer_shapes=True)).infer_shapes
    assert npu_session.npu_graph_options().rewrite_options.custom_optimizers[0].name == "NpuOptimizer"
    assert npu_session.npu_optimizer_options().global_jit_level == -1
    with pytest.raises(TypeError, match="is no tf.compat.v1.ConfigProto"):
        npu_session.npu_config_proto(tf.compat.v1.GraphOptions())
    run = tf.compat.v1.estimator.RunConfig(model_dir="/tmp/model")
    for one in (npu_session.npu_run_config_init(run), npu_session.npu_run_config_init()):
        assert config.find(one.session_config) is not None
    assert npu_session.npu_run_config_init(run).model_dir == "/tmp/model"
    with pytest.raises(TypeError, match="is no tf.estimator.RunConfig"):
        npu_session.npu_run_config_init("/tmp/model")


@pytest.mark.parametrize("forced", ["0", "1"])
def test_enable_v1(tmp_path, forced):
    fresh.run(
        tmp_path,
        """
import npu_device
import tensorflow as tf
enabled = []
npu_device.session.enable = lambda: enabled.append(tf.executing_eagerly())
npu_device.compat.enable_v1()
forced = os.environ["ENABLE_FORCE_V2_CONTROL"] == "1"
assert enabled == [False] and not tf.executing_eagerly()
assert tf.compat.v1.control_flow_v2_enabled() == tf.compat.v1.resource_variables_enabled() == forced
from npu_device.adapter import library
assert "FastGelu" in library.operators
""",
        ENABLE_FORCE_V2_CONTROL=forced,
    )
