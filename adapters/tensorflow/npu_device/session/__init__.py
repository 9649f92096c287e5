# SPDX-License-Identifier: Apache-2.0
"""Sessions of TensorFlow 1 (tf.compat.v1.Session, and all that uses them) on the NPU.

A run of a session names feeds, fetches and targets; the part of the graph between them becomes one function of the
engine, compiled at its first run. What the session keeps (variables, iterators, tables, queues) is its own.
"""

from npu_device.session.session import compile, enable

__all__ = ["compile", "enable"]
