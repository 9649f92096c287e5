# SPDX-License-Identifier: Apache-2.0
"""What sessions of TensorFlow 1 ask for: NpuOptimizer's parameter_map."""

import re
import warnings
from pathlib import Path

import fresh
import pytest
import tensorflow as tf
from npu_device.session import config
from npu_device.setting import options, session

PAGE = (Path(__file__).resolve().parents[2] / "docs/tensorflow1.md").read_text()


pytestmark = pytest.mark.usefixtures("nothing_said")


@pytest.fixture
def tree(monkeypatch):
    """Options of a process of its own."""
    tree = options.Options()
    monkeypatch.setattr(options, "global_options", lambda: tree)
    return tree


def proto(**values):
    made = tf.compat.v1.ConfigProto()
    asked = made.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    for key, value in values.items():
        setattr(asked.parameter_map[key], {bool: "b", int: "i", float: "f", bytes: "s"}[type(value)], value)
    return made


# A value of each key that is none of the process's options, and one that it does not take.
VALUES = {
    "use_off_line": (False, "no"),
    "session_device_id": (3, None),
    "iterations_per_loop": (8, "many"),
    "mix_compile_mode": (True, "yes"),
    "enable_data_pre_proc": (False, "no"),
    "dynamic_input": (True, "yes"),
    "dynamic_graph_execute_mode": ("lazy_recompile", "sometimes"),
    "dynamic_inputs_shape_range": ("getnext:[1~8]", None),
    "compile_dynamic_mode": (True, "yes"),
    "dynamic_node_type": ("1", "2"),
    "variable_placement": ("Host", 1),
    "buffer_optimize": ("off_optimize", "most"),
    "memory_optimization_policy": ("MemoryPriority", None),
    "enable_reduce_precision": (True, "yes"),
    "accelerate_train_mode": ("fast|step|0.9", None),
    "frozen_variable": (True, "yes"),
    "enable_compress_weight": (True, "yes"),
    "compress_weight_conf": ("/a/weight.conf", None),
    "insert_op_file": ("/a/aipp.cfg", None),
    "device_type": ("Ascend910A", 1),
    "soc_config": ("Ascend910A", None),
    "op_wait_timeout": (120, None),
    "op_execute_timeout": (120, None),
    "hccl_timeout": (600, None),
    "HCCL_algorithm": ("level0:NA", None),
    "horovod_mode": (True, "yes"),
    "local_rank_id": (0, None),
    "local_device_list": ("0,1", None),
    "distribute_config": ("/a/split.cfg", None),
    "es_cluster_config": ("/a/es.json", None),
}
ACTING = {"use_off_line", "session_device_id", "iterations_per_loop"}  # tests of what they do are below


@pytest.mark.promise("every key of NpuOptimizer acts, is explained, or says that it has no effect and why")
@pytest.mark.parametrize("key", session.KEYS)
def test_a_key_acts_is_explained_or_speaks(key):
    good, bad = VALUES[key]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert session.checked({key: good}) == {key: good} == session.checked({key: good})
    declared = session.KEYS[key].option
    assert [len(told), key in ACTING, declared.anyway] in ([1, False, False], [0, True, False], [0, False, True])
    for one in told:
        assert (
            re.search(rf"'{key}' is accepted and has no effect so far: \w.{{20}}", str(one.message)) and len(told) == 1
        )
    assert f"| `{key}` |" in PAGE and session.KEYS[key].sentence in PAGE
    if bad is not None:
        with pytest.raises((TypeError, ValueError), match=f"option {key} is {bad!r}"):
            session.checked({key: bad})


def test_every_key_has_a_value_here():
    assert sorted(VALUES) == sorted(session.KEYS)


def test_the_keys_of_the_process_are_its_options():
    leaves = [path.rpartition(".")[2] for path in options.names_below(options.DECLARED)]
    assert len(leaves) == len(set(leaves)) and set(leaves) <= {*session.PATHS, *session.KEYS}
    assert all(f"`{name}`" in PAGE for name in session.PATHS)


def test_what_a_proto_has_is_read():
    asked = config.parameters(proto(use_off_line=True, precision_mode=b"allow_mix_precision", iterations_per_loop=4))
    assert asked == {"use_off_line": True, "precision_mode": "allow_mix_precision", "iterations_per_loop": 4}
    assert config.parameters(None) == config.parameters(tf.compat.v1.ConfigProto()) == {}
    wrong = proto()
    wrong.graph_options.rewrite_options.custom_optimizers[0].parameter_map["speed"].SetInParent()
    with pytest.raises(TypeError, match=r"key speed has no value; write parameter_map\['speed'\]\.b, \.i"):
        config.parameters(wrong)
    other = tf.compat.v1.ConfigProto()
    other.graph_options.rewrite_options.custom_optimizers.add(name="another").parameter_map["speed"].i = 1
    assert config.parameters(other) == {}


def test_what_nobody_knows(monkeypatch):
    with pytest.warns(UserWarning, match="key 'speed' is unknown and has no effect; docs/tensorflow1.md lists them"):
        assert session.checked({"speed": 1, "jit_compile": True}) == {"jit_compile": "true"}
    with pytest.warns(UserWarning, match="key 'auto_tune_mode' is removed") as told:
        assert session.checked({"auto_tune_mode": "RL,GA"}) == {}
    assert told[0].filename == __file__, "the user's line"
    monkeypatch.setenv("ANYNPU_STRICT_OPTIONS", "1")
    with pytest.raises(ValueError, match="no key speed; there are .*precision_mode, .*use_off_line"):
        session.checked({"speed": 1})


