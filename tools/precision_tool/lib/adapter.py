# SPDX-License-Identifier: Apache-2.0
"""The options of a training that dumps, and where its graphs go."""

import atexit
import os
from pathlib import Path

from .config import config as cfg
from .toolkit import PrecisionError

HERE = Path(__file__).resolve().parent / "config"
ACTIONS = ("dump", "overflow", "fusion_off", "fusion_switch")


def wanted(action):
    """The actions in "fusion_off|dump"; of None those that npu_dump and npu_overflow ask for."""
    if action is None:
        flags = {"dump": cfg.PRECISION_TOOL_DUMP_FLAG, "overflow": cfg.PRECISION_TOOL_OVERFLOW_FLAG}
        return [name for name, flag in flags.items() if os.environ.get(flag) == "True"]
    found = [word.strip() for word in action.split("|")]
    for word in found:
        if word not in ACTIONS:
            raise PrecisionError(f"action {word!r} is none of {', '.join(ACTIONS)}; join several by |")
    if {"dump", "overflow"} <= set(found):
        raise PrecisionError("the actions dump and overflow exclude each other; run the script once with each")
    return found


def asked(action):
    """The options of a run with these actions: {name: value}, by the names that sessions give them. Their folders are
    made, and graphs are written."""
    actions, options = wanted(action), {}
    if "dump" in actions:
        options |= {"enable_dump": True, "dump_path": folder(cfg.DEFAULT_NPU_DUMP_DIR), "dump_mode": "all"}
        if cfg.TF_DUMP_STEP:
            options["dump_step"] = cfg.TF_DUMP_STEP
    if "overflow" in actions:
        options |= {"enable_dump_debug": True, "dump_path": folder(cfg.NPU_OVERFLOW_DUMP_DIR), "dump_debug_mode": "all"}
    for name in ("fusion_off", "fusion_switch"):
        if name in actions:
            options["fusion_switch_file"] = str(HERE / f"{name}.cfg")
            print(f"[PrecisionTool] Set fusion switch file: {options['fusion_switch_file']}")
    if actions:
        dump_graphs()
    return options


def configure(npu_device, action):
    """Sets npu_device.global_options(), before npu_device.open()."""
    options = npu_device.global_options()
    for name, value in asked(action).items():
        setattr(options if name == "fusion_switch_file" else options.dump_config, name, value)
    return npu_device


def configure_session(parameter_map, action):
    """Sets the keys of NpuOptimizer in a session's configuration."""
    for name, value in asked(action).items():
        if value is True:
            parameter_map[name].b = value
        else:
            parameter_map[name].s = value.encode()


def folder(path):
    os.makedirs(path, exist_ok=True)
    return os.path.abspath(path)


def dump_graphs():
    graphs = folder(cfg.DEFAULT_NPU_GRAPH_DIR)
    os.environ["DUMP_GE_GRAPH"] = str(cfg.DUMP_GE_GRAPH_VALUE)
    os.environ["DUMP_GRAPH_LEVEL"] = str(cfg.DUMP_GRAPH_LEVEL_VALUE)
    os.environ["DUMP_GRAPH_PATH"] = graphs
    if os.environ.get("RANK_ID", "0") == "0":
        atexit.register(lift, Path(graphs), os.getpid())


def lift(graphs, process):
    """Puts the graphs of this process where the guides look: right into the folder, not below {pid}_{device}."""
    if os.getpid() != process:
        return
    for below in sorted(graphs.glob(f"{process}_*"))[:1]:
        for path in below.iterdir():
            os.replace(path, graphs / path.name)
        below.rmdir()
