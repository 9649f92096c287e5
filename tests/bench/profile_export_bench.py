# SPDX-License-Identifier: Apache-2.0
"""How fast msprof exports what a process recorded, and how fast its database answers.

python tests/bench/profile_export_bench.py [--events 10000000] [--times 3]

The collection is made up, as a training run leaves it (device/trace/record.h): of three events two are calls of two
threads, phases 1 and 2 of an operator, and one is the task that they queued; 60 operators with shapes. MSPROF names
another program than the built one. Targets: 1,000,000 events a second, and a query of the database in a second. Text
is all of the tables and both timelines; of 10,000,000 events it has 6 GB, whose time is also the disk's.
"""

import argparse
import json
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
MSPROF = os.environ.get("MSPROF", ROOT / "build/toolkit/tools/profiler/bin/msprof")
BEGIN, CLOCK = 1_700_000_000_000_000_000, 5_000_000
OPERATORS = 60
TASK = np.dtype([("start", "<i8"), ("end", "<i8"), ("launched", "<i8"), ("number", "<u8"), ("bytes", "<u8"),
                 ("stream", "<i4"), ("device", "<i4"), ("launcher", "<u4"), ("unit", "<u4"), ("type", "<u4"),
                 ("name", "<u4"), ("inputs", "<u4"), ("outputs", "<u4"), ("graph", "<u4"), ("step", "<u4"),
                 ("waited", "<i8"), ("reserved", "<u8")])  # fmt: skip
CALL = np.dtype([("start", "<i8"), ("end", "<i8"), ("thread", "<u4"), ("name", "<u4"), ("level", "<u4"),
                 ("reserved", "<u4")])  # fmt: skip
PIECE = 24 << 12  # bytes that one thread writes in a row
QUERIES = {
    "the ten types with the most time": """select value, totalNs from OP_STATISTIC join STRING_IDS on id = opType
        order by 2 desc limit 10""",
    "the same, added up from the tasks": """select opType, sum(endNs - startNs) from COMPUTE_TASK_INFO
        join TASK using (globalTaskId) group by opType order by 2 desc limit 10""",
    "the time of all tasks": "select sum(endNs - startNs) from TASK",
    "the ten longest tasks of a millisecond": """select value, endNs - startNs from TASK join COMPUTE_TASK_INFO
        using (globalTaskId) join STRING_IDS on id = name where startNs between {middle} and {middle} + 1000000
        order by 2 desc limit 10""",
    "the call that launched a task": """select value, CANN_API.startNs from TASK join CANN_API using (connectionId)
        join STRING_IDS on id = name where TASK.connectionId = {task}""",
}


def texts():
    """Types, names and shapes, in this order."""
    shapes = [f"{64 << i % 5},{i + 1};{i + 1},32|FLOAT;FLOAT|ND;ND" for i in range(OPERATORS)]
    return [f"Op{i}" for i in range(OPERATORS)] + [f"aclnnOp{i}" for i in range(OPERATORS)] + shapes


def in_pieces(records, threads):
    """As two threads write them: each its own, a piece of the file at a time."""
    size = PIECE // records.itemsize
    own = [records[threads == thread] for thread in range(2)]
    pieces = [part[at : at + size] for part in own for at in range(0, len(part), size)]
    return np.concatenate(sorted(pieces, key=lambda piece: piece["start"][0]))


def make(folder, events):
    random = np.random.default_rng(1)
    tasks = np.zeros(events // 3, TASK)
    index = np.arange(len(tasks))
    operator = random.integers(0, OPERATORS, len(tasks)).astype("u4")
    thread = (index // 1000 % 2).astype("u4")
    begin = CLOCK + index * 10_000
    tasks["start"], tasks["end"] = begin + 8_000, begin + 8_000 + random.integers(1_000, 9_900, len(tasks))
    tasks["launched"], tasks["launcher"], tasks["number"], tasks["stream"] = begin + 6_000, 78 + thread, index, 3
    tasks["unit"] = 1 + operator % 3
    tasks["type"], tasks["name"] = operator + 1, operator + 1 + OPERATORS
    tasks["inputs"] = tasks["outputs"] = operator + 1 + 2 * OPERATORS
    calls = np.zeros(2 * len(tasks), CALL)
    for phase, level in ((0, 2), (1, 1)):  # …GetWorkspaceSize, and what queues
        part = calls[phase::2]
        part["start"], part["end"] = begin + phase * 4_000, begin + phase * 4_000 + 3_000
        part["thread"], part["name"], part["level"] = 78 + thread, operator + 1 + OPERATORS, level
    for place in ("host/data", "device_0/data"):
        (folder / place).mkdir(parents=True)
    (folder / "host/info.json").write_text(json.dumps({"pid": "77", "anynpu_format": 1}))
    start = {"collectionTimeBegin": str(BEGIN // 1000), "clockMonotonicRaw": str(CLOCK)}
    (folder / "host/start_info").write_text(json.dumps(start))
    encoded = [len(text).to_bytes(4, "little") + text.encode() for text in texts()]
    (folder / "host/data/anynpu.texts").write_bytes(b"".join(encoded))
    in_pieces(calls, np.repeat(thread, 2)).tofile(folder / "host/data/anynpu.calls")
    in_pieces(tasks, thread).tofile(folder / "device_0/data/anynpu.tasks")
    return len(tasks) + len(calls)


def exported(folder, kind):
    """Seconds, those of the processor, and the files."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [MSPROF, "--export=on", f"--type={kind}", f"--output={folder}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    taken = time.perf_counter() - start
    written = [*folder.glob("mindstudio_profiler_output/*"), *folder.glob("*.db")]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, written


def asked(database, events):
    """Seconds of the first run of each query, by a connection that has read nothing."""
    for title, query in QUERIES.items():
        connection = sqlite3.connect(database)
        start = time.perf_counter()
        rows = connection.execute(query.format(middle=BEGIN + events // 6 * 10_000, task=events // 7)).fetchall()
        taken = time.perf_counter() - start
        assert rows, title
        print(f"database of {events:,} events, {title}: {taken:.3f} s (target: at most 1)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "PROF_000001_20231114221320000_ABCDEFGH")
        events = make(folder, args.events)
        for kind in ("text", "perfetto", "db"):
            times, processor = [], []
            for last in range(args.times - 1, -1, -1):
                taken, busy, written = exported(folder, kind)
                size = sum(path.stat().st_size for path in written)
                times.append(taken)
                processor.append(busy)
                if kind == "db" and last == 0:
                    asked(written[0], events)
                for path in written:
                    path.unlink()
            low, middle, high = (events / taken / 1e6 for taken in (max(times), statistics.median(times), min(times)))
            print(f"export of {events:,} events, {kind}, {size / 1e6:.0f} MB: {middle:.2f} [{low:.2f}, {high:.2f}] "
                  f"million events/s (target: at least 1), "
                  f"{events / min(processor) / 1e6:.2f} a second of one core")  # fmt: skip


if __name__ == "__main__":
    main()
