# SPDX-License-Identifier: Apache-2.0
"""Collectives as nodes of graphs, with gradients. All processes of a group run them in the same order. A process that
trains alone gets back what it gave; there what needs another process at all is refused."""

import tensorflow as tf

from npu_device import gen_npu_ops
from npu_device.distribute import hccl, ranks
from npu_device.distribute.ranks import WORLD

REDUCTIONS = ("max", "min", "prod", "sum")


def _count(what, fusion=0, fusions=(0, 1, 2), group=WORLD, reduction="sum", fusion_id=-1):
    """How many ranks meet: 1 in a process that trains alone."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it is one of {', '.join(REDUCTIONS)}")
    if fusion and reduction != "sum":
        raise ValueError(f"fusion is {fusion} and reduction {reduction!r}; only sums are sent together")
    hccl._check("sum", fusion, fusions, group, fusion_id)
    return 1 if ranks.alone(what) else ranks.place(group)[0]


def _same_ranks(what, rank_size, count):
    if rank_size != count:
        told = "this process trains alone" if count == 1 else f"the group has {count} ranks"
        raise ValueError(f"{what}: rank_size is {rank_size!r}, and {told}; give get_npu_rank_size()")


def _needs_others(what, group=WORLD):
    """The ranks of the group. NotImplementedError in a process that trains alone."""
    if ranks.alone(what):
        raise NotImplementedError(f"hccl_ops.{what} is between two processes, and this one trains alone; leave it out")
    return ranks.place(group)[0]


def _reaches_others(what):
    _needs_others(what)
    raise NotImplementedError(
        f"hccl_ops.{what} is not built: it reaches into the memory of another process. Use send and receive, allgather "
        "or all_to_all_v, which both sides call"
    )


def _with_first_axis(out, tensor, times=1, parts=1):
    shape = tf.TensorShape(tensor.shape).as_list() if tensor.shape.rank else None
    if shape is not None:
        out.set_shape([shape[0] and shape[0] * times // parts, *shape[1:]])
    return out


def allreduce(tensor, reduction, fusion=1, fusion_id=-1, group=WORLD):
    """`tensor` of all processes, reduced. `fusion` says which sums go together, as npu.distribute's."""
    fusion = fusion if reduction == "sum" else 0
    if _count("allreduce", fusion, group=group, reduction=reduction, fusion_id=fusion_id) == 1:
        return tensor
    settings = {"reduction": reduction, "group": group, "fusion": fusion, "fusion_id": fusion_id}
    return hccl.with_shapes(gen_npu_ops.hcom_all_reduce(tensor, **settings))


def allgather(tensor, rank_size, group=WORLD, fusion=0, fusion_id=-1):
    """`tensor` of all processes, one after another along the first dimension."""
    count = _count("allgather", fusion, group=group, fusion_id=fusion_id)
    _same_ranks("allgather", rank_size, count)
    if count == 1:
        return tensor
    tensor = tf.convert_to_tensor(tensor)
    out = gen_npu_ops.hcom_all_gather(tensor, rank_size=rank_size, group=group, fusion=fusion, fusion_id=fusion_id)
    return _with_first_axis(out, tensor, times=rank_size)


def broadcast(tensor_list, root_rank, fusion=2, fusion_id=0, group=WORLD):
    """A list with the tensors of `root_rank`."""
    if _count("broadcast", fusion, (0, 2), group, fusion_id=fusion_id) == 1:
        return list(tensor_list)
    settings = {"root_rank": root_rank, "group": group, "fusion": fusion, "fusion_id": fusion_id}
    return hccl.with_shapes(gen_npu_ops.hcom_broadcast(list(tensor_list), **settings))


def reduce(tensor, reduction, root_rank, fusion=0, fusion_id=-1, group=WORLD):
    """`tensor` of all processes, reduced, at `root_rank`; others get back what they gave."""
    if _count("reduce", fusion, (0, 2), group, reduction, fusion_id) == 1:
        return tensor
    settings = {"root_rank": root_rank, "group": group, "fusion": fusion, "fusion_id": fusion_id}
    return hccl.with_shapes(gen_npu_ops.hcom_reduce(tensor, reduction=reduction, **settings))


def reduce_scatter(tensor, reduction, rank_size, group=WORLD, fusion=0, fusion_id=-1):
    """This process's part of `tensor` of all processes, reduced; parts are cut along the first dimension."""
    count = _count("reduce_scatter", fusion, group=group, reduction=reduction, fusion_id=fusion_id)
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
    """Sends `tensor` to another process, which receives it with the same `sr_tag`. Messages of two processes go in the
    order of their calls; a large one waits for the other side. Returns an operation."""
    count = _needs_others("send", group)
    _check_rank("dest_rank", dest_rank, count)
    return gen_npu_ops.hcom_send(tensor, sr_tag=sr_tag, dest_rank=dest_rank, group=group)


