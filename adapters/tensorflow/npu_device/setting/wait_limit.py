# SPDX-License-Identifier: Apache-2.0
"""stream_sync_timeout and event_sync_timeout: how long the host waits for work of a device."""

from npu_device.adapter import library


def start(options):
    """Puts them in force, for all devices; ValueError where one is no limit."""
    limits = options.stream_sync_timeout, options.event_sync_timeout
    if reason := library.reason_of(library.load().anynpu_set_wait_limits(*limits)):
        raise ValueError(f"option {reason}")
