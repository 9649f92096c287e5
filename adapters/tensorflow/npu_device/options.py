# SPDX-License-Identifier: Apache-2.0
"""The options of the vendor's adapter, each declared once: name, default, allowed values. Setting one checks it; what
has no effect so far says so once.

A name that nobody knows is kept with a warning, for newer adapters know more; with ANYNPU_STRICT_OPTIONS=1 it is a
ValueError."""

import os
import warnings
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """`default` also gives the type, unless it is None; `use` names what to set instead of a deprecated option."""

    default: object = None
    allowed: tuple = ()
    use: str = ""
    kept: bool = False


def kept(default=None, allowed=()):
    """An option whose every value is respected, or acts where the device is opened."""
    return Option(default, allowed, kept=True)


FLAG = (0, 1)
DECLARED = {
    "graph_run_mode": kept(1, FLAG),
    "precision_mode": kept(
        None,
        ("force_fp32", "allow_fp32_to_fp16", "force_fp16", "must_keep_origin_dtype", "allow_mix_precision",
         "cube_fp16in_fp32out", "allow_mix_precision_fp16", "allow_mix_precision_bf16", "allow_fp32_to_bf16"),
    ),
    "precision_mode_v2": kept(
        None, ("fp16", "origin", "cube_fp16in_fp32out", "mixed_float16", "mixed_bfloat16")
    ),
    "op_precision_mode": kept(),
    "customize_dtypes": kept(),
    "modify_mixlist": kept(),
    "deterministic": kept(0, FLAG),
    "overflow_flag": kept(1, FLAG),
    "jit_compile": kept("auto", ("true", "false", "auto")),
    "enable_scope_fusion_passes": Option(),
    "fusion_switch_file": kept(),
    "export_compile_stat": kept(None, (0, 1, 2)),
    "topo_sorting_mode": Option(None, (0, 1, None)),
    "is_tailing_optimization": Option(False),
    "graph_memory_max_size": kept(),
    "variable_memory_max_size": kept(),
    "external_weight": Option(False),
    "memory_config": {
        "atomic_clean_policy": kept(0, FLAG),
        "static_memory_policy": Option(0, (0, 1, 2)),
    },
    "op_compiler_cache_mode": kept("enable", ("enable", "disable", "force")),
    "op_compiler_cache_dir": kept(),
    "graph_compiler_cache_dir": Option(),
    "debug_dir": Option(),
    "op_debug_config": Option(),
    "enable_exception_dump": Option(0, (0, 1, 2)),
    "dump_config": {
        "enable_dump": Option(False),
        "dump_path": Option(),
        "dump_step": Option(),
        "dump_mode": Option("output", ("input", "output", "all")),
        "enable_dump_debug": Option(False),
        "dump_debug_mode": Option("all", ("aicore_overflow", "atomic_overflow", "all")),
        "dump_data": Option("tensor", ("tensor", "stats")),
        "dump_layer": Option(),
    },
    "profiling_config": {"enable_profiling": Option(False), "profiling_options": Option()},
    "aoe_config": {
        "aoe_mode": Option(None, ("1", "2", "4")),
        "work_path": Option("./"),
        "aoe_config_file": Option(),
    },
    "stream_max_parallel_num": Option(),
    "ac_parallel_enable": Option(None, ("0", "1")),
    "enable_small_channel": kept(False),
    "hcom_parallel": Option(True),
    "hcom_multi_mode": Option(),
    "graph_exec_timeout": Option(),
    "stream_sync_timeout": Option(-1),
    "event_sync_timeout": Option(-1),
    "experimental": {
        "multi_branches_config": {
            "input_shape": Option(),
            "dynamic_node_type": Option(None, ("0",)),
            "dynamic_dims": Option(),
        },
        "logical_device_deploy_config": {
            "logical_device_cluster_deploy_mode": Option("LB", ("LB", "SINGLE")),
            "logical_device_id": Option(),
        },
        "model_deploy_config": {"model_deploy_mode": Option(), "model_deploy_devicelist": Option()},
        "graph_memory_optimize_config": {
            "recompute": Option(None, ("auto", "manual")),
            "graph_slice": Option(None, ("auto",)),
        },
        "resource_config_path": Option(),
        "graph_parallel_option_path": Option(),
        "enable_graph_parallel": Option(False),
    },
    "variable_format_optimize": Option(None, (), "nothing: formats are chosen by the engine"),
    "op_select_implmode": Option(None, (), "op_precision_mode"),
    "optypelist_for_implmode": Option(None, (), "op_precision_mode"),
    "op_debug_level": Option(None, (0, 1, 2, 3, 4), "op_debug_config"),
}  # fmt: skip
REMOVED = ("auto_tune_mode",)


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
            if os.environ.get("ANYNPU_STRICT_OPTIONS", "0") not in ("", "0"):
                raise ValueError(f"there is no option {path}; there are {', '.join(names_below(DECLARED))}")
            self._values[name] = value
            return self._say(name, f"Option '{path}' is unknown and has no effect; known are {self._names()}")
        if isinstance(declared, dict):
            raise TypeError(f"option {path} is a group; set one of its members: {', '.join(declared)}")
        value = checked(path, declared, value)
        self._values[name] = value
        if declared.use:
            print(f"[warning][tf_adapter] Option '{path}' is deprecated, use {declared.use}")
        elif value != declared.default and not declared.kept:
            self._say(name, f"Option '{path}' is accepted and has no effect so far")

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
        if (dump.enable_dump or dump.enable_dump_debug) and not dump.dump_path:
            raise ValueError("dump_config has a dump enabled and no dump_path; set the folder that receives it")
        if self.memory_config.static_memory_policy and os.environ.get("GE_USE_STATIC_MEMORY", "0") not in ("", "0"):
            raise ValueError("memory_config.static_memory_policy and GE_USE_STATIC_MEMORY exclude each other; "
                             "unset the variable")  # fmt: skip


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
