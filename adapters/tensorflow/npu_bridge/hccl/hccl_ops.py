# SPDX-License-Identifier: Apache-2.0
"""Collectives in graphs. A process that trains alone gets back what it gave; of several each is refused until
TensorFlow's collectives are built, and so is what needs another process at all."""

from npu_device.distribute import hccl

WORLD = hccl.WORLD
REDUCTIONS = ("max", "min", "prod", "sum")


def _alone(what, fusion=0, fusions=(0, 1, 2), group=WORLD, reduction="sum"):
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it is one of {', '.join(REDUCTIONS)}")
    if fusion and reduction != "sum":
        raise ValueError(f"fusion is {fusion} and reduction {reduction!r}; only sums are sent together")
    hccl._check("sum", fusion, fusions, group)
    hccl._alone(what)


def _same_ranks(what, rank_size):
    if rank_size != 1:
        raise ValueError(f"{what}: rank_size is {rank_size!r}, and this process trains alone; give get_npu_rank_size()")


def _between(what):
    hccl._alone(what)
    raise NotImplementedError(f"hccl_ops.{what} is between two processes, and this one trains alone; leave it out")


def allreduce(tensor, reduction, fusion=1, fusion_id=-1, group=WORLD):
    """`tensor` of all processes, reduced."""
    _alone("allreduce", fusion if reduction == "sum" else 0, group=group, reduction=reduction)
    return tensor


def allgather(tensor, rank_size, group=WORLD, fusion=0, fusion_id=-1):
    """`tensor` of all processes, one after another along the first dimension."""
    _alone("allgather", fusion, group=group)
    _same_ranks("allgather", rank_size)
    return tensor


def broadcast(tensor_list, root_rank, fusion=2, fusion_id=0, group=WORLD):
    """A list with the tensors of `root_rank`."""
    _alone("broadcast", fusion, (0, 2), group)
    return list(tensor_list)


def reduce(tensor, reduction, root_rank, fusion=0, fusion_id=-1, group=WORLD):
    """`tensor` of all processes, reduced, at `root_rank`."""
    _alone("reduce", fusion, group=group, reduction=reduction)
    return tensor


def reduce_scatter(tensor, reduction, rank_size, group=WORLD, fusion=0, fusion_id=-1):
    """This process's part of `tensor` of all processes, reduced."""
    _alone("reduce_scatter", fusion, group=group, reduction=reduction)
    _same_ranks("reduce_scatter", rank_size)
    return tensor


def send(tensor, sr_tag, dest_rank, group=WORLD):
    """Sends `tensor` to another process."""
    _between("send")


def receive(shape, data_type, sr_tag, src_rank, group=WORLD):
    """A tensor that another process sends."""
    _between("receive")


def remote_read(tensorRemote, data_type):  # noqa: N803 (the vendor's names, here and below)
    """A tensor in the memory of another process."""
    _between("remote_read")


def remote_ref_read(tensorRemote, cache, offset):  # noqa: N803
    """A part of a tensor in the memory of another process."""
    _between("remote_ref_read")


def remote_write(tensorRemote, tensorLocal, data_type):  # noqa: N803
    """Writes into the memory of another process."""
    _between("remote_write")


def remote_scatter_write(tensorRemote, tensorLocal, offset):  # noqa: N803
    """Writes to several places in the memory of another process."""
    _between("remote_scatter_write")


def gather_all_to_all_v(
    addrinfo, addrinfo_count_per_rank, recv_counts, recv_displacements, dtype, addr_length, group=WORLD
):
    """Parts of tensors of all processes, by their addresses."""
    _between("gather_all_to_all_v")


def all_to_all_v(send_data, send_counts, send_displacements, recv_counts, recv_displacements, group=WORLD):
    """Parts of `send_data` to all processes, and theirs to this one."""
    _between("all_to_all_v")


def all_to_all_v_c(send_data, send_count_matrix, rank, fusion=0, fusion_id=-1, group=WORLD):
    """The same, by a matrix of counts."""
    _between("all_to_all_v_c")
