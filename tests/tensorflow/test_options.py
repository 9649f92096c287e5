# SPDX-License-Identifier: Apache-2.0
"""The tree of options."""

import re
import warnings
from pathlib import Path

import pytest
from npu_device.setting import cluster, options


@pytest.fixture
def tree():
    return options.Options()


def test_defaults(tree):
    assert tree.graph_run_mode == 1 and tree.dump_config.dump_mode == "output"
    assert tree.experimental.logical_device_deploy_config.logical_device_cluster_deploy_mode == "LB"
    assert tree.flat()["hcom_parallel"] == "1" and "precision_mode" not in tree.flat()


def test_what_has_no_effect_says_so_once(tree):
    with pytest.warns(UserWarning, match="'topo_sorting_mode' is accepted and has no effect so far: nodes run in"):
        tree.topo_sorting_mode = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.topo_sorting_mode = 1
        tree.precision_mode = "must_keep_origin_dtype"
        tree.deterministic = tree.graph_run_mode = 1  # every run is deterministic
        tree.graph_run_mode = 0
        tree.graph_memory_max_size = "1024"
        tree.enable_small_channel = 1  # as the guide writes it
    flat = tree.flat()
    assert (flat["deterministic"], flat["graph_run_mode"], flat["topo_sorting_mode"]) == ("1", "0", "1")
    assert tree.enable_small_channel is True and flat["enable_small_channel"] == "1"


# Each option of the vendor's adapter: its default, a value it takes, and one it does not.
ALLOWED = {
    "graph_run_mode": (1, 0, 2),
    "precision_mode": (None, "allow_fp32_to_bf16", "mixed"),
    "precision_mode_v2": (None, "mixed_bfloat16", "force_fp16"),
    "op_precision_mode": (None, "/a/op_precision.ini", None),
    "customize_dtypes": (None, "/a/dtypes.cfg", None),
    "modify_mixlist": (None, "/a/ops_info.json", None),
    "deterministic": (0, 1, 2),
    "overflow_flag": (1, 0, 3),
    "jit_compile": ("auto", "false", "maybe"),
    "enable_scope_fusion_passes": (None, "ScopeLayerNormPass", None),
    "fusion_switch_file": (None, "/a/fusion_switch.cfg", None),
    "export_compile_stat": (None, 2, 3),
    "topo_sorting_mode": (None, 1, 2),
    "is_tailing_optimization": (False, True, "yes"),
    "graph_memory_max_size": (None, "1024", None),
    "variable_memory_max_size": (None, "1024", None),
    "external_weight": (False, True, "no"),
    "memory_config.atomic_clean_policy": (0, 1, 2),
    "memory_config.static_memory_policy": (0, 2, 3),
    "op_compiler_cache_mode": ("enable", "force", "off"),
    "op_compiler_cache_dir": (None, "/a/kernel_cache", None),
    "graph_compiler_cache_dir": (None, "/a/graphs", None),
    "debug_dir": (None, "/a/debug", None),
    "op_debug_config": (None, "/a/test0.cfg", None),
    "enable_exception_dump": (0, 2, 3),
    "dump_config.enable_dump": (False, True, "on"),
    "dump_config.dump_path": (None, "/a/output", None),
    "dump_config.dump_step": (None, "0|3-5|10", None),
    "dump_config.dump_mode": ("output", "all", "none"),
    "dump_config.enable_dump_debug": (False, True, "on"),
    "dump_config.dump_debug_mode": ("all", "aicore_overflow", "some"),
    "dump_config.dump_data": ("tensor", "stats", "csv"),
    "dump_config.dump_layer": (None, "a b c", None),
    "profiling_config.enable_profiling": (False, True, "on"),
    "profiling_config.profiling_options": (None, '{"output":"/a"}', None),
    "aoe_config.aoe_mode": (None, "4", "3"),
    "aoe_config.work_path": ("./", "/a", 1),
    "aoe_config.aoe_config_file": (None, "/a/tuning.cfg", None),
    "stream_max_parallel_num": (None, "DNN_VM_AICPU:10,AIcoreEngine:1", None),
    "ac_parallel_enable": (None, "1", "2"),
    "enable_small_channel": (False, True, "on"),
    "hcom_parallel": (True, False, "on"),
    "hcom_multi_mode": (None, True, None),
    "graph_exec_timeout": (None, 1000, None),
    "stream_sync_timeout": (-1, 600000, "long"),
    "event_sync_timeout": (-1, 600000, "long"),
    "experimental.multi_branches_config.input_shape": (None, "x:-1,3", None),
    "experimental.multi_branches_config.dynamic_node_type": (None, "0", "1"),
    "experimental.multi_branches_config.dynamic_dims": (None, "1;2", None),
    "experimental.logical_device_deploy_config.logical_device_cluster_deploy_mode": ("LB", "SINGLE", "MANY"),
    "experimental.logical_device_deploy_config.logical_device_id": (None, "[0:0]", None),
    "experimental.model_deploy_config.model_deploy_mode": (None, "SPMD", None),
    "experimental.model_deploy_config.model_deploy_devicelist": (None, "[0]", None),
    "experimental.graph_memory_optimize_config.recompute": (None, "manual", "always"),
    "experimental.graph_memory_optimize_config.graph_slice": (None, "auto", "manual"),
    "experimental.resource_config_path": (None, "/a/resource.json", None),
    "experimental.graph_parallel_option_path": (None, "/a/parallel.json", None),
    "experimental.enable_graph_parallel": (False, True, "on"),
    "variable_format_optimize": (None, True, None),
    "op_select_implmode": (None, "high_precision", None),
    "optypelist_for_implmode": (None, "Pooling,SoftmaxV2", None),
    "op_debug_level": (None, 4, 5),
}


