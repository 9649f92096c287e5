# SPDX-License-Identifier: Apache-2.0
"""The functions of npu.distribute (11.1.1.3 to 11.1.1.6 of the vendor's guide). In a process that trains alone each
gives back what it was given. In one of several all processes call them in the same order."""

import functools
import importlib

import tensorflow as tf
from tensorflow.python.framework import ops

from npu_device import gen_npu_ops
from npu_device.distribute import ranks
from npu_device.distribute.ranks import WORLD

REDUCTIONS = ("mean", "max", "min", "prod", "sum")


LARGEST_ID = 0x7FFFFFFF


def _check(reduction, fusion, fusions, group, fusion_id=-1):
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it is one of {', '.join(REDUCTIONS)}")
    if fusion not in fusions:
        raise ValueError(f"fusion is {fusion!r}; it is one of {', '.join(map(str, fusions))}")
    if fusion == 1 and fusion_id != -1:
        raise ValueError(f"fusion is 1 and fusion_id {fusion_id!r}; it is -1 there, give fusion=2 to choose by number")
    if fusion == 2 and not 0 <= fusion_id <= LARGEST_ID:
        raise ValueError(f"fusion is 2 and fusion_id {fusion_id!r}; it is a number from 0 to {LARGEST_ID}")
    if not isinstance(group, str) or len(group) > 127:
        raise ValueError(f"group is {group!r}; it is a name of at most 127 characters")


def with_shapes(results):
    """`results`, a collective's, with a note for the engine: collectives go together where it knows sizes before they
    run."""
    if not tf.executing_eagerly():
        shapes = [tf.TensorShape(one.shape).as_proto() for one in tf.nest.flatten(results)]
        attribute = tf.compat.v1.AttrValue(list=tf.compat.v1.AttrValue.ListValue(shape=shapes))
        tf.nest.flatten(results)[0].op._set_attr("_output_shapes", attribute)
    return results


def all_reduce(values, reduction="mean", fusion=1, fusion_id=-1, group=WORLD):
    """`values`, a tensor or a list of tensors, reduced over all workers: the same ones in a process that trains alone.
    tf.IndexedSlices become dense, None stays. The mean of integers is rounded down. `fusion` says which sums are sent
    together in functions and sessions: 0 each alone, 1 in the segments of hccl.split.api, 2 those of one
    `fusion_id`."""
    _check(reduction, fusion, (0, 1, 2), group, fusion_id)
    if ranks.alone("all reduce"):
        return values
    count, _ = ranks.place(group)
    settings = {"fusion": fusion if reduction in ("mean", "sum") else 0, "fusion_id": fusion_id, "group": group}
    return tf.nest.map_structure(lambda one: _reduced(one, reduction, count, settings), values)


def _reduced(value, reduction, count, settings):
    if value is None:  # the gradient of a variable that the loss does not need
        return None
    value = tf.convert_to_tensor(value)
    sent = "sum" if reduction == "mean" else reduction
    total = with_shapes(gen_npu_ops.hcom_all_reduce(value, reduction=sent, **settings))
    if reduction != "mean":
        return total
    return total * tf.cast(1 / count, total.dtype) if total.dtype.is_floating else total // count


def agreed(flag):
    """Whether a boolean is true on all workers: a step that overflowed on one of them is left out by all."""
    if ranks.alone("agreement on overflow"):
        return flag
    settings = {"fusion": 0, "fusion_id": -1, "group": WORLD}
    count, _ = ranks.place()
    return _reduced(tf.cast(flag, tf.int32), "min", count, settings) > 0


def broadcast(values, root_rank=0, fusion=2, fusion_id=0, group=WORLD):
    """Gives `values`, a variable or several, the values they have on `root_rank`. `fusion` is 2, and they go together,
    or 0."""
    _check("sum", fusion, (0, 2), group, fusion_id)
    if ranks.alone("broadcast"):
        return
    ranks.place(group)
    variables = tf.nest.flatten(values)
    for part in [variables] if fusion == 2 else [[one] for one in variables]:
        _send(part, root_rank, fusion=fusion, fusion_id=fusion_id, group=group)


