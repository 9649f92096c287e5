# SPDX-License-Identifier: Apache-2.0
"""Estimators on the NPU: TensorFlow's, with the options of an NPURunConfig in their sessions."""

import json
import warnings

import tensorflow as tf
from npu_device.session import iterations
from tensorflow.python.ops import summary_ops_v2

from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_hook import NPUCheckpointSaverHook, SetIterationsVarHook
from npu_bridge.estimator.npu.npu_session import npu_optimizer_of, npu_run_config_init

__all__ = ["NPUEstimator", "NPUEstimatorSpec"]
TRAIN = tf.estimator.ModeKeys.TRAIN


class NPUEstimatorSpec(tf.estimator.EstimatorSpec):
    """An EstimatorSpec with `host_call`: a function and its tensors, a list or {argument: tensor}. The function is
    called while the graph is built, and the operations it returns, such as summaries, run with each training step."""

    def __new__(
        cls,
        mode,
        predictions=None,
        loss=None,
        train_op=None,
        eval_metric_ops=None,
        export_outputs=None,
        training_chief_hooks=None,
        training_hooks=None,
        scaffold=None,
        evaluation_hooks=None,
        prediction_hooks=None,
        host_call=None,
    ):
        spec = super().__new__(cls, mode, predictions, loss, train_op, eval_metric_ops, export_outputs,
                               training_chief_hooks, training_hooks, scaffold, evaluation_hooks,
                               prediction_hooks)  # fmt: skip
        spec.host_call = _verified(host_call)
        return spec


def _verified(host_call):
    if host_call is None:
        return None
    if not isinstance(host_call, list | tuple) or len(host_call) != 2 or not callable(host_call[0]):
        raise ValueError(f"host_call is {host_call!r}; it is a function and its tensors, (function, [tensor, …])")
    if not isinstance(host_call[1], list | tuple | dict):
        raise ValueError(f"the tensors of host_call are {host_call[1]!r}; give them in a list or by name")
    return tuple(host_call)


class _WriterHook(tf.compat.v1.train.SessionRunHook):
    """Opens the writers of summaries that a host_call made, and writes out what they hold at the end."""

    def __init__(self, made):
        super().__init__()
        self._made = made

    def begin(self):
        # A writer's resource is an input of the operation that opens it.
        self._written = [tf.raw_ops.FlushSummaryWriter(writer=op.inputs[0]) for op in self._made]

    def after_create_session(self, session, coord):
        session.run(self._made)

    def end(self, session):
        session.run(self._written)


def _with_host_call(spec):
    """The spec whose training operation runs what host_call returns as well."""
    function, tensors = spec.host_call
    before = list(summary_ops_v2.summary_writer_initializer_op())
    made = function(**tensors) if isinstance(tensors, dict) else function(*tensors)
    train_op = tf.group(spec.train_op, *[one for one in tf.nest.flatten(made) if one is not None])
    opened = [op for op in summary_ops_v2.summary_writer_initializer_op() if op not in before]
    hooks = (_WriterHook(opened), *spec.training_hooks) if opened else spec.training_hooks
    return spec._replace(train_op=train_op, training_hooks=hooks)


def _put(message, key, value):
    """An entry of a parameter_map."""
    kinds = {bool: "b", int: "i", float: "f"}
    if type(value) in kinds:
        setattr(message.parameter_map[key], kinds[type(value)], value)
    else:
        text = value if isinstance(value, str) else json.dumps(value)
        message.parameter_map[key].s = text.encode()


class NPUEstimator(tf.compat.v1.estimator.Estimator):
    """tf.estimator.Estimator, whose sessions run on the NPU. `config` is an NPURunConfig, whose options go to them, or
    a RunConfig; with iterations_per_loop each run of the training operation is so many steps."""

    def __init__(
        self, model_fn=None, model_dir=None, config=None, params=None, job_start_file="", warm_start_from=None
    ):
        if job_start_file:
            warnings.warn("job_start_file has no effect: an estimator starts no other process", stacklevel=2)
        config = npu_run_config_init(config)
        parameters = config.session_parameters if isinstance(config, NPURunConfig) else {}
        for key, value in parameters.items():
            _put(npu_optimizer_of(config.session_config), key, value)
        super().__init__(model_fn, model_dir, config, params, warm_start_from)
        self._loop = getattr(config, "iterations_per_loop", 1)
        # TensorFlow refuses subclasses with methods of these names, which are where a step of training is made.
        self._call_model_fn = self._npu_call_model_fn
        self._convert_train_steps_to_hooks = self._npu_hooks_of_steps

    def _npu_call_model_fn(self, features, labels, mode, config):
        spec = super()._call_model_fn(features, labels, mode, config)
        iterations.single(tf.compat.v1.get_default_graph())  # until the operation that trains is marked
        if mode != TRAIN:
            return spec
        if getattr(spec, "host_call", None) is not None:
            spec = _with_host_call(spec)
        if self._loop > 1:
            train_op = tf.group(spec.train_op, name="npu_iterations")  # nobody else fetches what is marked
            iterations.mark(train_op, self._loop)
            spec = spec._replace(train_op=train_op)
        return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, *self._saver_hooks(spec)))

    def _saver_hooks(self, spec):
        """The hook that saves in place of TensorFlow's, unless the model brings one."""
        every = {"save_secs": self.config.save_checkpoints_secs, "save_steps": self.config.save_checkpoints_steps}
        brought = (*spec.training_hooks, *spec.training_chief_hooks)
        if not any(every.values()) or any(isinstance(h, tf.compat.v1.train.CheckpointSaverHook) for h in brought):
            return
        hook = NPUCheckpointSaverHook(self.model_dir, scaffold=spec.scaffold, **every)
        hook._set_steps_per_run(self._loop)
        yield hook

    def _npu_hooks_of_steps(self, steps, max_steps):
        hooks = super()._convert_train_steps_to_hooks(steps, max_steps)
        return [*hooks, SetIterationsVarHook(self._loop, steps, max_steps)] if self._loop > 1 else hooks
