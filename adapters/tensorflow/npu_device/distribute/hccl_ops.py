# SPDX-License-Identifier: Apache-2.0
"""Collectives as nodes of graphs, with gradients. All processes of a group run them in the same order. A process that
trains alone gets back what it gave; there what needs another process at all is refused."""

import tensorflow as tf

from npu_device import gen_npu_ops
from npu_device.distribute import hccl, ranks
from npu_device.distribute.ranks import WORLD

REDUCTIONS = ("max", "min", "prod", "sum")


def _count(what, fusion=0, fusions=(0, 1, 2), group=WORLD, reduction="sum"):
    """How many ranks meet: 1 in a process that trains alone."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it is one of {', '.join(REDUCTIONS)}")
    if fusion and reduction != "sum":
        raise ValueError(f"fusion is {fusion} and reduction {reduction!r}; only sums are sent together")
    hccl._check("sum", fusion, fusions, group)
    return 1 if ranks.alone(what) else ranks.place(group)[0]


def _same_ranks(what, rank_size, count):
    if rank_size != count:
        told = "this process trains alone" if count == 1 else f"the group has {count} ranks"
        raise ValueError(f"{what}: rank_size is {rank_size!r}, and {told}; give get_npu_rank_size()")


def _between(what):
    if not ranks.alone(what):
        raise NotImplementedError(f"hccl_ops.{what} is not built yet; use allreduce, allgather or broadcast")
    raise NotImplementedError(f"hccl_ops.{what} is between two processes, and this one trains alone; leave it out")


def _with_first_axis(out, tensor, times=1, parts=1):
    shape = tf.TensorShape(tensor.shape).as_list() if tensor.shape.rank else None
    if shape is not None:
        out.set_shape([shape[0] and shape[0] * times // parts, *shape[1:]])
    return out


def allreduce(tensor, reduction, fusion=1, fusion_id=-1, group=WORLD):
    """`tensor` of all processes, reduced."""
    if _count("allreduce", fusion if reduction == "sum" else 0, group=group, reduction=reduction) == 1:
        return tensor
    return gen_npu_ops.hcom_all_reduce(tensor, reduction=reduction, group=group, fusion=fusion, fusion_id=fusion_id)


def allgather(tensor, rank_size, group=WORLD, fusion=0, fusion_id=-1):
    """`tensor` of all processes, one after another along the first dimension."""
    count = _count("allgather", fusion, group=group)
    _same_ranks("allgather", rank_size, count)
    if count == 1:
        return tensor
    tensor = tf.convert_to_tensor(tensor)
    out = gen_npu_ops.hcom_all_gather(tensor, rank_size=rank_size, group=group, fusion=fusion, fusion_id=fusion_id)
    return _with_first_axis(out, tensor, times=rank_size)


def broadcast(tensor_list, root_rank, fusion=2, fusion_id=0, group=WORLD):
    """A list with the tensors of `root_rank`."""
    if _count("broadcast", fusion, (0, 2), group) == 1:
        return list(tensor_list)
    return gen_npu_ops.hcom_broadcast(
        list(tensor_list), root_rank=root_rank, group=group, fusion=fusion, fusion_id=fusion_id
    )


def reduce(tensor, reduction, root_rank, fusion=0, fusion_id=-1, group=WORLD):
    """`tensor` of all processes, reduced, at `root_rank`; others get back what they gave."""
    if _count("reduce", fusion, group=group, reduction=reduction) == 1:
        return tensor
    return gen_npu_ops.hcom_reduce(
        tensor, reduction=reduction, root_rank=root_rank, group=group, fusion=fusion, fusion_id=fusion_id
    )


def reduce_scatter(tensor, reduction, rank_size, group=WORLD, fusion=0, fusion_id=-1):
    """This process's part of `tensor` of all processes, reduced; parts are cut along the first dimension."""
    count = _count("reduce_scatter", fusion, group=group, reduction=reduction)
    _same_ranks("reduce_scatter", rank_size, count)
    if count == 1:
        return tensor
    tensor = tf.convert_to_tensor(tensor)
    out = gen_npu_ops.hcom_reduce_scatter(
        tensor, reduction=reduction, rank_size=rank_size, group=group, fusion=fusion, fusion_id=fusion_id
    )
    return _with_first_axis(out, tensor, parts=rank_size)


@tf.RegisterGradient("HcomAllReduce")
def _gradient_of_all_reduce(op, gradient):
    if op.get_attr("reduction") != b"sum":
        raise LookupError(f"an allreduce by {op.get_attr('reduction').decode()} has no gradient; sums have")
    return allreduce(gradient, "sum", fusion=0, group=op.get_attr("group").decode())


@tf.RegisterGradient("HcomAllGather")
def _gradient_of_all_gather(op, gradient):
    return reduce_scatter(gradient, "sum", op.get_attr("rank_size"), op.get_attr("group").decode())


@tf.RegisterGradient("HcomReduceScatter")
def _gradient_of_reduce_scatter(op, gradient):
    if op.get_attr("reduction") != b"sum":
        raise LookupError(f"a reduce_scatter by {op.get_attr('reduction').decode()} has no gradient; sums have")
    return allgather(gradient, op.get_attr("rank_size"), op.get_attr("group").decode())


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
