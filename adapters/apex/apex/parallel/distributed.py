# SPDX-License-Identifier: Apache-2.0
"""Data parallelism with Apex's names and options."""

import torch
import torch.distributed as dist


class DistributedDataParallel(torch.nn.parallel.DistributedDataParallel):
    """Apex's options on torch's class. Those that only tell when to communicate change no result and are taken."""

    def __init__(
        self,
        module,
        message_size=10000000,
        delay_allreduce=False,
        shared_param=None,
        allreduce_trigger_params=None,
        retain_allreduce_buffers=False,
        allreduce_always_fp32=False,
        num_allreduce_streams=1,
        allreduce_communicators=None,
        gradient_average=True,
        gradient_predivide_factor=1.0,
        gradient_average_split_factor=None,
        prof=False,
    ):
        if shared_param is not None or gradient_average_split_factor is not None:
            raise ValueError("shared_param and gradient_average_split_factor are no longer options of Apex's class")
        for name, value in (
            ("retain_allreduce_buffers", retain_allreduce_buffers),
            ("allreduce_communicators", allreduce_communicators),
        ):
            if value:
                raise NotImplementedError(f"apex.parallel.DistributedDataParallel: {name} is not built; leave it out")
        # A parameter without a gradient in some backward is allowed where the reduction waits for all of them.
        super().__init__(module, bucket_cap_mb=max(1, message_size * 4 >> 20), find_unused_parameters=delay_allreduce)
        self._wide, self._average, self._divide = allreduce_always_fp32, gradient_average, gradient_predivide_factor
        if self._wide or not self._average or self._divide != 1.0:
            self.register_comm_hook(None, self._reduce)

    def _reduce(self, _, bucket):
        own = bucket.buffer()
        size = dist.get_world_size()
        grads = own.float() if self._wide else own
        grads = grads / self._divide
        future = dist.all_reduce(grads, async_op=True).get_future()

        def after(done):
            (summed,) = done.value()
            return own.copy_(summed * (self._divide / size if self._average else self._divide))

        return future.then(after)


class Reducer:
    """The mean over ranks of a module's gradients (or of tensors), when the script calls `reduce`."""

    def __init__(self, module_or_grads_list):
        self.module = module_or_grads_list if isinstance(module_or_grads_list, torch.nn.Module) else None
        self.grads = None if self.module is not None else list(module_or_grads_list)
        for parameter in self.module.parameters() if self.module is not None else ():
            dist.broadcast(parameter.detach(), 0)

    def reduce(self):
        grads = self.grads
        if grads is None:
            grads = [parameter.grad for parameter in self.module.parameters() if parameter.grad is not None]
        for grad in grads:
            dist.all_reduce(grad.div_(dist.get_world_size()))


def convert_syncbn_model(module, process_group=None, channel_last=False):
    if channel_last:
        raise NotImplementedError("apex.parallel.convert_syncbn_model: channel_last is not built; leave it False")
    return torch.nn.SyncBatchNorm.convert_sync_batchnorm(module, process_group)


def create_syncbn_process_group(group_size):
    """The group of `group_size` neighbouring ranks that this rank is in; None for all ranks."""
    world = dist.get_world_size()
    if group_size == 0 or group_size == world:
        return None
    if group_size < 0 or world % group_size:
        raise ValueError(f"create_syncbn_process_group: {world} ranks do not fall into groups of {group_size}")
    groups = [dist.new_group(list(range(first, first + group_size))) for first in range(0, world, group_size)]
    return groups[dist.get_rank() // group_size]
