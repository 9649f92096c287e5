# SPDX-License-Identifier: Apache-2.0
"""Calls to CUDA that torch-npu's transfer_to_npu does not send to the NPU, or replaces by something that can do less:

- `torch.cuda.amp.GradScaler` is torch's own scaler with device "npu". torch-npu's fails with optimizers of fused=True.
- `torch.profiler` remains torch's, with key_averages, export_stacks and export_chrome_trace, and its activity CUDA
  records the NPU. With one of torch-npu's configurations, torch-npu's profiler is used.
- `torch.autograd.profiler.profile(use_cuda=True)` records the NPU.
- `torch.cuda.nvtx` makes marks of torch_npu.npu.mstx, which profiles show.
- `torch.cuda.get_device_capability()` is the capability of the device's properties."""

import functools

import torch
import torch.profiler.profiler as kineto
import torch_npu
from torch.cuda import nvtx

from anynpu.library import device_properties


class GradScaler(torch.amp.GradScaler):
    """`torch.cuda.amp.GradScaler` on the NPU; the parameters are torch's."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class Marks:
    """The functions of NVIDIA's library that torch.cuda.nvtx calls, as marks of the NPU."""

    def __init__(self, mstx):
        self.markA, self.rangePushA, self.rangePop = mstx.mark, mstx.range_push, mstx.range_pop
        self.rangeStartA, self.rangeEnd = mstx.range_start, mstx.range_end
        self.deviceRangeStart = lambda message, _: mstx.range_start(message, torch_npu.npu.current_stream())
        self.deviceRangeEnd = lambda handle, _: mstx.range_end(handle)


class Profile(kineto.profile):
    """`torch.profiler.profile`; torch-npu's where it is given one of torch-npu's configurations."""

    def __new__(cls, *, activities=None, experimental_config=None, **named):
        vendor = torch_npu.profiler
        if not isinstance(experimental_config, vendor._ExperimentalConfig):
            return super().__new__(cls)
        known = {CPU: vendor.ProfilerActivity.CPU, CUDA: vendor.ProfilerActivity.NPU, NPU: vendor.ProfilerActivity.NPU}
        activities = activities and [known.get(one, one) for one in activities]
        return vendor.profile(activities=activities, experimental_config=experimental_config, **named)


CPU, CUDA, NPU = (kineto.ProfilerActivity.__members__[name] for name in ("CPU", "CUDA", "PrivateUse1"))


def on_npu(activities):
    """The activities of torch's profiler, with the NPU for CUDA. One may have filters: {activity: names}."""
    if activities is None:
        return None
    renamed = {CUDA: NPU}
    return [
        {renamed.get(key, key): names for key, names in one.items()} if isinstance(one, dict) else renamed.get(one, one)
        for one in activities
    ]


def keep_profiler():
    """Takes back what transfer_to_npu has put in the place of torch's profiler and its enumeration's members."""
    for name, value in kineto.ProfilerActivity.__members__.items():
        setattr(kineto.ProfilerActivity, name, value)
    for name in ("schedule", "tensorboard_trace_handler", "ProfilerAction"):
        setattr(torch.profiler, name, getattr(kineto, name))
    torch.profiler.profile = Profile
    initialize = kineto._KinetoProfile.__init__

    @functools.wraps(initialize)
    def __init__(self, *, activities=None, **named):
        initialize(self, activities=on_npu(activities), **named)

    kineto._KinetoProfile.__init__ = __init__


def record_npu_for_cuda():
    profile = torch.autograd.profiler.profile
    initialize = profile.__init__

    @functools.wraps(initialize)
    def __init__(self, *arguments, use_cuda=False, use_device=None, **named):
        initialize(self, *arguments, use_device="npu" if use_cuda or use_device == "cuda" else use_device, **named)

    profile.__init__ = __init__


def begin():
    """transfer_to_npu has been imported: torch.cuda has the functions of torch_npu.npu now."""
    torch.cuda.amp.GradScaler = torch.cuda.amp.grad_scaler.GradScaler = GradScaler
    torch.cuda.get_device_capability = lambda device=None: device_properties.capability()
    nvtx._nvtx = Marks(torch_npu.npu.mstx)
    keep_profiler()
    record_npu_for_cuda()
