# SPDX-License-Identifier: Apache-2.0
"""Optimizers that average gradients over all workers. A process that trains alone applies them as they are, and says so
once; several use npu_device.distribute."""

import tensorflow.compat.v1 as tf
from keras.src import optimizers as keras_optimizers
from keras.src.optimizers import optimizer as keras_optimizer
from keras.src.optimizers.legacy import optimizer_v2
from npu_device.distribute import hccl
from npu_device.setting import cluster, telling

from npu_bridge.estimator.npu import npu_loss_scale_optimizer as loss_scaling
from npu_bridge.estimator.npu.wrapped_optimizer import WrappedOptimizer

__all__ = ["KerasDistributeOptimizer", "NPUDistributedOptimizer", "NPUOptimizer", "allreduce", "npu_allreduce",
           "npu_distributed_optimizer_wrapper", "npu_keras_optimizer", "npu_tf_optimizer"]  # fmt: skip
WORLD = hccl.WORLD
_said = []


def npu_allreduce(values, reduction="mean", fusion=1, fusion_id=-1, group=WORLD):
    """`values`, a tensor, tf.IndexedSlices or a list of them, reduced over all workers: the same ones in a process that
    trains alone."""
    hccl._check(reduction, fusion, (0, 1, 2), group, fusion_id)
    return values if _alone() else hccl.all_reduce(values, reduction, fusion, fusion_id, group)


def allreduce(tensor, var=None, average=True):
    """npu_allreduce of one tensor as older scripts call it: averaged, or summed. `var`, the variable of the gradient,
    changes nothing."""
    return npu_allreduce(tensor, "mean" if average else "sum")


def _alone():
    """Whether this process trains alone, which is logged once."""
    if cluster.size() > 1:
        return False
    if not _said:
        _said.append(True)
        tf.logging.info(
            "Skip all reduce as current process is not npu cluster worker: gradients are applied as they are"
        )
    return True


def _averaged(grads_and_vars):
    """Gradients and their variables, the gradients averaged over all workers."""
    grads_and_vars = list(grads_and_vars)
    there = [g for g, _ in grads_and_vars if g is not None]
    averaged = iter(npu_allreduce(there))
    return [(None if g is None else next(averaged), v) for g, v in grads_and_vars]


class NPUDistributedOptimizer(WrappedOptimizer):
    """Around an optimizer of tf.train: compute_gradients gives the averages over all workers. With
    is_weight_update_sharding each of them updates a part of the variables and sends it to the others; alone, all."""

    def __init__(self, optimizer, is_weight_update_sharding=False, name=None):
        super().__init__(optimizer, name or f"Distributed{type(optimizer).__name__}")
        self._is_distributed = True
        if isinstance(optimizer, loss_scaling.NPULossScaleOptimizer):
            optimizer._is_distributed = True  # what it scales is averaged, so all leave out the same steps
        self._is_weight_update_sharding = is_weight_update_sharding

    def compute_gradients(self, *arguments, **named):
        """As tf.train.Optimizer's, averaged."""
        return _averaged(self._opt.compute_gradients(*arguments, **named))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """As tf.train.Optimizer's."""
        if not self._is_weight_update_sharding:
            return self._opt.apply_gradients(grads_and_vars, global_step, name)
        apply = self._opt.apply_gradients
        return hccl.grouping_gradients_apply(apply, grads_and_vars, global_step=global_step, name=name)


