# SPDX-License-Identifier: Apache-2.0
"""Which fusions a run was compiled with: fusion_result.json, which is written beside the dumped graphs."""

import json
from pathlib import Path

from .config import config as cfg

NAME = "fusion_result.json"
GROUPS = ("graph_fusion", "ub_fusion")


def files():
    folders = [Path(cfg.FUSION_DIR), Path(cfg.DEFAULT_NPU_GRAPH_DIR)]
    return [path for folder in folders for path in sorted(folder.rglob(NAME))]


def check(most=None):
    """Shows each fusion that took effect; gives how many there are."""
    found = [line for path in files() for line in effective(path)]
    for line in found[:most]:
        print(line)
    return len(found)


def effective(path):
    data = json.loads(path.read_text())
    for session, result in data.items() if isinstance(data, dict) else ((str(i), r) for i, r in enumerate(data)):
        for group in GROUPS:
            for name, counts in result.get(group, {}).items():
                if int(counts.get("effect_times", 0)):
                    yield f"[Fusion][{group}] {name}: {counts['effect_times']} in {result.get('graph_name', session)}"
