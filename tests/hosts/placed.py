# SPDX-License-Identifier: Apache-2.0
"""Ranks on hosts: (2, 2) is two hosts with two ranks each; ranks follow the hosts."""

import os
from dataclasses import dataclass

import cluster

COLLECTIVE = cluster.ROOT / "tests/collective"
PATHS = os.pathsep.join(str(cluster.ROOT / path) for path in ("tests/collective", "tools", "adapters/hccl"))


@dataclass
class Place:
    rank: int
    host: cluster.Host
    local: int  # among those of its host

    def start(self, *arguments, environment=None, **more):
        """Python with these arguments."""
        usual = {"PYTHONPATH": PATHS, "ANYNPU_THREADS": "1", "OMP_NUM_THREADS": "1"}
        return self.host.python(*arguments, environment={**usual, **(environment or {})}, **more)


def places(hosts, layout):
    located = [(host, local) for host, count in zip(hosts, layout, strict=False) for local in range(count)]
    return [Place(rank, host, local) for rank, (host, local) in enumerate(located)]


def by_root(hosts, layout, folder, program, *arguments, environment=None):
    """`program ROOT_FILE SIZE RANK arguments…` for each rank; the file is on a disk that all hosts see."""
    ranks = places(hosts, layout)
    common = [program, folder / "root", len(ranks)]
    return [each.start(*common, each.rank, *arguments, environment=environment) for each in ranks]


def as_torchrun(hosts, layout, port=29500):
    """(place, variables) of each rank, which torchrun would set."""
    ranks = places(hosts, layout)
    for each in ranks:
        yield (
            each,
            {
                "RANK": str(each.rank),
                "LOCAL_RANK": str(each.local),
                "WORLD_SIZE": str(len(ranks)),
                "LOCAL_WORLD_SIZE": str(layout[each.host.number]),
                "MASTER_ADDR": hosts[0].address,
                "MASTER_PORT": str(port),
            },
        )


def table(hosts, layout):
    """A rank table: servers are called by their addresses, each device has one of its own."""
    servers = []
    for host, count in zip(hosts, layout, strict=False):
        first = sum(layout[: host.number])
        devices = [
            {"device_id": str(i), "device_ip": f"192.0.2.{first + i + 1}", "rank_id": str(first + i)}
            for i in range(count)
        ]
        servers.append({"server_id": host.address, "device": devices})
    return {"version": "1.0", "status": "completed", "server_count": str(len(servers)), "server_list": servers}


def left_behind(host):
    """Sockets, shared memory and files of the NPU on a host where all ranks have ended well."""
    found = host.output("find", "/tmp", "/run", "/dev/shm", "-type", "s", "-o", "-path", "/dev/shm/*")
    return found.split()
