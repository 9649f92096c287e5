# SPDX-License-Identifier: Apache-2.0
"""On which hosts the ranks of `anynpu launch --hosts` run: what the option says, and the rank table it makes.

A list of NAME, NAME=ADDRESS, each with :COUNT or none: a,b; a:4,b:2; node[01-04]; a=10.0.0.1,b=[fd00::2]:4."""

import ipaddress
import re
import socket
from dataclasses import dataclass

ONE = re.compile(r"(?P<name>[^\s=:,\[\]]+)(=(?P<address>[^\s:\[\]]+|\[[^\s\[\]]+\]))?(:(?P<count>\d+))?")
RANGES = re.compile(r"\[([\d,-]+)\]")


@dataclass
class Host:
    name: str  # by which the agent finds it
    address: str  # by which ranks reach each other
    count: int  # of ranks

    def __str__(self):
        return self.name if self.name == self.address else f"{self.name} ({self.address})"


def expanded(text):
    """The names of "node[01-03,7]", in Slurm's way of writing them."""
    found = RANGES.search(text)
    if found is None:
        return [text]
    out = []
    for part in found[1].split(","):
        first, _, last = part.partition("-")
        if not first or not (last or first).isdigit() or int(last or first) < int(first):
            raise ValueError(
                f"hosts are '{text}', of which '{part}' is no number or range; write node[1-4] or node[1,3]"
            )
        for number in range(int(first), int(last or first) + 1):
            middle = str(number).zfill(len(first))
            out += expanded(text[: found.start()] + middle + text[found.end() :])
    return out


def names(text):
    """The parts of a list; a comma in brackets belongs to its part."""
    parts = re.split(r",(?![^\[]*\])", text.strip())
    return [name for part in parts for name in expanded(part.strip())]


def resolved(name):
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(
            f"the address of host {name} is not known here: {error.strerror or error}. Give {name}=ADDRESS"
        ) from None
    return min(found, key=lambda each: each[0] != socket.AF_INET)[4][0]


def parse(text, number):
    """The hosts that `text` names, with `number` ranks (None: as the counts say) in parts as even as they can be."""
    out, counts = [], []
    for each in names(text):
        found = ONE.fullmatch(each)
        if found is None:
            raise ValueError(f"--hosts is '{text}', of which '{each}' is no host; write a,b or a:4,b:2 or a=10.0.0.1,b")
        counts.append(found["count"])
        out.append(Host(found["name"], (found["address"] or "").strip("[]") or resolved(found["name"]), 0))
    check_apart(out)
    share(out, counts, number)
    return out


def check_apart(hosts):
    for attribute in ("name", "address"):
        seen = [getattr(host, attribute) for host in hosts]
        twice = [each for each in seen if seen.count(each) > 1]
        if twice:
            raise ValueError(f"--hosts has {twice[0]} twice; give each host once, as a:4 for four ranks on it")
    for host in hosts:
        try:
            alone = ipaddress.ip_address(host.address).is_loopback
        except ValueError:
            raise ValueError(f"'{host.address}' of host {host.name} is no IPv4 or IPv6 address") from None
        if alone and len(hosts) > 1:
            raise ValueError(
                f"host {host.name} has the address {host.address} here, by which others cannot reach it; "
                f"give {host.name}=ADDRESS"
            )


def share(hosts, counts, number):
    given = [int(count) for count in counts if count is not None]
    if given and len(given) < len(hosts):
        raise ValueError(
            "--hosts says for some hosts how many ranks they have; say it for all, or for none and give -n"
        )
    if given and number not in (None, sum(given)):
        raise ValueError(f"-n is {number}, but --hosts has {sum(given)} ranks")
    if not given and number is None:
        raise ValueError("how many ranks? give -n 8, or --hosts a:4,b:4")
    for place, host in enumerate(hosts):
        host.count = given[place] if given else number // len(hosts) + (place < number % len(hosts))
        if host.count < 1:
            raise ValueError(f"host {host.name} has no rank; give at least one rank a host")


def table(hosts):
    """The rank table: ranks follow the hosts, and on each its NPUs."""
    servers, rank = [], 0
    for host in hosts:
        devices = [{"device_id": str(i), "device_ip": "", "rank_id": str(rank + i)} for i in range(host.count)]
        servers.append({"server_id": host.address, "device": devices})
        rank += host.count
    return {"version": "1.0", "status": "completed", "server_count": str(len(hosts)), "server_list": servers}
