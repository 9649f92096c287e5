# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` checks for training on several ranks: who the environment says we are, whether ranks can meet
here, the ports where they do, cores and memory."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from anynpu.doctor.finding import GIGA, Finding
from anynpu.library import door, place
from anynpu.ranks import assignment

NAMES_RANKS = (*assignment.VENDOR, *assignment.CHIEF, "RANK", "WORLD_SIZE")
LEAST = 1 * GIGA  # a process with torch and the plug-in takes half of it
PATIENCE = 20  # seconds for two ranks to meet


def variable(name):
    return os.environ.get(name, "")


def size():
    """How many ranks the environment speaks of; 0 when it speaks of none."""
    counts = [door.who_am_i().size, variable("RANK_SIZE"), variable("WORLD_SIZE")]
    return next((int(count) for count in counts if str(count).isdecimal() and int(count) > 0), 0)


def differing(who):
    """(variable, what it should be, why) where variables contradict those that decide."""
    if not who.source:
        return
    source = f"the rank table {who.table}" if who.table else who.source
    facts = {"RANK_SIZE": who.size, "WORLD_SIZE": who.size}
    if who.rank >= 0:
        facts["RANK"] = who.rank
    for name, fact in facts.items():
        if variable(name) and variable(name) != str(fact):
            yield name, fact, source
    if not who.table or not variable("ASCEND_DEVICE_ID"):
        return
    mine = [r for r in door.table_ranks(who.table) if variable("RANK_ID") in (r.pod or str(r.rank), str(r.rank))]
    devices = [str(rank.device) for rank in mine]
    if devices and variable("ASCEND_DEVICE_ID") not in devices:
        yield "ASCEND_DEVICE_ID", " or ".join(devices), f"{source} for RANK_ID {variable('RANK_ID')}"


def incomplete():
    """(variable, what is missing beside it): it has no effect alone."""
    if not variable("CM_CHIEF_IP"):
        yield from ((name, "CM_CHIEF_IP") for name in assignment.CHIEF[1:] if variable(name))
    if variable("RANK_ID") and not variable("RANK_TABLE_FILE"):
        yield "RANK_ID", "RANK_TABLE_FILE"
    for name, other in (("RANK", "WORLD_SIZE"), ("WORLD_SIZE", "RANK")):
        if variable(name) and not variable(other):
            yield name, other


def check_table(who):
    table = door.table_ranks(who.table)
    count = door.configured().device_count
    chosen = variable("ASCEND_RT_VISIBLE_DEVICES")  # numbers anew what the table counts on the server
    if table and not chosen and max(rank.device for rank in table) >= count:
        text = f"{who.table} names device {max(rank.device for rank in table)}, but there are NPUs 0 to {count - 1}"
        yield Finding("bad", text, "raise ANYNPU_DEVICES, or give the ranks lower device_id")


def check_variables():
    who = door.who_am_i()
    if who.problem:
        yield Finding("bad", who.problem, f"set or unset what is named; now: {shown() or 'nothing is set'}")
        return
    for name, fact, source in differing(who):
        text = f"{name} is {variable(name)}, but {source} says {fact}"
        yield Finding("bad", text, f"unset {name}, or set it to {fact}")
    mixed = [name for name in ("RANK_ID", "RANK_SIZE") if who.source == "CM_CHIEF_IP" and variable(name)]
    if mixed:
        cure = f"unset {' '.join(mixed)}: the vendor's tools refuse them beside CM_CHIEF_IP"
        yield Finding("note", f"CM_CHIEF_IP decides; {' and '.join(mixed)} set beside it count for nothing", cure)
    elif not who.source or who.source in ("RANK", "RANK_TABLE_FILE"):
        for name, other in incomplete():
            yield Finding("note", f"{name} is set, but {other} is not: alone it has no effect", f"set {other}, too")
    if who.table:
        yield from check_table(who)
    if who.source:
        rank = f"rank {who.rank} of {who.size}" if who.rank >= 0 else f"one of {who.size} ranks"
        yield Finding("ok", f"programs started here are {rank}, as {who.table or who.source} says")


def shown():
    return ", ".join(f"{name}={variable(name)}" for name in NAMES_RANKS if variable(name))


MEETS = """
import os
from anynpu.library import door
library = door.library()
if library.aclrtSetDevice(int(os.environ["RANK"])) or library.anynpu_world_join():
    raise SystemExit(library.anynpu_recent_reason().decode())
with open("/proc/net/unix", encoding="utf-8") as sockets:
    print(next((line.split()[-1] for line in sockets if f"/{os.getpid()}-" in line), "their sockets"))
library.anynpu_world_leave()
"""


