# SPDX-License-Identifier: Apache-2.0
"""A tf.function traced on the CPU, run by TensorFlow and by the engine from the same state."""

import numpy as np
import tensorflow as tf
from case import distance
from engine import Engine, Value


def specs_of(arguments):
    return [tf.TensorSpec(np.shape(a), np.asarray(a).dtype) for a in arguments]


class Traced:
    """`function(*arguments)` in both places. Captured variables become variables of an engine, with the same values;
    other captured handles go through it as the client's own objects."""

    def __init__(self, function, *arguments, specs=None):
        with tf.device("CPU"):
            self.concrete = tf.function(function, autograph=True).get_concrete_function(*(specs or specs_of(arguments)))
        self.arguments = [np.asarray(a) for a in arguments]
        self.name = self.concrete.function_def.signature.name
        self.engine = Engine()
        self.engine.add(self.concrete.function_def)
        for definition in self.concrete.graph.as_graph_def().library.function:
            self.engine.add(definition)
        self.variables = list(self.concrete.graph.variables)
        self.start = [v.numpy() for v in self.variables]
        self.reset()

    def reset(self):
        """Both sides' variables get their first values."""
        for variable, value in zip(self.variables, self.start, strict=True):
            variable.assign(value)
        mine = {id(v.handle): Value.variable(value) for v, value in zip(self.variables, self.start, strict=True)}
        self.mine = list(mine.values())
        self.captured = [mine.get(id(c)) or self.as_value(c) for c in self.concrete.captured_inputs]

    @staticmethod
    def as_value(captured):
        if captured.dtype in (tf.resource, tf.variant, tf.string):
            return Value.object(captured)
        return Value.of(captured.numpy())

    def run(self, *arguments):
        """Results of the engine, as arrays."""
        inputs = [Value.of(a) for a in arguments or self.arguments] + self.captured
        results = [r.numpy() for r in self.engine.run(self.name, inputs, len(self.concrete.outputs))]
        return [r.numpy() if isinstance(r, tf.Tensor) else r for r in results]

    def wanted(self, *arguments):
        given = [tf.constant(a) for a in arguments or self.arguments]
        return [t.numpy() for t in tf.nest.flatten(self.concrete(*given))]

    def check(self, *arguments, host=(), times=2, tolerance=2e-6):
        """Both sides give the same results and leave the same variables, `times` runs on end."""
        self.engine.host_nodes.clear()
        for _ in range(times):
            mine, theirs = self.run(*arguments), self.wanted(*arguments)
            mine += [v.read() for v in self.mine]
            theirs += [v.numpy() for v in self.variables]
            assert len(mine) == len(theirs)
            for one, other in zip(mine, theirs, strict=True):
                assert one.dtype == other.dtype and one.shape == other.shape
                if other.dtype == object:
                    assert (one == other).all()
                else:
                    assert distance(one, other) <= (tolerance if other.dtype.kind not in "iub" else 0)
        went = set(self.engine.host_nodes)
        assert went == set(host), f"nodes that went to TensorFlow: {sorted(went)}"
        return self


def check(function, *arguments, **options):
    return Traced(function, *arguments).check(**options)
