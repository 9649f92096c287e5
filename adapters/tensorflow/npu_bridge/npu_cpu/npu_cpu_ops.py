# SPDX-License-Identifier: Apache-2.0
"""Operators that run on the CPU of the card."""

import tensorflow.compat.v1 as tf

from npu_bridge.helper import helper

__all__ = ["RandomChoiceWithMask", "dense_image_warp", "embeddingrankid", "gen_npu_cpu_ops"]
gen_npu_cpu_ops = helper.get_gen_ops()


def embeddingrankid(addr_tensor, index, row_memory=320, mode="mod"):
    """Refused: the address of each row of a table that is stored in the memory of several hosts."""
    raise NotImplementedError(
        "embeddingrankid is not built: it gives addresses for hccl_ops.remote_read, and no process reads the memory of "
        "another here. Keep the table in a tf.Variable of each process, and use tf.nn.embedding_lookup and "
        "hccl_ops.allreduce"
    )


def RandomChoiceWithMask(x, count, seed=0, seed2=0):  # noqa: N802 - the vendor's name
    """`count` of the places where `x`, a tensor of bool, is true, in random order: (y, mask). `y` is int32 of
    [count, rank of x], 0 where there are no more; `mask`, bool of [count], marks the rows that are places. All of them
    with a count of 0. Equal seeds give equal choices, as tf.random.shuffle's do."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"count is {count!r}; it is a whole number, 0 or more")
    with tf.name_scope("RandomChoiceWithMask"):
        x = tf.convert_to_tensor(x)
        if x.dtype != tf.bool:
            raise TypeError(f"x is of {x.dtype.name}; it must be of bool")
        places = tf.random.shuffle(tf.cast(tf.where_v2(x), tf.int32), seed=(seed, seed2)[seed == 0] or None)
        found = tf.shape(places)[0]
        if count == 0:
            return places, tf.fill([found], True)
        taken = places[:count]
        padded = tf.pad(taken, [[0, count - tf.shape(taken)[0]], [0, 0]])
        padded.set_shape([count, x.shape.rank])
        return padded, tf.range(count) < found


def dense_image_warp(image, flow, name=None):
    """`image` of [batch, height, width, channels] read at (row - flow[..., 0], column - flow[..., 1]), with bilinear
    interpolation; places outside of it are those of its edge. `flow` is [batch, height, width, 2]. ValueError for an
    image of less than two rows or columns."""
    with tf.name_scope(name, "DenseImageWarp", [image, flow]):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        if image.shape.rank != 4 or flow.shape.rank != 4:
            raise ValueError(f"image and flow have the shapes {image.shape} and {flow.shape}; both have four sizes")
        if any(size is not None and size < 2 for size in image.shape.as_list()[1:3]):
            raise ValueError(f"image is {image.shape}; it needs at least two rows and two columns")
        _, height, width, _ = tf.unstack(tf.shape(image))
        rows = tf.cast(tf.range(height), flow.dtype)[None, :, None] - flow[..., 0]
        columns = tf.cast(tf.range(width), flow.dtype)[None, None, :] - flow[..., 1]
        (top, down), (left, right) = _between(rows, height), _between(columns, width)

        def at(row, column):
            return tf.gather_nd(image, tf.stack([row, column], -1), batch_dims=1)

        def mixed(first, second, share):
            return first + tf.cast(share, first.dtype)[..., None] * (second - first)

        above = mixed(at(top, left), at(top, left + 1), right)
        below = mixed(at(top + 1, left), at(top + 1, left + 1), right)
        return mixed(above, below, down)


def _between(places, size):
    """The whole place before each, of which there is a next one, and the share of that next one."""
    last = tf.cast(size - 2, places.dtype)
    before = tf.stop_gradient(tf.clip_by_value(tf.floor(places), 0, last))
    return tf.cast(before, tf.int32), tf.clip_by_value(places - before, 0, 1)
