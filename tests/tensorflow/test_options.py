# SPDX-License-Identifier: Apache-2.0
"""The tree of options."""

import warnings

import pytest
from npu_device import options


@pytest.fixture
def tree():
    return options.Options()


def test_defaults(tree):
    assert tree.graph_run_mode == 1 and tree.dump_config.dump_mode == "output"
    assert tree.experimental.logical_device_deploy_config.logical_device_cluster_deploy_mode == "LB"
    assert tree.flat()["hcom_parallel"] == "1" and "precision_mode" not in tree.flat()


def test_what_has_no_effect_says_so_once(tree):
    with pytest.warns(UserWarning, match="'deterministic' is accepted and has no effect so far"):
        tree.deterministic = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.deterministic = 1
        tree.precision_mode = "must_keep_origin_dtype"
    assert tree.flat()["deterministic"] == "1"


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
    tree.op_debug_level = 1
    assert "[warning][tf_adapter] Option 'op_debug_level' is deprecated, use op_debug_config" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="'dump_config.colour' is unknown"):
        tree.dump_config.colour = "red"


@pytest.mark.filterwarnings("ignore")
def test_combinations(tree):
    tree.dump_config.enable_dump = True
    with pytest.raises(ValueError, match="no dump_path"):
        tree.verify()
    tree.dump_config.dump_path = "/tmp"
    tree.verify()
    tree.dump_config.enable_dump_debug = True
    with pytest.raises(ValueError, match="exclude each other"):
        tree.verify()
    tree.dump_config.enable_dump_debug = False
    tree.precision_mode, tree.precision_mode_v2 = "force_fp16", "fp16"
    with pytest.raises(ValueError, match="precision_mode and precision_mode_v2"):
        tree.verify()