# The options that act, and the tests of what they do.
ACTING = {
    "precision_mode": "test_precision.py",
    "precision_mode_v2": "test_precision.py",
    "op_precision_mode": "test_precision.py",
    "customize_dtypes": "test_precision.py",
    "modify_mixlist": "test_precision.py",
    "overflow_flag": "test_loss_scale.py",
    "fusion_switch_file": "test_fusion.py",
    "export_compile_stat": "test_fusion_result.py",
    "profiling_config.enable_profiling": "test_profiling.py",
    "profiling_config.profiling_options": "test_profiling.py",
    "dump_config.enable_dump": "test_dump.py",
    "dump_config.dump_path": "test_dump.py",
    "dump_config.dump_step": "test_dump.py",
    "dump_config.dump_mode": "test_dump.py",
    "dump_config.dump_layer": "test_dump.py",
    "dump_config.dump_data": "test_dump.py",
    "dump_config.enable_dump_debug": "test_dump.py",
    "dump_config.dump_debug_mode": "test_dump.py",
    "enable_exception_dump": "test_dump.py",
    "op_compiler_cache_mode": "test_cache.py",
    "op_compiler_cache_dir": "test_cache.py",
    "op_debug_config": "test_debug.py",
    "op_debug_level": "test_debug.py",
    "debug_dir": "test_debug.py",
    "aoe_config.aoe_mode": "test_tuning.py",
    "aoe_config.work_path": "test_tuning.py",
    "aoe_config.aoe_config_file": "test_tuning.py",
    "hcom_parallel": "test_gradient_segments.py",
    "stream_sync_timeout": "test_wait_limit.py",
    "event_sync_timeout": "test_wait_limit.py",
}


