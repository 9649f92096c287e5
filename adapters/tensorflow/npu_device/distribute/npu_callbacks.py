# SPDX-License-Identifier: Apache-2.0
"""How Keras models start from the same values on all workers."""

import contextlib

import tensorflow as tf

from npu_device.distribute import hccl, ranks


def broadcast_keras_model(model, root_rank=0):
    """Gives the trainable variables of a Keras model the values of `root_rank`; anything else is left alone. Returns
    what it was given."""
    if isinstance(model, tf.keras.Model):
        hccl.broadcast(model.trainable_variables, root_rank)
    return model


class NPUBroadcastGlobalVariablesCallback(tf.keras.callbacks.Callback):
    """Broadcasts the model's variables from `root_rank` before the first batch that is trained."""

    def __init__(self, root_rank):
        super().__init__()
        self.root_rank = root_rank
        self.broadcast_done = False

    def on_train_batch_begin(self, batch, logs=None):
        if not self.broadcast_done:
            broadcast_keras_model(self.model, self.root_rank)
            self.broadcast_done = True


def npu_broadcast_scope_wrapper(strategy):
    """A tf.distribute strategy whose scope also brings the variables made in it to the same start on all workers, when
    it is left: the strategy itself in a process that trains alone."""
    if ranks.alone("broadcast of the variables of a scope"):
        return strategy
    scope = strategy.scope

    @contextlib.contextmanager
    def with_broadcast():
        made = []

        def creator(create, **kwargs):
            made.append(create(**kwargs))
            return made[-1]

        with scope() as entered, tf.variable_creator_scope(creator):
            yield entered
        hccl.broadcast(made)

    strategy.scope = with_broadcast
    return strategy