def _send(variables, root_rank, fusion=2, fusion_id=0, group=WORLD):
    if not variables:
        return []
    read = [variable.read_value() for variable in variables]  # in graphs of sessions behind what the caller waits for
    values = gen_npu_ops.hcom_broadcast(read, root_rank=root_rank, fusion=fusion, fusion_id=fusion_id, group=group)
    return [variable.assign(value) for variable, value in zip(variables, with_shapes(values), strict=True)]


def npu_distributed_keras_optimizer_wrapper(
    optimizer, reduce_reduction="mean", fusion=1, fusion_id=-1, group=WORLD, reduction=None
):
    """The optimizer, by object or name, that reduces gradients over all workers before it applies them. The guide's
    table calls `reduce_reduction` `reduction`; either is taken."""
    reduction = reduction or reduce_reduction
    _check(reduction, fusion, (0, 1, 2), group, fusion_id)
    optimizer = tf.keras.optimizers.get(optimizer)
    if ranks.alone("all reduce of gradients") or hasattr(optimizer, "_npu_reduces"):
        return optimizer
    importlib.import_module("npu_device.distribute.keras_scaling").agree()
    importlib.import_module("npu_device.distribute.sharding").watch_fit()
    apply = optimizer.apply_gradients

    @functools.wraps(apply)
    def apply_gradients(grads_and_vars, *args, **kwargs):
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        reduced = all_reduce(
            [gradient for gradient, _ in pairs], reduction or reduce_reduction, fusion, fusion_id, group
        )
        return apply(list(zip(reduced, (variable for _, variable in pairs), strict=True)), *args, **kwargs)

    optimizer.apply_gradients = apply_gradients
    optimizer._npu_reduces = True
    return optimizer


def shard_and_rebatch_dataset(dataset, global_bs):
    """This worker's part of the data set, and its share of the batch size; a process that trains alone has
    all of both. ValueError for a batch that the workers cannot share evenly."""
    if ranks.alone("shard and rebatch"):
        return dataset, global_bs
    count, rank = ranks.place()
    if global_bs % count:
        raise ValueError(f"Batch size must be divisible by num npus: {global_bs} vs. {count}")
    return dataset.shard(count, rank), global_bs // count


def _owners(variables, count):
    """By variable: the rank that updates it. Each gets about as many numbers."""
    loads, owners = [0] * count, [0] * len(variables)
    for i in sorted(range(len(variables)), key=lambda i: -variables[i].shape.num_elements()):
        owners[i] = loads.index(min(loads))
        loads[owners[i]] += variables[i].shape.num_elements()
    return owners


def _counted(global_step=None, **_):
    """What is left to do for a worker that updates no variable."""
    return [] if global_step is None else [tf.compat.v1.assign_add(global_step, 1)]


def _in_order():
    """Whether what is called one after the other runs so: everywhere but in graphs of sessions."""
    return tf.executing_eagerly() or ops.executing_eagerly_outside_functions()


def grouping_gradients_apply(apply_func, grads_and_vars, *args, **kwargs):
    """Each worker updates a part of the variables and sends it to the others. Returns what `apply_func` returns; in the
    graph of a session, an operation that does all of it."""
    pairs = list(grads_and_vars)
    if ranks.alone("weight update grouping"):
        return apply_func(pairs, *args, **kwargs)
    count, rank = ranks.place()
    owners = _owners([variable for _, variable in pairs], count)
    own = [pair for pair, owner in zip(pairs, owners, strict=True) if owner == rank]
    result = apply_func(own, *args, **kwargs) if own else None
    variables = [variable for _, variable in pairs]
    if _in_order():
        grouping_broadcast(variables)
        return result
    with tf.control_dependencies([result] if own else _counted(*args, **kwargs)):
        sent = _send_all(variables, owners)
    return tf.group(*sent)


def grouping_broadcast(variables):
    """Sends each variable from the worker that updates it. Returns the variables."""
    if not ranks.alone("grouping broadcast"):
        _send_all(variables, _owners(variables, ranks.place()[0]))
    return variables


def _send_all(variables, owners):
    sent = []
    for root in sorted(set(owners)):
        sent += _send([variable for variable, owner in zip(variables, owners, strict=True) if owner == root], root)
    return sent


def npu_callbacks_append(callbacks_list=()):
    """A list with the callbacks given and the one that brings all workers to the same start."""
    from npu_device.distribute.npu_callbacks import NPUBroadcastGlobalVariablesCallback

    return [*callbacks_list, NPUBroadcastGlobalVariablesCallback(0)]
