# SPDX-License-Identifier: Apache-2.0
"""profiling_config, and PROFILING_MODE where that asks for nothing: records of the whole process in a PROF_* folder."""

from npu_device.adapter import library


def words(options):
    """What the engine is to record, as JSON; None for what the environment says."""
    config = options.profiling_config
    return config.profiling_options if config.enable_profiling else None


def start(options, device_id):
    """Begins what is asked for; further devices join. ValueError with the reason where it cannot."""
    text = words(options)
    code = library.load().anynpu_profile_start(None if text is None else text.encode(), device_id)
    if reason := library.reason_of(code):
        raise ValueError(reason)