class NPUOptimizer(WrappedOptimizer):
    """Around an optimizer of tf.train: averages gradients with is_distributed, and scales the loss as
    NPULossScaleOptimizer does with is_loss_scale and a manager. is_tailing_optimization asks for what hcom_parallel
    does."""

    def __init__(
        self,
        opt,
        loss_scale_manager=None,
        is_distributed=False,
        is_loss_scale=False,
        is_tailing_optimization=False,
        name=None,
    ):
        super().__init__(opt, name or f"NPUOptimizer{type(opt).__name__}")
        if is_loss_scale and loss_scale_manager is None:
            raise ValueError("is_loss_scale is True, and there is no loss_scale_manager; give one")
        if is_tailing_optimization:
            telling.once("tailing", "is_tailing_optimization of NPUOptimizer has no effect: with hcom_parallel nothing "
                         "waits for segments that it does not need")  # fmt: skip
        self._is_distributed, self._is_loss_scale = is_distributed, is_loss_scale
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(self, loss, *arguments, **named):
        """As tf.train.Optimizer's, of the loss unscaled, and averaged."""
        average = _averaged if self._is_distributed else list
        if not self._is_loss_scale:
            return average(self._opt.compute_gradients(loss, *arguments, **named))
        scale = tf.identity(self._loss_scale_manager.get_loss_scale())
        gradients = self._opt.compute_gradients(loss_scaling.scaled(loss, scale), *arguments, **named)
        return loss_scaling.unscaled(average(gradients), scale)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """As tf.train.Optimizer's, of gradients that compute_gradients gave."""
        if not self._is_loss_scale:
            return self._opt.apply_gradients(grads_and_vars, global_step, name)
        manager, distributed = self._loss_scale_manager, self._is_distributed
        return loss_scaling.apply_where_finite(self._opt, manager, grads_and_vars, global_step, name, distributed)


class KerasDistributeOptimizer(optimizer_v2.OptimizerV2):
    """Around an optimizer of Keras, by object or name: gradients are averaged over all workers before it applies them.
    In graphs Keras takes optimizers of tf.keras.optimizers.legacy only; a new one becomes one of these."""

    def __init__(self, optimizer, name="NpuKerasOptimizer", **kwargs):
        super().__init__(name, **kwargs)
        if isinstance(optimizer, tf.train.Optimizer):
            raise ValueError(f"{optimizer!r} is an optimizer of tf.train; use NPUDistributedOptimizer for it")
        optimizer = keras_optimizers.get(optimizer)
        if isinstance(optimizer, keras_optimizer.Optimizer):
            optimizer = keras_optimizers.convert_to_legacy_optimizer(optimizer)
        self._optimizer = optimizer
        self._track_trackable(optimizer, "optimizer")

    def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
        return _averaged(self._optimizer._compute_gradients(loss, var_list, grad_loss, tape))

    def get_gradients(self, loss, params):
        """Gradients of the loss, averaged."""
        return [g for g, _ in _averaged(zip(self._optimizer.get_gradients(loss, params), params, strict=True))]

    def apply_gradients(self, grads_and_vars, name=None, **named):
        """As tf.keras.optimizers.legacy.Optimizer's."""
        return self._optimizer.apply_gradients(grads_and_vars, name, **named)

    @property
    def iterations(self):
        """How many steps the optimizer inside has applied."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable):
        self._optimizer.iterations = variable

    @property
    def learning_rate(self):
        """That of the optimizer inside; callbacks of Keras read and set it."""
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._optimizer.learning_rate = value

    lr = learning_rate  # Keras's old name of it

    @property
    def weights(self):
        """Those of the optimizer inside."""
        return self._optimizer.weights

    def get_config(self):
        """What from_config makes an equal one of."""
        return {"name": self._name, "optimizer": keras_optimizers.serialize(self._optimizer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The optimizer that get_config described."""
        inner = keras_optimizers.deserialize(config["optimizer"], custom_objects, use_legacy_optimizer=True)
        return cls(inner, config["name"])


def npu_distributed_optimizer_wrapper(optimizer):
    """The optimizer that averages gradients over all workers before it applies them: of tf.train, or of Keras by object
    or name. In a process that trains alone, the one it was given."""
    of_graphs = isinstance(optimizer, tf.train.Optimizer)
    optimizer = optimizer if of_graphs else keras_optimizers.get(optimizer)
    if _alone():
        return optimizer
    return NPUDistributedOptimizer(optimizer) if of_graphs else KerasDistributeOptimizer(optimizer)


def npu_tf_optimizer(opt):
    """NPUDistributedOptimizer around an optimizer of tf.train."""
    return NPUDistributedOptimizer(opt)


def npu_keras_optimizer(opt):
    """KerasDistributeOptimizer around an optimizer of Keras."""
    return KerasDistributeOptimizer(opt)
