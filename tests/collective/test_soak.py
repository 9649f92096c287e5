# SPDX-License-Identifier: Apache-2.0
"""100,000 mixed collectives over groups that come and go: memory and descriptors stay flat."""

import json

from hccl_c import outputs, start

CALLS = 100_000
RANKS = 3


def test_memory_and_descriptors_stay_flat(tmp_path):
    results = outputs(start("soak.py", tmp_path, RANKS, CALLS), seconds=400)
    for code, text in results:
        assert code == 0, text[-2000:]
        seen = json.loads(text.split("SAW ")[1])
        print("resident MiB", [round(bytes_ / 2**20, 1) for bytes_, _ in seen], "descriptors", [n for _, n in seen])
        assert max(n for _, n in seen[1:]) <= seen[0][1] + 4  # groups alive differ by a few
        assert seen[-1][0] <= seen[1][0] * 1.02 + 2**20