def check_meeting():
    """Two ranks, each a process, as any launcher would start them."""
    door.library()  # where it does not load, that was said
    base = {name: value for name, value in os.environ.items() if name not in NAMES_RANKS}
    base |= {"WORLD_SIZE": "2", "JOB_ID": f"doctor-{os.getpid()}", "PYTHONPATH": str(place.HERE.parent)}
    base |= {"HCCL_CONNECT_TIMEOUT": str(PATIENCE // 2), "ANYNPU_MEMORY": "256M", "MASTER_PORT": ""}
    start = time.monotonic()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MEETS],
            env={**base, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        texts = [process.communicate(timeout=PATIENCE) for process in processes]
    except subprocess.TimeoutExpired:
        texts = [("", f"no answer in {PATIENCE} s")] * 2
    finally:
        for process in processes:
            process.kill()
            process.wait()
    wrong = [err.strip().splitlines() or ["it said nothing"] for _, err in texts]
    if all(process.returncode == 0 for process in processes):
        folder = Path(texts[0][0].strip()).parent
        yield Finding("ok", f"two ranks meet in {time.monotonic() - start:.1f} s, by sockets in {folder}")
    else:
        cure = "look at what is named above; XDG_RUNTIME_DIR (or TMPDIR) must be a folder of yours that ranks share"
        yield Finding("bad", f"two ranks do not meet: {wrong[0][-1]}", cure)


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True


def holder(port):
    """Who listens there, as far as we may see; else ""."""
    wanted = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="utf-8") as lines:
            cells = [line.split() for line in lines][1:]
        wanted |= {f"socket:[{c[9]}]" for c in cells if c[3] == "0A" and int(c[1].split(":")[1], 16) == port}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted & {os.readlink(fd) for fd in (process / "fd").iterdir()}:
                return f" by {(process / 'comm').read_text().strip()} (process {process.name})"
        except OSError:
            continue  # ended, or not ours to look at
    return ""


def check_ports():
    who = door.who_am_i()
    if not who.ports:
        return  # the problem was told
    block = range(who.first_port, who.first_port + who.ports)
    chief = who.source == "CM_CHIEF_IP"
    name = f"port {block[0]}" if chief else f"ports {block[0]} to {block[-1]}"
    master = variable("MASTER_PORT")
    if master.isdecimal() and int(master) in block:
        text = f"MASTER_PORT {master} is torch's, but ranks meet there, too ({name})"
        cure = f"choose another MASTER_PORT, such as {assignment.free_port()}"
        other = "CM_CHIEF_PORT" if chief else "HCCL_IF_BASE_PORT: each meeting waits 2 s for an answer there"
        yield Finding("bad" if chief else "note", text, f"{cure}, or another {other}")
    busy = [port for port in block if not is_free(port)]
    if len(busy) == len(block):
        cure = "end who holds them, or set HCCL_IF_BASE_PORT to the first of 16 others"
        cure = "end who holds it, or choose another CM_CHIEF_PORT" if chief else cure
        yield Finding("bad", f"{name}, where ranks meet, in use{holder(busy[0])}", cure)
    elif busy:
        text = f"of {name}, where ranks meet, {len(busy)} in use: {busy[0]}{holder(busy[0])}"
        yield Finding("note", text, "nothing to do: ranks take the first that is free")
    else:
        yield Finding("ok", f"{name}, where ranks of tables and launchers meet, free")


def check_cores():
    mine, all_cores, count = len(os.sched_getaffinity(0)), os.cpu_count(), size()
    threads = variable("ANYNPU_THREADS")
    if mine < all_cores:
        cure = "start without taskset (or widen the container's cpuset) unless that is meant"
        yield Finding("note", f"only {mine} of {all_cores} cores may be used here", cure)
    if count > mine:
        text = f"{count} ranks on {mine} cores: they take turns, and wait for each other"
        yield Finding("note", text, f"use at most {mine} ranks where speed matters")
    elif count and threads.isdecimal() and int(threads) * count > mine:
        text = f"ANYNPU_THREADS is {threads}: {count} ranks have {int(threads) * count} threads on {mine} cores"
        yield Finding("note", text, f"unset ANYNPU_THREADS, or set it to {mine // count}")
    else:
        yield Finding("ok", f"cores of their own for {mine} ranks")


def available():
    """Bytes that are free now, at most what the control group allows."""
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) << 10
    return min(free, door.configured().machine_memory)


def check_memory():
    now, count, free = door.configured(), size(), available()
    if now.problem:
        return  # told already
    text = f"{free / GIGA:.1f} GiB of memory are free"
    if count and free / count < LEAST:
        text += f": {free / count / GIGA:.1f} GiB for each of {count} ranks"
        yield Finding("note", text, "use fewer ranks, or end other programs: torch alone takes 0.5 GiB a rank")
    elif count > 1 and now.capacity * count > now.machine_memory:
        share = max(0.8 * now.machine_memory / count / GIGA, 0.1)
        text = f"{count} NPUs of {now.capacity / GIGA:.1f} GiB are more than the machine has ({text})"
        cure = f"set ANYNPU_MEMORY={share:.1f}G, and a rank that wants too much gets an error instead of being killed"
        yield Finding("note", text, cure)
    else:
        yield Finding("ok", f"{text}: {int(free // (2 * GIGA))} ranks with 2 GiB each")


CHECKS = (check_variables, check_meeting, check_ports, check_cores, check_memory)
