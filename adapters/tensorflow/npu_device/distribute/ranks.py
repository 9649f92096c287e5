# SPDX-License-Identifier: Apache-2.0
"""The processes that train together. They join when the first collective is asked for, which all processes do."""

from absl import logging

from npu_device import device
from npu_device.setting import cluster

WORLD = cluster.WORLD


def alone(what):
    """Whether this process trains alone, which is logged: `what` is skipped then."""
    if cluster.size() > 1:
        return False
    # Not logging.info, which gives the root logger a handler: TensorFlow's lines would then come twice.
    logging.get_absl_logger().info("Skip %s as current process is not npu cluster worker", what)
    return True


def place(group=WORLD):
    """(ranks of a group, this process's rank in it), which have met then. RuntimeError says why they cannot, ValueError
    for a group that is not there or that this process is not in."""
    return cluster.place(group, device.in_use())