def receive(shape, data_type, sr_tag, src_rank, group=WORLD):
    """A tensor of this shape and type that another process sends."""
    count = _needs_others("receive", group)
    _check_rank("src_rank", src_rank, count)
    out = gen_npu_ops.hcom_receive(shape=shape, T=data_type, sr_tag=sr_tag, src_rank=src_rank, group=group)
    out.set_shape(shape)
    return out


def _check_rank(name, rank, count):
    if not 0 <= rank < count:
        raise ValueError(f"{name} is {rank!r}; the group has the ranks 0 to {count - 1}")


def remote_read(tensorRemote, data_type):  # noqa: N803 (the vendor's names, here and below)
    """A tensor in the memory of another process."""
    _reaches_others("remote_read")


def remote_ref_read(tensorRemote, cache, offset):  # noqa: N803
    """A part of a tensor in the memory of another process."""
    _reaches_others("remote_ref_read")


def remote_write(tensorRemote, tensorLocal, data_type):  # noqa: N803
    """Writes into the memory of another process."""
    _reaches_others("remote_write")


def remote_scatter_write(tensorRemote, tensorLocal, offset):  # noqa: N803
    """Writes to several places in the memory of another process."""
    _reaches_others("remote_scatter_write")


def gather_all_to_all_v(
    addrinfo, addrinfo_count_per_rank, recv_counts, recv_displacements, dtype, addr_length, group=WORLD
):
    """Pieces of this process's device memory to all processes, and theirs to this one: (what is received, what was
    gathered to be sent). `addrinfo` has an address and a number of bytes for each piece; `addr_length`, which tells
    whether those numbers are equal, changes nothing."""
    _needs_others("gather_all_to_all_v", group)
    return tuple(
        gen_npu_ops.hcom_gather_all_to_all_v(
            addrinfo,
            addrinfo_count_per_rank,
            recv_counts,
            recv_displacements,
            dtype=dtype,
            addr_length=addr_length,
            group=group,
        )
    )


def all_to_all_v(send_data, send_counts, send_displacements, recv_counts, recv_displacements, group=WORLD):
    """Parts of `send_data` to all processes, and theirs to this one, as a vector. Counts and displacements are those of
    elements, by rank; what lies between the parts received is 0."""
    _needs_others("all_to_all_v", group)
    return gen_npu_ops.hcom_all_to_all_v(
        send_data, send_counts, send_displacements, recv_counts, recv_displacements, group=group
    )


def all_to_all_v_c(send_data, send_count_matrix, rank, fusion=0, fusion_id=-1, group=WORLD):
    """The same by a matrix, equal on all processes, that tells how many elements rank i sends to rank j. Parts lie one
    after the other."""
    hccl._check("sum", fusion, (0, 2), group, fusion_id)
    rank = int(tf.get_static_value(rank) if tf.is_tensor(rank) else rank)
    _check_rank("rank", rank, _needs_others("all_to_all_v_c", group))
    return gen_npu_ops.hcom_all_to_all_vc(
        send_data, send_count_matrix, rank=rank, group=group, fusion=fusion, fusion_id=fusion_id
    )


def _one_after_another(counts):
    return tf.cumsum(counts, exclusive=True)


@tf.RegisterGradient("HcomAllToAllV")
def _gradient_of_all_to_all_v(op, gradient):
    """What came goes back; a number that went to several ranks gets the sum."""
    data, send_counts, send_displacements, recv_counts, recv_displacements = op.inputs
    back = all_to_all_v(
        tf.reshape(gradient, [-1]),
        recv_counts,
        recv_displacements,
        send_counts,
        _one_after_another(send_counts),
        op.get_attr("group").decode(),
    )
    places = tf.ragged.range(send_displacements, send_displacements + send_counts).values
    summed = tf.math.unsorted_segment_sum(back, places, tf.size(data))
    return [tf.reshape(summed, tf.shape(data)), None, None, None, None]


@tf.RegisterGradient("HcomAllToAllVC")
def _gradient_of_all_to_all_v_c(op, gradient):
    data, matrix = op.inputs
    back = all_to_all_v_c(
        tf.reshape(gradient, [-1]), tf.transpose(matrix), op.get_attr("rank"), group=op.get_attr("group").decode()
    )
    rest = tf.zeros([tf.size(data) - tf.size(back)], back.dtype)  # what nobody was sent
    return [tf.reshape(tf.concat([back, rest], 0), tf.shape(data)), None]
