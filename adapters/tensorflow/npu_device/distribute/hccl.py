# SPDX-License-Identifier: Apache-2.0
"""The functions of npu.distribute (11.1.1.3 to 11.1.1.6 of the vendor's guide), for a process that trains alone."""

import tensorflow as tf
from absl import logging

from npu_device.setting import cluster

WORLD = "hccl_world_group"
REDUCTIONS = ("mean", "max", "min", "prod", "sum")


def _alone(what):
    """Logs that `what` is skipped; NotImplementedError in one of several processes, which would train apart."""
    if cluster.size() > 1:
        raise NotImplementedError(
            f"npu.distribute between {cluster.size()} processes is not built yet: {what} cannot be done. Train in one "
            "process, without RANK_TABLE_FILE, RANK_SIZE and CM_WORKER_SIZE"
        )
    # Not logging.info, which gives the root logger a handler: TensorFlow's lines would then come twice.
    logging.get_absl_logger().info("Skip %s as current process is not npu cluster worker", what)


def _check(reduction, fusion, fusions, group):
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it is one of {', '.join(REDUCTIONS)}")
    if fusion not in fusions:
        raise ValueError(f"fusion is {fusion!r}; it is one of {', '.join(map(str, fusions))}")
    if not isinstance(group, str) or len(group) > 127:
        raise ValueError(f"group is {group!r}; it is a name of at most 127 characters")


def all_reduce(values, reduction="mean", fusion=1, fusion_id=-1, group=WORLD):
    """`values`, a tensor or a list of tensors, reduced over all workers: the same ones in a process that trains alone.
    `fusion` 0, 1 or 2 and `fusion_id` say which are sent together."""
    _check(reduction, fusion, (0, 1, 2), group)
    _alone("all reduce")
    return values


def broadcast(values, root_rank=0, fusion=2, fusion_id=0, group=WORLD):
    """Gives `values`, a variable or several, the values they have on `root_rank`. `fusion` is 0 or 2."""
    _check("sum", fusion, (0, 2), group)
    _alone("broadcast")


def npu_distributed_keras_optimizer_wrapper(
    optimizer, reduce_reduction="mean", fusion=1, fusion_id=-1, group=WORLD, reduction=None
):
    """The optimizer, by object or name, that reduces gradients over all workers before it applies them. The guide's
    table calls `reduce_reduction` `reduction`; either is taken."""
    _check(reduction or reduce_reduction, fusion, (0, 1, 2), group)
    _alone("all reduce of gradients")
    return tf.keras.optimizers.get(optimizer)


def shard_and_rebatch_dataset(dataset, global_bs):
    """This worker's part of the data set, and its share of the batch size; a process that trains alone has
    all of both."""
    _alone("shard and rebatch")
    return dataset, global_bs


def grouping_gradients_apply(apply_func, grads_and_vars, *args, **kwargs):
    """Each worker updates a part of the variables and sends it to the others. Returns what `apply_func` returns."""
    _alone("weight update grouping")
    return apply_func(grads_and_vars, *args, **kwargs)


def grouping_broadcast(variables):
    """Sends each variable from the worker that updates it. Returns the variables."""
    _alone("grouping broadcast")
    return variables


def npu_callbacks_append(callbacks_list=()):
    """A list with the callbacks given and the one that brings all workers to the same start."""
    from npu_device.distribute.npu_callbacks import NPUBroadcastGlobalVariablesCallback

    return [*callbacks_list, NPUBroadcastGlobalVariablesCallback(0)]
