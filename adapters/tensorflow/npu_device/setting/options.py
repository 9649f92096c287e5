# SPDX-License-Identifier: Apache-2.0
"""The options of the vendor's adapter, each declared once: name, default, allowed values, and what becomes of it.
Setting one checks it; what has no effect so far says so once, with what to do instead.

A name that nobody knows is kept with a warning, for newer adapters know more; with ANYNPU_STRICT_OPTIONS=1 it is a
ValueError."""

import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Option:
    """`default` also gives the type, unless it is None. `why` goes into the warning of one without effect; `use` names
    what to set instead of a deprecated one. One that asks for what is so anyway has `anyway`, and a line in
    docs/tensorflow.md. All others act."""

    default: object = None
    allowed: tuple = ()
    why: str = ""
    use: str = ""
    anyway: bool = False


def acts(default=None, allowed=()):
    return Option(default, allowed)


def anyway(default=None, allowed=()):
    return Option(default, allowed, anyway=True)


def idle(why, default=None, allowed=()):
    return Option(default, allowed, why)


def old(use, default=None, allowed=()):
    return Option(default, allowed, use=use)


FLAG = (0, 1)
NO_LIMIT = "a step may take as long as it takes"
ONE_NPU = "a function runs on one NPU"
NO_SPLIT = "functions are compiled for each shape that they are called with"
DECLARED = {
    "graph_run_mode": anyway(1, FLAG),
    "precision_mode": acts(
        None,
        ("force_fp32", "allow_fp32_to_fp16", "force_fp16", "must_keep_origin_dtype", "allow_mix_precision",
         "cube_fp16in_fp32out", "allow_mix_precision_fp16", "allow_mix_precision_bf16", "allow_fp32_to_bf16"),
    ),
    "precision_mode_v2": acts(
        None, ("fp16", "origin", "cube_fp16in_fp32out", "mixed_float16", "mixed_bfloat16")
    ),
    "op_precision_mode": acts(),
    "customize_dtypes": acts(),
    "modify_mixlist": acts(),
    "deterministic": anyway(0, FLAG),
    "overflow_flag": acts(1, FLAG),
    "jit_compile": anyway("auto", ("true", "false", "auto")),
    "enable_scope_fusion_passes": anyway(),
    "fusion_switch_file": acts(),
    "export_compile_stat": acts(None, (0, 1, 2)),
    "topo_sorting_mode": idle("nodes run in an order of the engine's own", None, (0, 1, None)),
    "is_tailing_optimization": idle("with hcom_parallel nothing waits for segments that it does not need", False),
    "graph_memory_max_size": anyway(),
    "variable_memory_max_size": anyway(),
    "external_weight": idle("it is for offline models; constants of functions stay in memory", False),
    "memory_config": {
        "atomic_clean_policy": anyway(0, FLAG),
        "static_memory_policy": anyway(0, (0, 1, 2)),
    },
    "op_compiler_cache_mode": acts("enable", ("enable", "disable", "force")),
    "op_compiler_cache_dir": acts(),
    "graph_compiler_cache_dir": idle("compiled functions are kept where op_compiler_cache_dir says"),
    "debug_dir": acts(),
    "op_debug_config": acts(),
    "enable_exception_dump": acts(0, (0, 1, 2)),
    "dump_config": {
        "enable_dump": acts(False),
        "dump_path": acts(),
        "dump_step": acts(),
        "dump_mode": acts("output", ("input", "output", "all")),
        "enable_dump_debug": acts(False),
        "dump_debug_mode": acts("all", ("aicore_overflow", "atomic_overflow", "all")),
        "dump_data": acts("tensor", ("tensor", "stats")),
        "dump_layer": acts(),
    },
    "profiling_config": {"enable_profiling": acts(False), "profiling_options": acts()},
    "aoe_config": {
        "aoe_mode": acts(None, ("1", "2", "4")),
        "work_path": acts("./"),
        "aoe_config_file": acts(),
    },
    "stream_max_parallel_num": anyway(),
    "ac_parallel_enable": idle("ANYNPU_THREADS sets the threads of the kernels", None, ("0", "1")),
    "enable_small_channel": anyway(False),
    "hcom_parallel": acts(True),
    "hcom_multi_mode": idle("the collectives of a group run one after the other, in one order on all ranks"),
    "graph_exec_timeout": idle(NO_LIMIT),
    "stream_sync_timeout": acts(-1),
    "event_sync_timeout": acts(-1),
    "experimental": {
        "multi_branches_config": {
            "input_shape": idle(NO_SPLIT),
            "dynamic_node_type": idle(NO_SPLIT, None, ("0",)),
            "dynamic_dims": idle(NO_SPLIT),
        },
        "logical_device_deploy_config": {
            "logical_device_cluster_deploy_mode": idle(ONE_NPU, "LB", ("LB", "SINGLE")),
            "logical_device_id": idle(ONE_NPU),
        },
        "model_deploy_config": {"model_deploy_mode": idle(ONE_NPU), "model_deploy_devicelist": idle(ONE_NPU)},
        "graph_memory_optimize_config": {
            "recompute": idle("nothing is thrown away to be computed again", None, ("auto", "manual")),
            "graph_slice": idle("graphs are not cut into slices", None, ("auto",)),
        },
        "resource_config_path": idle(ONE_NPU),
        "graph_parallel_option_path": idle(ONE_NPU),
        "enable_graph_parallel": idle(ONE_NPU, False),
    },
    "variable_format_optimize": old("nothing: formats are chosen by the engine"),
    "op_select_implmode": old("op_precision_mode"),
    "optypelist_for_implmode": old("op_precision_mode"),
    "op_debug_level": acts(None, (0, 1, 2, 3, 4)),
}  # fmt: skip
REMOVED = ("auto_tune_mode",)
MOST_STEPS = 100  # of dump_step


