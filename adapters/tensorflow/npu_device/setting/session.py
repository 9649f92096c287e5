# SPDX-License-Identifier: Apache-2.0
"""What sessions of TensorFlow 1 set: the keys of NpuOptimizer's parameter_map. Those that are options of
npu.global_options() too are declared there, and set there before the device is opened; the others are declared here."""

import threading
from dataclasses import dataclass

from npu_device.setting import options, telling
from npu_device.setting.options import Option, acts, anyway, idle


@dataclass(frozen=True)
class Key:
    """A key that is no option of the process, and what it does here: a sentence for docs/tensorflow1.md."""

    option: Option
    sentence: str


def _acts(sentence, default=None, allowed=()):
    return Key(acts(default, allowed), sentence)


def _anyway(sentence, default=None, allowed=()):
    return Key(anyway(default, allowed), sentence)


def _idle(why, default=None, allowed=()):
    return Key(idle(why, default, allowed), why)


SHAPES = "graphs are compiled for each shape that they are fed with"
OTHERS = "the rank table or CM_*, and HCCL_* variables, say how processes train together"
WEIGHTS = "it is for offline models; variables keep their values and types"
KEYS = {
    "use_off_line": _acts("True, the default, runs the session on the NPU, False on the CPU", True),
    "session_device_id": _acts("the device that the session runs on; it comes before ASCEND_DEVICE_ID"),
    "iterations_per_loop": _acts("the steps of one run, for an operator that `util.set_iteration_per_loop` gave", 1),
    "mix_compile_mode": _anyway("what the engine has no node for runs on the host, in either mode", False),
    "enable_data_pre_proc": _anyway("iterators run on the host, and are read ahead of the step", True),
    "dynamic_input": _anyway(SHAPES, False),
    "dynamic_graph_execute_mode": _anyway(SHAPES, "dynamic_execute", ("dynamic_execute", "lazy_recompile")),
    "dynamic_inputs_shape_range": _anyway(SHAPES),
    "compile_dynamic_mode": _anyway(SHAPES, False),
    "dynamic_node_type": _idle(options.NO_SPLIT, None, ("0", "1")),
    "variable_placement": _anyway("variables are where the step runs; host and device share their memory", "Device"),
    "buffer_optimize": _anyway("values that pass between nodes stay in the caches of the processor", "l2_optimize",
                               ("l2_optimize", "l1_optimize", "off_optimize")),
    "memory_optimization_policy": _idle("each compiled graph has one block of the size that it needs"),
    "enable_reduce_precision": _idle("precision_mode chooses the types", False),
    "accelerate_train_mode": _idle("types do not change in the course of a training; set precision_mode"),
    "frozen_variable": _idle("variables are read in every run; freeze the graph to make constants of them", False),
    "enable_compress_weight": _idle(WEIGHTS, False),
    "compress_weight_conf": _idle(WEIGHTS),
    "insert_op_file": _idle("it is for offline models; put the preparation of pictures into the data set"),
    "device_type": _idle("ANYNPU_SOC names the NPU", "default_device_type"),
    "soc_config": _idle("ANYNPU_SOC names the NPU"),
    "op_wait_timeout": _idle("stream_sync_timeout limits the time of a run"),
    "op_execute_timeout": _idle("stream_sync_timeout limits the time of a run"),
    "hccl_timeout": _idle(OTHERS),
    "HCCL_algorithm": _idle(OTHERS),
    "horovod_mode": _idle(OTHERS, False),
    "local_rank_id": _idle(OTHERS),
    "local_device_list": _idle(OTHERS),
    "distribute_config": _idle(OTHERS),
    "es_cluster_config": _idle("tables of embeddings are variables of the process"),
}  # fmt: skip
ALIASES = {"profiling_mode": "profiling_config.enable_profiling"}  # sessions say it in one word
_LEAVES = {path.rpartition(".")[2]: path for path in options.names_below(options.DECLARED)}
PATHS = {name: path for name, path in _LEAVES.items() if name not in KEYS} | ALIASES
_lock = threading.Lock()


def _node(tree, path):
    """The group of options that holds the one of this path, and its name there."""
    *groups, name = path.split(".")
    for group in groups:
        tree = getattr(tree, group)
    return tree, name


def _checked(key, value):
    """`value` as it is kept; TypeError or ValueError for one that the key does not take."""
    if key in KEYS:
        return options.checked(key, KEYS[key].option, value)
    node, name = _node(options.global_options(), PATHS[key])
    declared = node._declared[name]
    if isinstance(value, bool) and "true" in declared.allowed:
        value = str(value).lower()  # jit_compile was a switch once
    return options.checked(PATHS[key], declared, value)


def _tell_unknown(key):
    if options.is_strict():
        raise ValueError(f"NpuOptimizer has no key {key}; there are {', '.join(sorted({*KEYS, *PATHS}))}")
    telling.once(key, f"NpuOptimizer's key '{key}' is unknown and has no effect; docs/tensorflow1.md lists them")


def checked(asked):
    """`asked` without what nobody knows, each value as it is kept. What has no effect says so once. TypeError or
    ValueError for a value that a key does not take, and for keys that exclude each other."""
    known = {}
    for key, value in asked.items():
        if key in options.REMOVED:
            telling.once(key, f"NpuOptimizer's key '{key}' is removed and has no effect")
        elif key not in KEYS and key not in PATHS:
            _tell_unknown(key)
        else:
            known[key] = _checked(key, value)
    for key in KEYS.keys() & known.keys():
        declared = KEYS[key].option
        if declared.why and known[key] != declared.default:
            telling.once(key, f"NpuOptimizer's key '{key}' is accepted and has no effect so far: {declared.why}")
    _verify_alone(known)
    return known


def _verify_alone(known):
    """ValueError where the options of one session exclude each other, whatever is set for the process."""
    tree = options.Options()
    for key in PATHS.keys() & known.keys():
        node, name = _node(tree, PATHS[key])
        node._values[name] = known[key]  # what the option says when it is set is said later, and once
    tree.verify()


def put_in_force(known, is_open, open_device):
    """The options among `known`, what checked() gave, and then open_device(). Where a device is open already they are
    compared: what differs is told once, for it has no effect any more. Nothing is set where opening fails."""
    with _lock:
        paths = {PATHS[key]: known[key] for key in PATHS.keys() & known.keys()}
        if is_open():
            _tell_of_what_differs(paths)
            return open_device()
        before = {path: _set(path, value) for path, value in paths.items()}
        try:
            return open_device()
        except Exception:
            for path, value in before.items():
                node, name = _node(options.global_options(), path)
                node._values[name] = value
            raise


def _set(path, value):
    """Sets an option of the process and gives the value it had."""
    node, name = _node(options.global_options(), path)
    old = getattr(node, name)
    if value != old:
        setattr(node, name, value)
    return old


def _tell_of_what_differs(paths):
    for path, value in paths.items():
        node, name = _node(options.global_options(), path)
        old = getattr(node, name)
        if value != old:
            telling.once((path, value), f"option {path} of this session is {value!r} and has no effect: {old!r} is in "
                                      "force since the device was opened; set it in the first session")  # fmt: skip
