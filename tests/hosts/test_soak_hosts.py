# SPDX-License-Identifier: Apache-2.0
"""Mixed collectives over groups that come and go on two hosts: memory and descriptors stay flat. ANYNPU_SOAK_CALLS asks
for another number of calls; `make hosts` makes 100,000."""

import json
import os

import pytest
from hccl_c import outputs
from placed import COLLECTIVE, by_root, left_behind

LAYOUT = (2, 2)
CALLS = int(os.environ.get("ANYNPU_SOAK_CALLS", "100000" if os.environ.get("ANYNPU_HOSTS") == "all" else "5000"))


@pytest.mark.few
def test_memory_and_descriptors_stay_flat(hosts, tmp_path):
    some = hosts(len(LAYOUT))
    results = outputs(by_root(some, LAYOUT, tmp_path, COLLECTIVE / "soak.py", CALLS), seconds=120 + CALLS // 100)
    for rank, (code, text) in enumerate(results):
        assert code == 0, f"rank {rank}: {text[-2000:]}"
        seen = json.loads(text.split("SAW ")[1])
        mebibytes = [round(resident / 2**20, 1) for resident, _ in seen]
        print(f"rank {rank}, {CALLS} calls: resident MiB {mebibytes}, descriptors {[count for _, count in seen]}")
        assert max(count for _, count in seen[1:]) <= seen[0][1] + 4  # groups alive differ by a few
        assert seen[-1][0] <= seen[1][0] * 1.02 + 2**20
    assert [left_behind(host) for host in some] == [[]] * len(LAYOUT)
