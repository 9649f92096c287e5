# SPDX-License-Identifier: Apache-2.0
"""The published messages of Perfetto read msprof's trace of a real run, and see in it what the JSON timeline says.

    make clients   # all of them; it puts perfetto and its protobuf into build/clients-perfetto
    PYTHONPATH=build/clients-perfetto python tests/clients/perfetto_trace.py

A small model trains under torch_npu.profiler in a process of its own, without that folder: TensorFlow wants an older
protobuf. Slices of each track must nest, each flow must lead from a launch to a task, and names, tracks, times and
flows are those of msprof_*.json. MSPROF names another program to export with than the installed one.
Version it was run with: perfetto 0.59.1, protobuf 6.31.1.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

STEPS = 3
PROGRAM = """
import sys, torch, torch_npu
from torch_npu import profiler
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 16).npu()
with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(sys.argv[1]), record_shapes=True):
    for _ in range(int(sys.argv[2])):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
"""
BEGIN, END = perfetto.TrackEvent.TYPE_SLICE_BEGIN, perfetto.TrackEvent.TYPE_SLICE_END


def profiled(folder):
    """The folder mindstudio_profiler_output of a run."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-c", PROGRAM, folder, str(STEPS)]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    (collection,) = Path(folder).rglob("PROF_*")
    if "MSPROF" in os.environ:
        for file in collection.glob("mindstudio_profiler_output/*"):
            file.unlink()
        subprocess.run([os.environ["MSPROF"], "--export=on", f"--output={collection}"], check=True)
    return collection / "mindstudio_profiler_output"


class Trace:
    def __init__(self, path):
        read = perfetto.Trace()
        read.ParseFromString(path.read_bytes())
        self.packets = list(read.packet)
        self.tracks = {one.track_descriptor.uuid: one.track_descriptor for one in self.packets
                       if one.HasField("track_descriptor")}  # fmt: skip
        self.names = {name.iid: name.name for one in self.packets for name in one.interned_data.event_names}
        self.events = [one for one in self.packets if one.HasField("track_event")]

    def path(self, uuid):
        """Of its group and its own title, as the JSON timeline has it."""
        track = self.tracks[uuid]
        parent = self.tracks[track.parent_uuid]
        return parent.process.process_name or parent.name, track.thread.thread_name or track.name

    def slices(self):
        """[(track, name, start, nanoseconds)]; ends where they do not nest."""
        found = []
        by_track = collections.defaultdict(list)
        for one in self.events:
            by_track[one.track_event.track_uuid].append(one)
        for uuid, events in by_track.items():
            open_ones = []
            for one in sorted(events, key=lambda one: one.timestamp):
                if one.track_event.type == BEGIN:
                    open_ones.append(one)
                elif one.track_event.type == END:
                    first = open_ones.pop()
                    name = self.names[first.track_event.name_iid]
                    found.append((self.path(uuid), name, first.timestamp, one.timestamp - first.timestamp))
            assert not open_ones, f"{len(open_ones)} slices of {self.path(uuid)} have no end"
        return found

    def flows(self):
        """[(track, time, track, time)]"""
        begins = {flow: one for one in self.events for flow in one.track_event.flow_ids}
        ends = {flow: one for one in self.events for flow in one.track_event.terminating_flow_ids}
        assert begins.keys() == ends.keys() and max(ends) < 2**32, (
            "each flow has a begin and an end, and a small number"
        )
        return [tuple(part for one in (begins[flow], ends[flow])
                      for part in (self.path(one.track_event.track_uuid), one.timestamp)) for flow in ends]  # fmt: skip


def nanoseconds(microseconds):
    whole, part = str(microseconds).split(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


class Timeline:
    """The same of the JSON."""

    def __init__(self, path):
        self.events = json.loads(path.read_text())
        told = {(one["name"], one["pid"], one["tid"]): one["args"] for one in self.events if one["ph"] == "M"}
        self.groups = {pid: args["name"] for (what, pid, _), args in told.items() if what == "process_name"}
        self.titles = {(pid, tid): args["name"] for (what, pid, tid), args in told.items() if what == "thread_name"}

    def path(self, one):
        return self.groups[one["pid"]], self.titles[one["pid"], one["tid"]]

    def slices(self):
        return [(self.path(one), one["name"], nanoseconds(one["ts"]), round(one["dur"] * 1000))
                for one in self.events if one["ph"] == "X"]  # fmt: skip

    def flows(self):
        ends = collections.defaultdict(dict)
        for one in self.events:
            if one["ph"] in "sf":
                ends[one["id"]][one["ph"]] = (self.path(one), nanoseconds(one["ts"]))
        return [flow["s"] + flow["f"] for flow in ends.values()]


def main():
    with tempfile.TemporaryDirectory() as folder:
        output = profiled(folder)
        (trace,), (timeline,) = output.glob("msprof_*.perfetto-trace"), output.glob("msprof_*.json")
        trace, timeline = Trace(trace), Timeline(timeline)
    clock = perfetto.BUILTIN_CLOCK_REALTIME
    assert trace.packets[0].clock_snapshot.primary_trace_clock == clock
    assert trace.packets[0].trace_packet_defaults.timestamp_clock_id == clock
    slices, flows = trace.slices(), trace.flows()
    assert sorted(slices) == sorted(timeline.slices())
    assert sorted(flows) == sorted(timeline.flows())
    kernels = [one for one in slices if one[0][0] == "Ascend Hardware" and one[1].startswith("aclnnAddmm_")]
    assert len(kernels) == 2 * STEPS, kernels
    print(f"{len(trace.packets)} packets: {len(slices)} slices and {len(flows)} flows, those of the JSON timeline")


if __name__ == "__main__":
    main()
