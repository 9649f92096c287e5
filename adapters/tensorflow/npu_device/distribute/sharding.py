# SPDX-License-Identifier: Apache-2.0
"""A warning where each of several processes trains on all of the data."""

import tensorflow as tf

from npu_device.distribute import ranks
from npu_device.patch import once
from npu_device.setting import telling


def is_sharded(dataset):
    """Whether a data set, or one that it is made of, is one process's part: by tf.data.Dataset.shard."""
    waiting = [dataset]
    while waiting:
        one = waiting.pop()
        if "Shard" in type(one).__name__:
            return True
        waiting += one._inputs()
    return False


def watch_fit():
    """From now on fit of a Keras model warns once of a data set that nobody shards."""
    once.replace(tf.keras.Model, "fit", _watched, mark="_npu_device_sharding")


def _watched(fit):
    def watched(self, x=None, *arguments, **named):
        if isinstance(x, tf.data.Dataset) and not ranks.alone("look at the data of fit") and not is_sharded(x):
            telling.once(
                "unsharded data",
                "every process trains on all of this data set, for nothing shards it: "
                "npu.distribute.shard_and_rebatch_dataset(dataset, batch_size), or dataset.shard(size, rank), gives "
                "each its part. Where its elements differ from process to process already, nothing has to be done",
            )
        return fit(self, x, *arguments, **named)

    return watched
