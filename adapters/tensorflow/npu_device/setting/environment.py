# SPDX-License-Identifier: Apache-2.0
"""The vendor's environment variables. acl/environment.tsv says what becomes of each; here they are checked, and those
without effect are named once."""

import os

from npu_device.adapter import library
from npu_device.setting import cluster

SWITCHES = ("NPU_DEBUG", "NPU_DUMP_GRAPH", "NPU_ENABLE_PERF")
QUIET = ("", "0", "false")  # values that ask for what is done anyway


def check_switches():
    """ValueError for a switch that is neither on nor off; read when the package is imported."""
    for name in SWITCHES:
        text = os.environ.get(name, "")
        if text not in ("", "0", "false", "1", "true"):
            raise ValueError(
                f"{name}={text} is neither on nor off; set it to 1 or true, or to 0 or false, before import"
            )


check_switches()


def tell_without_effect():
    """One log line for each variable that is set and changes nothing; cluster.py tells of those it looks at."""
    for variable in library.members("anynpu_each_client_variable"):
        name = variable["variable"].decode()
        value = os.environ.get(name, "")
        if not variable["acts"] and value not in QUIET and name not in cluster.BY_TABLE + cluster.BY_CHIEF:
            library.log(f"{name} is accepted without effect. {variable['sentence'].decode()}", library.WARNING)
