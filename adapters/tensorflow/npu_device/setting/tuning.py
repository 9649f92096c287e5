# SPDX-License-Identifier: Apache-2.0
"""aoe_config: kernels and fused nodes are measured as the program meets them, and what wins is kept for later runs.
The script's options come before AOE_MODE."""

import os
import warnings
from pathlib import Path

from npu_device.adapter import library


def configuration(path):
    """The text of the tuning configuration; ValueError where there is no such file."""
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        what = f"option aoe_config.aoe_config_file is {path!r}, which cannot be read: {error.strerror}"
        raise ValueError(what) from None


def start(options):
    """Begins what is asked for; ValueError with the reason where it cannot."""
    config = options.aoe_config
    mode = config.aoe_mode or os.environ.get("AOE_MODE")
    engine = library.load()
    if not mode or engine.anynpu_tuning_running():
        return
    if mode == "4":
        warnings.warn("aoe_mode 4 (gradient segments) is not built and has no effect; 1 tunes graphs, 2 operators",
                      stacklevel=4)  # fmt: skip
        return
    notices = []
    hear = engine.anynpu_tuning_begin.argtypes[3](lambda text, _: notices.append(text.decode()))
    job = int(mode) if mode.isdigit() else 0
    text = configuration(config.aoe_config_file)
    if reason := library.reason_of(engine.anynpu_tuning_begin(job, os.fsencode(config.work_path), text, hear, None)):
        raise ValueError(reason)
    for notice in notices:
        warnings.warn(f"aoe_config_file: {notice}", stacklevel=4)
