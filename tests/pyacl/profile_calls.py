# SPDX-License-Identifier: Apache-2.0
"""acl.prof, and the dump of operators, which writes below a folder too."""

import json


def run(call, folder):
    (folder / "prof").mkdir()
    stream = call("rt.create_stream")
    call("prof.init", str(folder / "prof"))
    config = call("prof.create_config", [0], 1, 0, 0x83)
    call("prof.start", config)
    stamp = call("prof.create_stamp")
    call("prof.set_stamp_trace_message", stamp, "here", 4)
    call("prof.mark", stamp)
    call("prof.mark_ex", "there", 5, stream)
    call("prof.push", stamp)
    call("prof.pop")
    call("prof.range_stop", call("prof.range_start", stamp))
    step = call("prof.create_step_info")
    call("prof.get_step_timestamp", step, 0, stream)
    call("prof.get_step_timestamp", step, 1, stream)
    call("prof.destroy_step_info", step)
    call("prof.destroy_stamp", stamp)
    call("prof.set_config", 3, "15", code=200007)
    call("prof.stop", config)
    call("prof.destroy_config", config)
    call("prof.finalize")
    call("rt.destroy_stream", stream)
    assert list((folder / "prof").iterdir())
    dump(call, folder)


def dump(call, folder):
    asked = {"dump": {"dump_path": str(folder), "dump_list": [], "dump_op_switch": "on", "dump_mode": "all"}}
    (folder / "dump.json").write_text(json.dumps(asked))
    call("mdl.init_dump")
    call("mdl.set_dump", folder / "dump.json")
    call("mdl.finalize_dump")
