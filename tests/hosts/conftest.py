# SPDX-License-Identifier: Apache-2.0
"""`make hosts` runs all tests of this folder, `make test` those that are marked `few`; where namespaces may not be
made, they are skipped and say so."""

import functools
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "collective"), str(HERE.parent / "tensorflow")]

import cluster  # noqa: E402


def pytest_collection_modifyitems(config, items):
    if os.environ.get("ANYNPU_HOSTS") == "all":
        return
    asked = [argument for argument in config.args if "::" in argument]
    left_out = [item for item in items if not item.get_closest_marker("few") and not asked]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


refusal = functools.cache(cluster.refusal)


@pytest.fixture
def hosts(tmp_path):
    """hosts(3): a cluster of so many, which sees tmp_path, too."""
    if reason := refusal():
        pytest.skip(reason)
    made = []

    def make(count, **more):
        made.append(cluster.Cluster(count, [tmp_path], **more))
        return made[-1]

    yield make
    for each in made:
        each.close()
