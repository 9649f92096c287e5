# SPDX-License-Identifier: Apache-2.0
"""dump_config: the tensors of executed operators as files that the vendor's tools read."""

import json

from npu_device.adapter import library


def words(options):
    """The options as the engine reads them, the JSON of aclInit's file."""
    layers = {"layer": options.dump_layer.split()} if options.dump_layer else {}
    dump = {
        "dump_list": [layers],
        "dump_op_switch": "on",
        "dump_path": str(options.dump_path),
        "dump_mode": options.dump_mode,
        "dump_data": options.dump_data,
        "dump_step": options.dump_step or "",
    }
    return json.dumps({"dump": dump})


def start(options):
    """Begins the dump that is asked for, one for all devices; ValueError with the reason where it cannot."""
    if options.enable_dump and (reason := library.reason_of(library.load().anynpu_dump_start(words(options).encode()))):
        raise ValueError(reason)
