# SPDX-License-Identifier: Apache-2.0
"""The report of what ran on the host: text or JSON, where ANYNPU_REPORT says, when the process ends."""

import json
import multiprocessing
import os
import sys
from pathlib import Path

from anynpu.fallback.count import place

OFF = ("", "0", "false", "off")
ON = ("1", "true", "on")
UNSEEN = "not seen: threads started before torch_npu was imported and those of C++, code that torch.compile compiled"


def sized(count):
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def plural(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def lines_of(one):
    through = f", called for {one['called_for']}" if one["called_for"] else ""
    count = f"{plural(one['runs'], 'run')}, {sized(one['bytes'])} in and out"
    return [
        f"    on the host: {one['op']}, {count}: {one['reason']}",
        f"      first called at {place(one)}{through}",
    ]


def text(operators, who):
    if not operators:
        return f"PyTorch on the NPU{who}: no operator ran on the host\n"
    lines = [f"PyTorch on the NPU{who}: {plural(len(operators), 'operator')} on the host"]
    for one in operators:
        lines += lines_of(one)
    return "\n".join([*lines, f"    {UNSEEN}", ""])


def rank():
    """The number of this process among ranks, None alone."""
    number = os.environ.get("RANK", "")
    return number if number.isdigit() and os.environ.get("WORLD_SIZE", "1") != "1" else None


def is_child():
    return multiprocessing.parent_process() is not None


def distinct(begun_by):
    """What tells this process from others that report to the same place: its rank, or in a child its number."""
    if (number := rank()) is not None:
        return f"rank{number}"
    return f"process{os.getpid()}" if is_child() or os.getpid() != begun_by else ""


def own_file(where, name):
    path = Path(where)
    return path.with_name(f"{path.stem}.{name}{path.suffix}") if name else path


def write(where, operators, begun_by):
    name = distinct(begun_by)
    who = f" ({name})" if name else ""
    if where in ON:
        sys.stderr.write(text(operators, who))
        return
    path = own_file(where, name)
    is_json = path.suffix == ".json"
    told = json.dumps({"operators": operators, "unseen": UNSEEN}, indent=1) + "\n" if is_json else text(operators, who)
    try:
        path.write_text(told)
    except OSError as error:
        sys.stderr.write(f"anynpu: no report can be written to {path} ({error.strerror}); it follows\n{told}")
