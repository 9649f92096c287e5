# SPDX-License-Identifier: Apache-2.0
"""The options of fusion: fusion_switch_file says which passes of the engine run, export_compile_stat when it is written
what they did."""

import json
import os
import warnings
from pathlib import Path

from npu_device.adapter import library

AT_THE_END, WITH_EACH_FUNCTION = 1, 2  # values of export_compile_stat


def read_switch_file(path):
    """The file's bytes; ValueError when it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValueError(
            f"option fusion_switch_file is {path!r}: {error.strerror}; name a file that can be read"
        ) from None


def switch(info, path, text):
    """Puts the switches of this file in force. A name that is no pass here has no effect, and a warning says so."""
    try:
        unknown = library.switch_fusion(info, text)
    except ValueError as error:
        raise ValueError(f"option fusion_switch_file is {path!r}, {error}") from None
    if unknown:
        warnings.warn(
            f"{path} names fusion passes that are not here, without effect: {', '.join(unknown)}", stacklevel=5
        )


def result_file():
    """Where the vendor writes it: below ASCEND_WORK_PATH, else in the current folder."""
    work = os.environ.get("ASCEND_WORK_PATH")
    return Path(work, "FE", str(os.getpid()), "fusion_result.json") if work else Path("fusion_result.json")


def export_always():
    """export_compile_stat=2: the file is written anew with each function compiled."""
    path = result_file().absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    library.load().anynpu_export_fusions(str(path).encode())


def export(infos):
    """export_compile_stat=1: at the end of the process."""
    results = {}
    for info in infos:
        results |= library.fusion_results(info)
    if not results:
        return
    path = result_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1))
    except OSError as error:
        library.log(f"{path} is not written: {error.strerror}", library.WARNING)
