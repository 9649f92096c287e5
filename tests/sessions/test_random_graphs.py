# SPDX-License-Identifier: Apache-2.0
"""Graphs of loops, branches, arrays and variables, nested at random, with their gradients: on the NPU as on the CPU.
What is drawn depends on the seed alone."""

import random

import pytest
import tensorflow as tf
from both import on_both, tf1

PLAIN = (tf.sin, tf.tanh, lambda x: -x * 0.7, lambda x: x * 0.5 + 0.3, lambda x: tf.sqrt(tf.abs(x) + 1.0))


class Drawn:
    """One graph: `given` is a truth value that is fed, `computed` one that the graph computes."""

    def __init__(self, seed, given, computed, weights):
        self.rng, self.given, self.computed, self.weights = random.Random(seed), given, computed, weights

    def apart(self):
        """The same from here on, however often it is asked: TensorFlow may build a body twice."""
        return Drawn(self.rng.random(), self.given, self.computed, self.weights)

    def condition(self, x):
        makers = (
            lambda: self.given,
            lambda: self.computed,
            lambda: tf.reduce_sum(x) > 0.17,
            lambda: tf.logical_not(self.given),
            lambda: tf.logical_and(self.computed, x[0] < 0.43),
        )
        return self.rng.choice(makers)()

    def branch(self, x, depth):
        yes, no = self.apart(), self.apart()
        return tf.cond(self.condition(x), lambda: yes.value(x, depth), lambda: no.value(x, depth))

    def loop(self, x, depth):
        turns, early, seed = self.rng.randint(0, 4), self.rng.random() < 0.3, self.rng.random()

        def body(i, a):
            return i + 1, Drawn(seed, self.given, self.computed, self.weights).value(a, depth) * 0.8 + x * 0.1

        def goes_on(i, a):
            return tf.logical_and(i < turns, tf.reduce_sum(a) < 2.0) if early else i < turns

        return tf1.while_loop(goes_on, body, [0, x * 1.0])[1]

    def array(self, x, depth):
        seed = self.rng.random()

        def body(i, rows):
            row = Drawn(seed, self.given, self.computed, self.weights).value(x * tf.cast(i + 1, tf.float32) / 3, depth)
            return i + 1, rows.write(i, row)

        rows = tf.TensorArray(tf.float32, 3, clear_after_read=False)
        rows = tf1.while_loop(lambda i, _: i < 3, body, [0, rows])[1]
        return tf.reduce_mean(rows.stack(), 0) + rows.read(1) * 0.1

    def value(self, x, depth):
        kind = self.rng.random()
        if depth == 0 or kind < 0.15:
            return self.rng.choice((*PLAIN, lambda x: x * self.weights * 0.5))(x)
        for end, make in ((0.45, self.branch), (0.7, self.loop), (0.8, self.array)):
            if kind < end:
                return make(x, depth - 1)
        a, b = self.value(x, depth - 1), self.value(x, depth - 1)
        return self.rng.choice((lambda: a + b * 0.5, lambda: a * b * 0.5, lambda: tf.maximum(a, b)))()


# Those with numbers have found something: values that two If nodes of one condition hand on, loops in branches.
@pytest.mark.parametrize("seed", [24, 33, 122, 225, 258, 383, *range(1000, 1018)])
@on_both(rtol=1e-4)
def test_what_is_drawn_computes_the_same(seed):
    x, given = tf1.placeholder(tf.float32, [3]), tf1.placeholder(tf.bool, [])
    w = tf1.get_variable("w", initializer=[0.5, 1.0, -0.3], use_resource=seed % 2 == 0)
    depth = random.Random(seed).randint(1, 3)
    y = Drawn(seed, given, tf.reduce_sum(w) > 1.0, w).value(x, depth)
    gradients = [tf.convert_to_tensor(g) for g in tf1.gradients(tf.reduce_sum(y), [x, w]) if g is not None]
    with tf.control_dependencies([y, *gradients]):
        update = tf1.assign_sub(w, 0.1 * gradients[-1] if gradients else w * 0.1).op

    def drive(run):
        run.run(w.initializer)
        out = []
        for truth in (True, False, True):
            for numbers in ([0.1, 0.5, -0.3], [1.0, -1.0, 0.2]):
                out.append(run.run([y, gradients], {x: numbers, given: truth}))
                run.run(update, {x: numbers, given: truth})
                out.append(run.run(w))
        return out

    return drive
