# SPDX-License-Identifier: Apache-2.0
"""npu_bridge and npu_device.compat: what is imported when, and every name that scripts in the style of TensorFlow 1
use. Nothing here brings sessions to the NPU in this process, whose other tests want them where they are."""

import importlib
from pathlib import Path

import fresh
import npu_device
import npu_device.compat.v1.npu_init
import pytest
from npu_bridge import npu_init

TESTS = Path(__file__).resolve().parents[1]
ROWS = (TESTS / "migrate/npu_init.tsv").read_text().splitlines()
NAMES = [row.split("\t")[0] for row in ROWS if not row.startswith("#")]
# Names whose modules are not there yet.
# Modules that scripts import by their paths, under npu_bridge and npu_device.compat.v1.
MODULES = """estimator estimator.npu estimator.npu.keras_to_npu estimator.npu.npu_callbacks estimator.npu.npu_common
    estimator.npu.npu_config estimator.npu.npu_estimator estimator.npu.npu_hook estimator.npu.npu_plugin
    estimator.npu.npu_session estimator.npu.npu_strategy hccl hccl.hccl_ops"""


def test_the_packages_come_without_tensorflow(tmp_path):
    fresh.run(
        tmp_path,
        """
import npu_device, npu_bridge.npu_init, npu_device.compat.v1.npu_init
from npu_bridge.estimator.npu import npu_plugin
from npu_device.compat.v1.estimator.npu import npu_plugin as same
assert npu_plugin is same and same.__spec__.name == "npu_bridge.estimator.npu.npu_plugin"
npu_device.global_options().precision_mode = "must_keep_origin_dtype"
npu_plugin.npu_global_init(op_compiler_cache_mode="disable", graph_run_mode=1)
assert npu_plugin.npu_global_shutdown is npu_plugin.npu_resource_shutdown
raised(ValueError, "option precision_mode is 'fast'", lambda: npu_plugin.npu_resource_init(precision_mode="fast"))
npu_plugin.npu_resource_shutdown(), npu_plugin.npu_close()
raised(AttributeError, "has no attribute 'speed'", lambda: npu_device.speed)
raised(AttributeError, "has no attribute 'speed'", lambda: npu_bridge.npu_init.speed)
raised(AttributeError, "has no attribute 'speed'", lambda: npu_device.compat.v1.npu_init.speed)
for module in (npu_device, npu_device.compat, npu_device.compat.v1, npu_bridge.npu_init, npu_device.npu_device):
    assert set(module.__all__) <= set(dir(module)), module
assert "tensorflow" not in sys.modules and "numpy" not in sys.modules

import tensorflow as tf
assert tf.config.list_physical_devices("NPU"), "known as soon as TensorFlow is there"
assert npu_device.global_options().op_compiler_cache_mode == "disable"
for module in (npu_device, npu_device.npu_device, npu_device.compat):
    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name) is not None, name
assert npu_device.open is npu_device.npu_device.open
handle = npu_device.open()
n, _ = told("precision_mode of this session is 'force_fp16' | 'must_keep_origin_dtype' is in force",
            lambda: npu_plugin.npu_resource_init(precision_mode="force_fp16"))
assert n == 1
""",
    )


def test_whose_names_bring_sessions_to_the_npu(tmp_path):
    fresh.run(
        tmp_path,
        """
import npu_device.session
enabled = []
npu_device.session.enable = lambda: enabled.append(True)
import npu_bridge.npu_init as tf1, npu_device.compat.v1.npu_init as compat
theirs = compat.npu_config_proto
assert not enabled, "enable_v1() does"
assert tf1.npu_config_proto is theirs and enabled
""",
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there(name):
    assert name in npu_init.__all__
    assert npu_init.named(name) is getattr(npu_device.compat.v1.npu_init, name)


def test_no_name_is_missing():
    assert len(NAMES) == 48 and not set(NAMES) - set(npu_init.__all__)
    assert npu_device.compat.v1.npu_init.__all__ == npu_init.__all__


@pytest.mark.parametrize("name", MODULES.split())
def test_a_module_has_two_paths(name):
    assert importlib.import_module(f"npu_bridge.{name}") is importlib.import_module(f"npu_device.compat.v1.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_used_by_a_test(name):
    folder = Path(__file__).parent
    paths = [*folder.glob("test_v1_*.py"), *folder.glob("v1/guide/*.py")]
    texts = [path.read_text() for path in paths if path != Path(__file__)]
    assert any(name in text for text in texts), f"no test says what {name} does"


def test_names_that_scripts_use_without_importing_them():
    """The guide's examples have the star import alone."""
    for name in ("os", "RewriterConfig", "rewriter_config_pb2", "hccl_ops", "create_group", "destroy_group",
                 "get_rank_size", "get_local_rank_size", "get_rank_id", "get_local_rank_id",
                 "get_world_rank_from_group_rank", "get_group_rank_from_world_rank", "util", "npu_scope"):  # fmt: skip
        assert npu_init.named(name) is not None and name in npu_init.__all__
    assert npu_init.named("RewriterConfig").OFF == 2
    assert callable(npu_init.named("util").set_iteration_per_loop)


def test_a_module_that_scripts_import_from_itself():
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    assert npu_unary_ops is npu_init.named("npu_unary_ops") and callable(npu_unary_ops.gelu)
