# SPDX-License-Identifier: Apache-2.0
"""Configurations and sessions for the NPU: what migrated scripts wrap around TensorFlow's own."""

import sys

import tensorflow as tf
from npu_device.session import config as session_config
from tensorflow.core.protobuf import rewriter_config_pb2

__all__ = ["close_session", "experimental_options", "init_resource", "npu_clear_session", "npu_config_proto",
           "npu_graph_options", "npu_optimizer_of", "npu_optimizer_options", "npu_run_config_init",
           "set_keras_session_npu_config", "shutdown_resource"]  # fmt: skip
_REWRITER = rewriter_config_pb2.RewriterConfig
# For tf.config.optimizer.set_experimental_options: TensorFlow's optimizers as the vendor's guide wants them.
experimental_options = {
    "disable_model_pruning": False,
    "function_optimization": True,
    "constant_folding": True,
    "shape_optimization": True,
    "arithmetic_optimization": True,
    "loop_optimization": True,
    "dependency_optimization": True,
    "layout_optimizer": True,
    "remapping": False,
}


def _given(value, kind):
    """`value`, a new one for None; TypeError for anything else."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no tf.compat.v1.{kind.DESCRIPTOR.name}")
    return value


def npu_optimizer_of(config):
    """NpuOptimizer's message in a ConfigProto, which it is added to where it is missing."""
    found = session_config.find(config)
    if found is None:
        found = config.graph_options.rewrite_options.custom_optimizers.add(name=session_config.OPTIMIZER)
    return found


def npu_optimizer_options(optimizer_options=None):
    """OptimizerOptions without XLA; those given are changed."""
    optimizer_options = _given(optimizer_options, tf.compat.v1.OptimizerOptions)
    optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.OFF
    return optimizer_options


def npu_graph_options(graph_options=None):
    """GraphOptions with NpuOptimizer, without what stands in its way; those given are changed."""
    graph_options = _given(graph_options, tf.compat.v1.GraphOptions)
    whole = tf.compat.v1.ConfigProto(graph_options=graph_options)
    npu_optimizer_of(whole)
    npu_optimizer_options(whole.graph_options.optimizer_options)
    whole.graph_options.rewrite_options.remapping = _REWRITER.OFF
    whole.graph_options.rewrite_options.memory_optimization = _REWRITER.NO_MEM_OPT
    graph_options.CopyFrom(whole.graph_options)
    return graph_options


def npu_config_proto(config_proto=None):
    """A ConfigProto for a session on the NPU; the one given is changed."""
    config_proto = _given(config_proto, tf.compat.v1.ConfigProto)
    npu_graph_options(config_proto.graph_options)
    config_proto.allow_soft_placement = True
    return config_proto


def npu_run_config_init(run_config=None):
    """A RunConfig whose sessions run on the NPU. The one given is not changed, but for the session_config that it
    has."""
    run_config = tf.compat.v1.estimator.RunConfig() if run_config is None else run_config
    if not isinstance(run_config, tf.estimator.RunConfig):
        raise TypeError(f"{run_config!r} is no tf.estimator.RunConfig")
    return run_config.replace(session_config=npu_config_proto(run_config.session_config))


def set_keras_session_npu_config(config=None):
    """Gives Keras a session on the NPU, and returns it: to tf.keras, and to tensorflow.python.keras where a script has
    imported that older copy."""
    session = tf.compat.v1.Session(config=npu_config_proto(config))
    tf.compat.v1.keras.backend.set_session(session)
    older = sys.modules.get("tensorflow.python.keras.backend")
    if older is not None:
        older.set_session(session)
    return session


def npu_clear_session(config=None):
    """Keras's clear_session, and a session on the NPU for what comes next."""
    tf.compat.v1.keras.backend.clear_session()
    set_keras_session_npu_config(config)


def init_resource(config=None):
    """Opens the device, with the options of the ConfigProto. Returns a session, and what shutdown_resource runs in it:
    of a graph of their own, so that the program's stays as it is."""
    config = npu_config_proto(config)
    session_config.apply(config)
    with tf.Graph().as_default() as graph:
        shutdown = tf.no_op(name="npu_shutdown")
    return tf.compat.v1.Session(graph=graph, config=config), shutdown


def shutdown_resource(sess, npu_shutdown):
    """Ends what init_resource began. The device stays usable until the process ends, which closes it."""
    sess.run(npu_shutdown)


def close_session(sess):
    """Closes a session."""
    sess.close()
