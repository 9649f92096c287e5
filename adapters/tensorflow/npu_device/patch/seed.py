# SPDX-License-Identifier: Apache-2.0
"""tf.random.set_seed drops TensorFlow's kernels, so that random operators begin anew; the device's do so too."""

import functools

from tensorflow.python.eager import context

from npu_device.adapter import library


def follow(info):
    """From now on the random generators of the device begin anew whenever TensorFlow's do."""
    for name in ("_set_global_seed", "clear_kernel_cache"):
        theirs = getattr(context.Context, name)

        def both(self, *arguments, _theirs=theirs):
            _theirs(self, *arguments)
            library.load().anynpu_tensorflow_restart_random(info)

        setattr(context.Context, name, functools.wraps(theirs)(both))
