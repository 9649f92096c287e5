# SPDX-License-Identifier: Apache-2.0
"""A cache of rows of a table on the host."""

import tensorflow.compat.v1 as tf

__all__ = ["LruCache"]


class LruCache:
    """Refused: which rows of a table are on the card."""

    def __init__(self, cache_size=100000, load_factor=1, dtype=tf.uint32):
        raise NotImplementedError(
            "LruCache is not built: host and NPU share one memory here, so no row of a table is swapped in. Keep the "
            "whole table in a tf.Variable and use tf.nn.embedding_lookup"
        )
