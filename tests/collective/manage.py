# SPDX-License-Identifier: Apache-2.0
"""One rank of the tests of hccl.manage.api: prints what it sees as a JSON line."""

import json

import hccl
from hccl.manage.api import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_local_rank_id,
    get_local_rank_size,
    get_rank_id,
    get_rank_size,
    get_world_rank_from_group_rank,
)


def refused(function, *arguments):
    try:
        function(*arguments)
    except ValueError as error:
        return str(error)
    return "nothing"


def main():
    size, rank = get_rank_size(), get_rank_id()
    out = {"size": size, "rank": rank, "local": [get_local_rank_size(), get_local_rank_id()]}
    ends = [size - 1, 0]
    if rank in ends:
        create_group("ends", 2, ends)
        out["ends"] = [get_rank_size("ends"), get_rank_id("ends"), get_world_rank_from_group_rank("ends", 0)]
        out["from_world"] = get_group_rank_from_world_rank(0, "ends")
        out["wrong"] = {
            "again": refused(create_group, "ends", 2, ends),
            "no member": refused(get_group_rank_from_world_rank, 1, "ends"),
            "past": refused(get_world_rank_from_group_rank, "ends", 2),
        }
        destroy_group("ends")
        out["wrong"]["gone"] = refused(get_rank_id, "ends")
    out["refused"] = {
        "world": refused(create_group, "hccl_world_group", size, list(range(size))),
        "world_end": refused(destroy_group, "hccl_world_group"),
        "count": refused(create_group, "g", 1, [0, 1]),
        "name": refused(create_group, "x" * 128, 1, [0]),
        "type": refused(get_rank_size, 5),
        "ids": refused(create_group, "g", 1, [-1]),
    }
    hccl.finalize()
    out["after"] = refused(get_rank_id)
    print("SAW " + json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
