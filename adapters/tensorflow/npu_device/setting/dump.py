# SPDX-License-Identifier: Apache-2.0
"""dump_config and enable_exception_dump: tensors of executed operators as files that the vendor's tools read."""

import json

from npu_device.adapter import library


def words(options):
    """The options as the engine reads them, the JSON of aclInit's file; without a dump nothing."""
    config = options.dump_config
    dump = {}
    if config.enable_dump or config.enable_dump_debug:
        dump = {"dump_path": str(config.dump_path), "dump_step": config.dump_step or ""}
    if config.enable_dump:
        layers = {"layer": config.dump_layer.split()} if config.dump_layer else {}
        dump |= {
            "dump_list": [layers],
            "dump_op_switch": "on",
            "dump_mode": config.dump_mode,
            "dump_data": config.dump_data,
        }
    if config.enable_dump_debug:
        dump |= {"dump_debug": "on", "dump_debug_mode": config.dump_debug_mode}
    if options.enable_exception_dump:
        dump["enable_exception_dump"] = options.enable_exception_dump
    return json.dumps({"dump": dump}) if dump else None


def start(options):
    """Begins the dumps that are asked for, for all devices; ValueError with the reason where it cannot."""
    text = words(options)
    if text and (reason := library.reason_of(library.load().anynpu_dump_start(text.encode()))):
        raise ValueError(reason)
