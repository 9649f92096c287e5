# SPDX-License-Identifier: Apache-2.0
"""What `anynpu launch --hosts` asks of each host: the ranks it starts and their environments."""

import json
import os

from anynpu.ranks import assignment, hosts

# What belongs to a host or to a login there.
OWN = ("HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "TMPDIR", "DISPLAY", "MAIL", "_")
OWN_PREFIXES = ("SSH_", "XDG_", "DBUS_", "SLURM_", "SYSTEMD_")


def carried():
    """Of our environment what goes to other hosts: all but what is theirs, and what would name ranks otherwise."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_PREFIXES)}
    for name in (*OWN, *assignment.VENDOR, *assignment.CHIEF):
        kept.pop(name, None)
    return kept


def variables(places, port):
    """Of all ranks."""
    size = sum(place.count for place in places)
    return {**assignment.common(size, places[0].address, port), "RANK_SIZE": str(size)}


def jobs(places, options, port, more):
    """One for each host, in their order. `more`: of all ranks, besides who they are."""
    common = {**carried(), **more, **variables(places, port)}
    table, first = json.dumps(hosts.table(places), indent=1), 0
    for group, place in enumerate(places):
        ranks = []
        for device in range(place.count):
            own = {"RANK": first + device, "RANK_ID": first + device, "LOCAL_RANK": device}
            own |= {"DEVICE_ID": device, "ASCEND_DEVICE_ID": device}
            environment = {name: str(value) for name, value in own.items()}
            ranks.append({"number": first + device, "device": device, "environment": environment})
        first += place.count
        yield {
            "folder": os.getcwd(),
            "script": options.script,
            "arguments": options.arguments,
            "bind": not options.no_bind,
            "table": table,
            "environment": {**common, "LOCAL_WORLD_SIZE": str(place.count), "GROUP_RANK": str(group)},
            "ranks": ranks,
        }
