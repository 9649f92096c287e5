# SPDX-License-Identifier: Apache-2.0
"""Scopes that mark the nodes built inside them, for the engine."""

import contextlib
import types

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import ops

from npu_device.setting import telling


def _tell_of_recomputation():
    telling.once(
        "npu_recompute_scope",
        "nothing is computed again: results of the forward pass are kept, with or without a scope or option of "
        "recomputation; results are the same, and smaller batches take less memory",
    )


@contextlib.contextmanager
def _marked(name):
    with ops.get_default_graph()._attr_scope({name: attr_value_pb2.AttrValue(b=True)}):
        yield


def keep_dtype_scope():
    """Nodes built in a `with` block of this keep their type, whatever the precision mode."""
    return _marked("_keep_dtype")


def npu_recompute_scope():
    """Accepted: on a card, what nodes of such a block give is computed again in the backward pass, to save memory. Here
    results are kept; they are the same either way."""
    _tell_of_recomputation()
    return _marked("_recompute")


def run_options():
    """A tree of options for npu_run_context, as the vendor's: experimental.graph_memory_optimize_config.recompute."""
    memory = types.SimpleNamespace(recompute=None)
    return types.SimpleNamespace(experimental=types.SimpleNamespace(graph_memory_optimize_config=memory))


@contextlib.contextmanager
def npu_run_context(options=None):
    """Functions built in a `with` block of this are compiled with `options`: run_options(), or None. The only one that
    there is asks for recomputation, which is accepted and changes no result (see npu_recompute_scope). ValueError for
    another value than None, "auto" or "manual"."""
    memory = getattr(getattr(options, "experimental", None), "graph_memory_optimize_config", None)
    recompute = getattr(memory, "recompute", None)
    if recompute not in (None, "auto", "manual"):
        raise ValueError(f"experimental.graph_memory_optimize_config.recompute is {recompute!r}; allowed are None, "
                         "'auto' and 'manual'")  # fmt: skip
    if recompute is not None:
        _tell_of_recomputation()
    yield