def test_wrong_values_and_what_excludes_each_other():
    with pytest.raises(ValueError, match="option precision_mode is 'fast'; allowed are force_fp32"):
        session.checked({"precision_mode": "fast"})
    with pytest.raises(TypeError, match="option dump_config.enable_dump is 'on'; it must be of type bool"):
        session.checked({"enable_dump": "on"})
    with pytest.raises(ValueError, match="precision_mode and precision_mode_v2 exclude each other"):
        session.checked({"precision_mode": "force_fp16", "precision_mode_v2": "fp16"})
    with pytest.raises(ValueError, match="a dump enabled and no dump_path"):
        session.checked({"enable_dump": True})
    with pytest.raises(ValueError, match="iterations_per_loop is 0; it is 1 or more"):
        config.apply(proto(iterations_per_loop=0))
    for wrong in (-2, True, b"one"):
        with pytest.raises(ValueError, match="session_device_id is .*; it is the number of a device"):
            config.apply(proto(session_device_id=wrong))


def test_the_first_session_sets_the_options_of_the_process(tree):
    known = session.checked({"dump_mode": "all", "profiling_mode": False, "graph_run_mode": 0, "dynamic_input": True})
    assert session.put_in_force(known, lambda: False, lambda: "opened") == "opened"
    assert (tree.dump_config.dump_mode, tree.graph_run_mode) == ("all", 0)
    assert tree.changed() == {"dump_mode": "all", "graph_run_mode": "0"}


def test_nothing_is_set_where_the_device_does_not_open(tree):
    def fails():
        assert tree.graph_run_mode == 0
        raise RuntimeError("no device")

    with pytest.raises(RuntimeError, match="no device"):
        session.put_in_force({"graph_run_mode": 0}, lambda: False, fails)
    assert tree.graph_run_mode == 1


def test_a_later_session_is_told_what_it_cannot_have(tree):
    tree.graph_run_mode = 0
    asked = {"graph_run_mode": 1, "precision_mode": "force_fp16", "dump_mode": "output"}
    with pytest.warns(UserWarning) as told:
        for _ in range(2):
            session.put_in_force(asked, lambda: True, lambda: None)
    texts = sorted(str(one.message) for one in told)
    assert len(texts) == 2 and texts[0].startswith("option graph_run_mode of this session is 1 and has no effect: 0 is")
    assert texts[1].startswith("option precision_mode of this session is 'force_fp16' and has no effect: None is in")
    assert tree.precision_mode is None and tree.graph_run_mode == 0


def test_a_session_opens_the_device_with_its_options(tmp_path):
    fresh.run(
        tmp_path,
        """
import npu_device as npu
import tensorflow.compat.v1 as tf
from npu_device import device
from npu_device.session import config

def asking(**values):
    made = tf.ConfigProto()
    asked = made.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    for key, value in values.items():
        value = value.encode() if isinstance(value, str) else value
        setattr(asked.parameter_map[key], {bool: "b", int: "i", bytes: "s"}[type(value)], value)
    return made

off = asking(use_off_line=False, precision_mode="force_fp16")
n, had = told("use_off_line=False stays on the CPU", lambda: [config.apply(off) for _ in range(2)][1])
assert n == 1 and had == config.SessionOptions(None, False) and not device.is_open()
assert npu.global_options().precision_mode is None

os.environ["ASCEND_DEVICE_ID"] = "99"
raised(RuntimeError, "Failed open npu device 99", lambda: config.apply(asking(dump_mode="all")))
assert npu.global_options().dump_config.dump_mode == "output" and not device.is_open()
os.environ["ASCEND_DEVICE_ID"] = "1"
asked = asking(session_device_id=2, mix_compile_mode=True, iterations_per_loop=5, enable_dump=True, dump_path=".",
               profiling_mode=True, profiling_options='{"output": "."}')
n, had = told("session_device_id=2 comes before ASCEND_DEVICE_ID=1", lambda: config.apply(asked))
assert n == 1 and had == config.SessionOptions(2, True, True, 5) and device.is_open()
assert list(device._opened) == [2], device._opened
n, had = told("option dump_config.dump_mode of this session is 'all' | 'output' is in force since",
              lambda: [config.apply(asking(dump_mode="all")) for _ in range(2)][1])
assert n == 1 and had.device_id == 1, (n, had)  # that of ASCEND_DEVICE_ID
assert config.apply() == config.SessionOptions(1, True, False, 1)
os.environ["ENABLE_FORCE_V2_CONTROL"] = "1"
assert told("ENABLE_FORCE_V2_CONTROL is set", config.apply)[0] == 0
tf.disable_control_flow_v2()
assert told("ENABLE_FORCE_V2_CONTROL is set | tf.compat.v1.enable_control_flow_v2()", config.apply)[0] == 1

with npu.open(2).scope():
    tf.function(lambda x: x + x)(tf.constant([1.0])).numpy()
""",
        ANYNPU_DEVICES="4",
    )
    assert list(tmp_path.rglob("Add.add.*")), "the dump that the session asks for"
    assert list(tmp_path.glob("PROF_*")), "and the records"
