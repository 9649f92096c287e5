# SPDX-License-Identifier: Apache-2.0
"""Sessions that close while others begin: TensorFlow forgets kernels when no session is left, and no run may be under
way then, since it uses what TensorFlow frees."""

import threading
import time

import tensorflow as tf
from both import session, tf1
from npu_device.session import engine
from tensorflow.python.eager import context


def test_no_run_begins_while_tensorflow_forgets_kernels(monkeypatch):
    forget, began, seen = context.Context.clear_kernel_cache, threading.Event(), []

    def slow(self):
        began.set()
        until = time.monotonic() + 0.3  # what another thread begins meanwhile has to wait
        while time.monotonic() < until:
            seen.append(len(engine._running))
            time.sleep(0.0001)
        forget(self)

    monkeypatch.setattr(context.Context, "clear_kernel_cache", slow)
    with tf.Graph().as_default():
        queue = tf1.FIFOQueue(2, tf.float32, shapes=[[]])
        step, size = queue.enqueue(2.0), queue.size()
        first = session()
        first.run(step)
        closing = threading.Thread(target=first.close)
        closing.start()
        assert began.wait(60)
        with session() as second:
            second.run(step)
            assert second.run(size) == 1
        closing.join()
    assert seen and not any(seen)
