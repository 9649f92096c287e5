# SPDX-License-Identifier: Apache-2.0
"""Models of models.py in sessions: one side of a comparison."""

import contextlib

import models
import numpy as np
from both import session, tf1


def config(grappler=True):
    """Of a session on the CPU, whose graph Grappler rewrites or leaves as it is: TensorFlow's own two ways."""
    made = tf1.ConfigProto()
    made.graph_options.rewrite_options.disable_meta_optimizer = not grappler
    if not grappler:
        made.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    return made


class Side(contextlib.AbstractContextManager):
    """A session of a model, whose variables were initialized."""

    def __init__(self, model, on_npu=False, grappler=True):
        self.model = model
        self._run = session(on_npu, graph=model.graph, config=config(grappler))
        self._coordinator, self._threads = tf1.train.Coordinator(), []
        self.run(model.initialize)

    def run(self, *args):
        return self._run.run(*args)

    def start(self):
        if self.model.parts.runners:
            with self.model.graph.as_default():
                self._threads = tf1.train.start_queue_runners(self._run, self._coordinator)
        return self

    def __exit__(self, *_):
        self._coordinator.request_stop()
        self._run.close()
        self._coordinator.join(self._threads, stop_grace_period_secs=20)

    def state(self):
        return self.run(self.model.variables)

    def set(self, state):
        pairs = zip(self.model.values, state, strict=True)
        self.run(self.model.load, {to: value.astype(to.dtype.as_numpy_dtype) for to, value in pairs})

    def step(self, batch):
        """The losses, and the gradients as one long vector, of a step of training."""
        model = self.model
        losses, found, _ = self.run([model.losses, model.gradients, model.train], model.feeds(batch))
        return np.array(losses, "float64"), np.concatenate([whole(one) for one in found])

    def evaluated(self, batch):
        return self.run(self.model.parts.output, self.model.feeds(batch, training=False))


def whole(gradient):
    if not hasattr(gradient, "dense_shape"):
        return np.ravel(gradient).astype("float64")
    out = np.zeros(gradient.dense_shape, "float64")
    np.add.at(out, gradient.indices, gradient.values)
    return out.ravel()


def losses(name, model, start, count, **named):
    """Of `count` steps from these variables."""
    with Side(model, **named) as side:
        side.set(start)
        side.start()
        return np.array([side.step(batch)[0] for batch in models.batches(name, count)])


def first_state(model):
    with Side(model) as side:
        return side.state()