def respected():
    """The options that docs/tensorflow.md explains as having nothing to change here."""
    page = (Path(__file__).parents[2] / "docs/tensorflow.md").read_text()
    section = page.split("\n## Options\n")[1].split("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row[1]) if len(row[2].split()) > 3}


@pytest.mark.promise(
    "every option of the guides acts, is explained, or says that it has no effect, why, and what to do"
)
@pytest.mark.parametrize("path", sorted(ALLOWED))
def test_every_option_acts_is_explained_or_speaks(tree, path, capsys):
    """Nobody who sets one is left to believe that something happens which does not."""
    *groups, name = path.split(".")
    node = tree
    for group in groups:
        node = getattr(node, group)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        setattr(node, name, ALLOWED[path][1])
    printed = capsys.readouterr().out
    speaks = bool(told) or "is deprecated, use" in printed
    acts = path in ACTING and name in (Path(__file__).parent / ACTING[path]).read_text()
    explained = name in respected()
    assert [speaks, acts, explained].count(True) == 1, (speaks, acts, explained)
    assert explained == node._declared[name].anyway
    for one in told:
        assert re.search(
            rf"Option '{re.escape(path)}' is accepted and has no effect so far: \w.{{20}}", str(one.message)
        )


def test_every_option_is_declared(tree):
    assert sorted(ALLOWED) == sorted(options.names_below(options.DECLARED))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", ALLOWED)
def test_an_option_takes_its_values_and_no_others(tree, path):
    default, good, bad = ALLOWED[path]
    *groups, name = path.split(".")
    node = tree
    for group in groups:
        node = getattr(node, group)
    assert getattr(node, name) == default
    setattr(node, name, good)
    assert getattr(node, name) == good and tree.flat()[name] == str(int(good) if good in (True, False) else good)
    if bad is not None:
        with pytest.raises((ValueError, TypeError), match=f"option {path} is {bad!r}"):
            setattr(node, name, bad)
        assert getattr(node, name) == good


def test_wrong_values(tree):
    with pytest.raises(ValueError, match="option precision_mode is 'fast'; allowed are force_fp32, allow_fp32_to_fp16"):
        tree.precision_mode = "fast"
    with pytest.raises(TypeError, match="option hcom_parallel is 'yes'; it must be of type bool"):
        tree.hcom_parallel = "yes"
    with pytest.raises(ValueError, match="memory_config.static_memory_policy is 3"):
        tree.memory_config.static_memory_policy = 3
    with pytest.raises(TypeError, match="option dump_config is a group"):
        tree.dump_config = True
    with pytest.raises(AttributeError, match="there is no option speed; there are graph_run_mode"):
        print(tree.speed)


def test_old_and_unknown_names(tree, capsys):
    with pytest.warns(UserWarning, match="'auto_tune_mode' is removed"):
        tree.auto_tune_mode = "RL,GA"
    tree.op_select_implmode = "high_precision"
    told = "[warning][tf_adapter] Option 'op_select_implmode' is deprecated, use op_precision_mode"
    assert told in capsys.readouterr().out
    with pytest.warns(UserWarning, match="'dump_config.colour' is unknown"):
        tree.dump_config.colour = "red"


def test_a_strict_tree_knows_its_names_only(tree, monkeypatch):
    monkeypatch.setenv("ANYNPU_STRICT_OPTIONS", "1")
    with pytest.raises(ValueError, match="no option dump_config.colour; .*graph_run_mode, .*dump_config.dump_layer"):
        tree.dump_config.colour = "red"
    with pytest.warns(UserWarning, match="'auto_tune_mode' is removed"):
        tree.auto_tune_mode = "RL,GA"
    tree.graph_run_mode = 1


@pytest.mark.parametrize("policy", [1, 2])
@pytest.mark.filterwarnings("ignore")
def test_memory_has_one_policy(tree, monkeypatch, policy):
    tree.memory_config.static_memory_policy = policy
    tree.verify()
    monkeypatch.setenv("GE_USE_STATIC_MEMORY", "2")
    with pytest.raises(ValueError, match="static_memory_policy and GE_USE_STATIC_MEMORY exclude each other"):
        tree.verify()
    tree.memory_config.static_memory_policy = 0
    tree.verify()


def test_a_cluster_is_described_once(monkeypatch, nothing_said):
    for name in (*cluster.BY_TABLE, *cluster.BY_CHIEF):
        monkeypatch.delenv(name, raising=False)
    cluster.verify()
    monkeypatch.setenv("RANK_ID", "0")
    monkeypatch.setenv("RANK_SIZE", "1")
    cluster.verify()
    monkeypatch.setenv("RANK_SIZE", "8")
    cluster.verify()
    monkeypatch.setenv("CM_WORKER_SIZE", "8")
    with pytest.raises(ValueError, match="RANK_ID, RANK_SIZE and CM_WORKER_SIZE describe the same cluster"):
        cluster.verify()
    monkeypatch.delenv("CM_WORKER_SIZE")
    for text in ("0", "-1", "eight"):
        monkeypatch.setenv("RANK_SIZE", text)
        with pytest.raises(ValueError, match=f"RANK_SIZE is '{text}'; it must be the number of processes"):
            cluster.verify()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", ["0", "0|5|10", "0|3-5|10", "7-7", "|".join(map(str, range(100)))])
def test_steps_to_dump(tree, text):
    tree.dump_config.dump_step = text
    tree.verify()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", ["", "5-3", "x", "5-3|x", "1,2", "-1", "1|", 5, "|".join(map(str, range(101)))])
def test_what_names_no_steps_is_refused_at_opening(tree, text):
    tree.dump_config.dump_step = text
    with pytest.raises(ValueError, match=r"option dump_config\.dump_step is .*as in '0\|3-5\|10'"):
        tree.verify()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["enable_dump", "enable_dump_debug"])
def test_the_folder_of_a_dump_is_there_beforehand(tree, name, tmp_path):
    setattr(tree.dump_config, name, True)
    with pytest.raises(ValueError, match="no dump_path"):
        tree.verify()
    tree.dump_config.dump_path = str(tmp_path / "later")
    with pytest.raises(ValueError, match="later', which is no folder; make it first"):
        tree.verify()
    (tmp_path / "later").mkdir()
    tree.verify()
    (tmp_path / "file").touch()
    tree.dump_config.dump_path = str(tmp_path / "file")
    with pytest.raises(ValueError, match="no folder"):
        tree.verify()


@pytest.mark.filterwarnings("ignore")
def test_combinations(tree):
    tree.dump_config.enable_dump = True
    tree.dump_config.dump_path = "/tmp"
    tree.verify()
    tree.dump_config.enable_dump_debug = True
    with pytest.raises(ValueError, match="exclude each other"):
        tree.verify()
    tree.dump_config.enable_dump_debug = False
    tree.precision_mode, tree.precision_mode_v2 = "force_fp16", "fp16"
    with pytest.raises(ValueError, match="precision_mode and precision_mode_v2"):
        tree.verify()
