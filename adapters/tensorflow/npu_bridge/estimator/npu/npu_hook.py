# SPDX-License-Identifier: Apache-2.0
"""Hooks of monitored sessions on the NPU."""

import numbers

import tensorflow as tf
from npu_device.distribute import hccl_ops, ranks
from npu_device.session import iterations
from npu_device.setting import telling

__all__ = ["NPUBroadcastGlobalVariablesHook", "NPUCheckpointSaverHook", "NPUOutputTensorHook", "NpuEmptyHook",
           "SetIterationsVarHook", "TellMeStepOrLossHook", "npu_hooks_append"]  # fmt: skip
logging = tf.compat.v1.logging


class NpuEmptyHook(tf.compat.v1.train.SessionRunHook):
    """Does nothing: it stands where a script wants a hook."""


class NPUBroadcastGlobalVariablesHook(tf.compat.v1.train.SessionRunHook):
    """Gives all processes the variables of `root_rank` when the session is there; `index` is the rank of this one. A
    process that trains alone keeps its own."""

    def __init__(self, root_rank=None, index=None):
        super().__init__()
        self._root_rank, self._index = root_rank or 0, index
        self._broadcast = None

    def begin(self):
        if ranks.alone("broadcast"):
            return
        variables = tf.compat.v1.global_variables()
        sent = hccl_ops.broadcast(variables, self._root_rank) if variables else []
        self._broadcast = tf.group(
            *(tf.compat.v1.assign(variable, value) for variable, value in zip(variables, sent, strict=True))
        )

    def after_create_session(self, session, coord):
        logging.info("NPUBroadcastGlobalVariablesHook run...")
        if self._broadcast is not None:
            session.run(self._broadcast)


def npu_hooks_append(hooks_list=()):
    """A list with the hooks given and the one that brings all processes to the same start."""
    return [*(hooks_list or ()), NPUBroadcastGlobalVariablesHook(0)]


class NPUCheckpointSaverHook(tf.compat.v1.train.CheckpointSaverHook):
    """CheckpointSaverHook, which logs each step."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
    ):
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners)

    def after_run(self, run_context, run_values):
        super().after_run(run_context, run_values)
        logging.info("global_step...%d", run_context.session.run(self._global_step_tensor))

    def end(self, session):
        super().end(session)
        logging.info("NPUCheckpointSaverHook end...")


class NPUOutputTensorHook(tf.compat.v1.train.SessionRunHook):
    """Collects tensors of each run, and gives output_fn a list of {name: value} every `output_every_n_steps` runs, with
    0 all of them at the end. Without output_fn they are logged. `tensors`: names or tensors, as a list or by name;
    `dependencies`: operations that run along."""

    def __init__(self, tensors, dependencies=None, output_fn=None, output_every_n_steps=0):
        super().__init__()
        if not isinstance(output_every_n_steps, numbers.Integral) or output_every_n_steps < 0:
            raise ValueError(f"output_every_n_steps is {output_every_n_steps!r}; it is 0 or a number of runs")
        self._tensors = tensors if isinstance(tensors, dict) else {getattr(t, "name", t): t for t in tensors}
        one = dependencies is not None and not isinstance(dependencies, list | tuple)
        self._dependencies = [dependencies] if one else list(dependencies or ())
        self._output, self._every, self._seen = output_fn, output_every_n_steps, []

    def before_run(self, run_context):
        element = run_context.session.graph.as_graph_element
        tensors = {name: element(tensor) for name, tensor in self._tensors.items()}
        return tf.compat.v1.train.SessionRunArgs([tensors, [element(op) for op in self._dependencies]])

    def after_run(self, run_context, run_values):
        self._seen.append(run_values.results[0])
        if len(self._seen) == self._every:
            self._give()

    def end(self, session):
        if self._seen:
            self._give()

    def _give(self):
        seen, self._seen = self._seen, []
        if self._output is not None:
            return self._output(seen)
        for values in seen:
            logging.info(", ".join(f"{name} = {value}" for name, value in values.items()))


class SetIterationsVarHook(tf.compat.v1.train.SessionRunHook):
    """Makes each run of the operations that util.set_iteration_per_loop marked `iterations_per_loop` steps, or as many
    as they are marked with; with `steps` or `max_steps` the last run has what is left."""

    def __init__(self, iterations_per_loop=None, steps=None, max_steps=None):
        super().__init__()
        wrong = not isinstance(iterations_per_loop, numbers.Integral) or iterations_per_loop < 1
        if iterations_per_loop is not None and wrong:
            raise ValueError(f"iterations_per_loop is {iterations_per_loop!r}; it is a whole number above 0")
        self._iterations, self._steps, self._last = iterations_per_loop, steps, max_steps

    def begin(self):
        self._global_step = tf.compat.v1.train.get_global_step()
        if self._global_step is None and (self._steps or self._last):
            raise RuntimeError("SetIterationsVarHook with a number of steps needs the global step; create it first")

    def after_create_session(self, session, coord):
        marked = set(getattr(session.graph, iterations.TABLE, {}).values())
        self._iterations = self._iterations or max(marked, default=1)
        logging.info("load iterations_per_loop value %d ------------------", self._iterations)
        if self._last is None and self._steps is not None:
            self._last = session.run(self._global_step) + self._steps

    def before_run(self, run_context):
        graph, count = run_context.session.graph, self._iterations
        if self._last is not None:
            count = max(1, min(count, self._last - int(run_context.session.run(self._global_step))))
        for name in getattr(graph, iterations.TABLE, {}):
            iterations.mark(graph.get_operation_by_name(name), count)


class TellMeStepOrLossHook(tf.compat.v1.train.SessionRunHook):
    """Accepted: where a card changes its types in the course of a training (accelerate_train_mode), this tells it how
    far it is, by `step` of `total_step`, or by `loss` on its way to `final_loss`. Types do not change here."""

    def __init__(self, step=None, total_step=None, loss=None, final_loss=None):
        super().__init__()
        if (step is None or total_step is None) == (loss is None or final_loss is None):
            raise ValueError("TellMeStepOrLossHook takes step and total_step, or loss and final_loss")
        telling.once("TellMeStepOrLossHook", "TellMeStepOrLossHook has no effect: types do not change in the course of "
                                             "a training; set precision_mode")  # fmt: skip
