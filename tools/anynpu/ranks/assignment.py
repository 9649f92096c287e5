# SPDX-License-Identifier: Apache-2.0
"""Who the ranks of `anynpu launch` are, and what each finds in its environment.

The first that is there decides: --rank-table and -n, RANK_TABLE_FILE, CM_CHIEF_IP. What the others say is taken out of
the ranks' environment, for libraries would go by it."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from anynpu.library import door

VENDOR = ("RANK_TABLE_FILE", "RANK_ID", "RANK_SIZE")
CHIEF = ("CM_CHIEF_IP", "CM_CHIEF_PORT", "CM_CHIEF_DEVICE", "CM_WORKER_SIZE", "CM_WORKER_IP")


@dataclass
class Ranks:
    source: str  # for people
    devices: list
    variables: dict  # of all ranks
    own: list  # of each

    def environments(self, more):
        """What each rank gets: our environment, `more`, and who it is."""
        inherited = {name: value for name, value in os.environ.items() if name not in (*VENDOR, *CHIEF)}
        for rank, (device, own) in enumerate(zip(self.devices, self.own, strict=True)):
            place = {"RANK": rank, "LOCAL_RANK": rank, "DEVICE_ID": device, "ASCEND_DEVICE_ID": device}
            yield {**inherited, **more, **self.variables, **{k: str(v) for k, v in place.items()}, **own}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def common(size, address="127.0.0.1", port=None):
    """What torchrun sets, and the job's name. `port`: one that is free at the address."""
    return {
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": address,
        "MASTER_PORT": os.environ.get("MASTER_PORT") or str(port or free_port()),
        "JOB_ID": os.environ.get("JOB_ID") or f"launch-{os.getpid()}",
    }


def check_npus(size, source):
    """A rank table names NPUs of the server, of which ASCEND_RT_VISIBLE_DEVICES may choose; these count ours."""
    now = door.configured()
    if now.problem:
        raise ValueError(now.problem)
    if size > now.device_count:
        raise ValueError(
            f"{source} is {size}, but there are {now.device_count} NPUs, one a rank; ANYNPU_DEVICES={size} makes "
            "more (ASCEND_RT_VISIBLE_DEVICES hides some)"
        )


def of_number(size):
    check_npus(size, "-n")
    own = [{"RANK_ID": str(rank)} for rank in range(size)]
    ignored = [name for name in ("RANK_TABLE_FILE", "CM_CHIEF_IP") if os.environ.get(name)]
    source = "-n" + (f"; {' and '.join(ignored)} of the environment left out" if ignored else "")
    return Ranks(source, list(range(size)), {**common(size), "RANK_SIZE": str(size)}, own)


def of_table(path, source):
    ranks = door.table_ranks(path)
    servers = sorted({rank.server for rank in ranks})
    if len(servers) > 1:
        raise ValueError(
            f"{path} has ranks on several servers ({', '.join(servers)}); all of them must be on this host. Give all "
            "ranks one server_id, or start them with --hosts, which writes a table"
        )
    variables = {**common(len(ranks)), "RANK_SIZE": str(len(ranks)), "RANK_TABLE_FILE": str(Path(path).absolute())}
    own = [{"RANK_ID": rank.pod or str(rank.rank)} for rank in ranks]
    return Ranks(f"{source} {path}", [rank.device for rank in ranks], variables, own)


def of_chief():
    """CM_*: each process finds its rank by its device, so the chief's must be one of ours."""
    found = door.who_am_i()
    if found.problem:
        raise ValueError(found.problem)
    check_npus(found.size, "CM_WORKER_SIZE")
    device = int(os.environ["CM_CHIEF_DEVICE"])
    if device >= found.size:
        raise ValueError(f"CM_CHIEF_DEVICE is {device}, but CM_WORKER_SIZE is {found.size}: NPUs 0 to {found.size - 1}")
    kept = {name: os.environ[name] for name in CHIEF if name in os.environ}
    return Ranks("CM_CHIEF_IP", list(range(found.size)), {**common(found.size), **kept}, [{}] * found.size)


def find(number, table):
    """By the arguments -n and --rank-table; None for one that was not given. ValueError says what is wrong."""
    if number is not None and number < 1:
        raise ValueError("how many ranks? give -n 4, or --rank-table FILE")
    if table is not None:
        found = of_table(table, "--rank-table")
        if number not in (None, len(found.devices)):
            raise ValueError(f"-n is {number}, but {table} has {len(found.devices)} ranks")
        return found
    if number is not None:
        return of_number(number)
    if os.environ.get("RANK_TABLE_FILE"):
        return of_table(os.environ["RANK_TABLE_FILE"], "RANK_TABLE_FILE")
    if os.environ.get("CM_CHIEF_IP"):
        return of_chief()
    raise ValueError("how many ranks? give -n 4, or --rank-table FILE (or set RANK_TABLE_FILE, or CM_CHIEF_IP)")