def is_strict():
    """Whether names that nobody knows are errors."""
    return os.environ.get("ANYNPU_STRICT_OPTIONS", "0") not in ("", "0")


class Options:
    """A node of the tree of options; reads and writes go by attribute."""

    def __init__(self, declared=None, path=""):
        declared = DECLARED if declared is None else declared
        values = {n: Options(d, f"{path}{n}.") if isinstance(d, dict) else d.default for n, d in declared.items()}
        self.__dict__.update(_declared=declared, _path=path, _values=values, _said=set())

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"there is no option {self._path}{name}; there are {self._names()}") from None

    def __setattr__(self, name, value):
        path = self._path + name
        if name in REMOVED:
            return self._say(name, f"Option '{path}' is removed and has no effect")
        declared = self._declared.get(name)
        if declared is None:
            if is_strict():
                raise ValueError(f"there is no option {path}; there are {', '.join(names_below(DECLARED))}")
            self._values[name] = value
            return self._say(name, f"Option '{path}' is unknown and has no effect; known are {self._names()}")
        if isinstance(declared, dict):
            raise TypeError(f"option {path} is a group; set one of its members: {', '.join(declared)}")
        value = checked(path, declared, value)
        self._values[name] = value
        if declared.use:
            print(f"[warning][tf_adapter] Option '{path}' is deprecated, use {declared.use}")
        elif value != declared.default and declared.why:
            self._say(name, f"Option '{path}' is accepted and has no effect so far: {declared.why}")

    def _names(self):
        return ", ".join(self._declared)

    def _say(self, name, text):
        if name not in self._said:
            self._said.add(name)
            warnings.warn(text, stacklevel=4)

    def flat(self):
        """All set values as the vendor's text pairs: True is "1", None is left out."""
        out = {}
        for name, value in self._values.items():
            if isinstance(value, Options):
                out.update(value.flat())
            elif value is not None:
                out[name] = str(int(value)) if isinstance(value, bool) else str(value)
        return out

    def changed(self):
        """The pairs of flat() that are not the defaults."""
        defaults = Options().flat()
        return {name: value for name, value in self.flat().items() if defaults.get(name) != value}

    def verify(self):
        """ValueError for combinations that the vendor's guide rules out."""
        dump = self.dump_config
        if self.precision_mode is not None and self.precision_mode_v2 is not None:
            raise ValueError("precision_mode and precision_mode_v2 exclude each other; set one of them")
        if dump.enable_dump and dump.enable_dump_debug:
            raise ValueError("dump_config.enable_dump and enable_dump_debug exclude each other; set one of them")
        if dump.enable_dump or dump.enable_dump_debug:
            verify_folder(dump.dump_path)
        verify_steps(dump.dump_step)
        profiling = self.profiling_config
        if profiling.enable_profiling and not isinstance(profiling.profiling_options, str):
            raise ValueError("profiling_config.enable_profiling needs profiling_options, such as "
                             "'{\"output\": \"/tmp/profile\", \"training_trace\": \"on\"}'")  # fmt: skip
        if self.memory_config.static_memory_policy and os.environ.get("GE_USE_STATIC_MEMORY", "0") not in ("", "0"):
            raise ValueError("memory_config.static_memory_policy and GE_USE_STATIC_MEMORY exclude each other; "
                             "unset the variable")  # fmt: skip


def verify_folder(path):
    """ValueError unless dumps can be written to `path`, as the vendor's guide wants it: there beforehand."""
    if not path:
        raise ValueError("dump_config has a dump enabled and no dump_path; set the folder that receives it")
    if not Path(path).is_dir():
        raise ValueError(f"option dump_config.dump_path is {path!r}, which is no folder; make it first")
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"option dump_config.dump_path is {path!r}, where this user may not write; choose another")


def verify_steps(text):
    """ValueError unless `text` is None or names steps: numbers and ranges of them with | between."""
    if text is None:
        return
    items = text.split("|") if isinstance(text, str) else [""]
    ranges = [re.fullmatch(r"(\d+)(?:-(\d+))?", item.strip()) for item in items]
    if not all(ranges) or any(one[2] and int(one[2]) < int(one[1]) for one in ranges) or len(items) > MOST_STEPS:
        raise ValueError(f"option dump_config.dump_step is {text!r}; write steps and ranges of them, at most "
                         f"{MOST_STEPS}, with | between, as in '0|3-5|10'")  # fmt: skip


def checked(path, option, value):
    """`value` as it is kept; TypeError or ValueError unless it may be set."""
    wanted = type(option.default)
    if wanted is bool and value in FLAG:
        value = bool(value)  # the guide writes enable_small_channel=1
    if wanted is int and isinstance(value, bool):
        value = int(value)
    if option.default is not None and not isinstance(value, wanted):
        raise TypeError(f"option {path} is {value!r}; it must be of type {wanted.__name__}")
    if option.allowed and value is not None and value not in option.allowed:
        raise ValueError(f"option {path} is {value!r}; allowed are {', '.join(map(str, option.allowed))}")
    return value


def names_below(declared, path=""):
    """The full names of all options."""
    for name, option in declared.items():
        if isinstance(option, dict):
            yield from names_below(option, f"{path}{name}.")
        else:
            yield path + name


_tree = Options()


def global_options():
    """The options of this process; what is set before npu.open() is in force."""
    return _tree
