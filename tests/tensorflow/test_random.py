# SPDX-License-Identifier: Apache-2.0
"""Random numbers have TensorFlow's own bits, whatever draws them and however seeds are set."""

import tensorflow as tf
from both import on_both

random = tf.random


@on_both(rtol=0)
def test_operators_with_seeds_go_on_from_call_to_call():
    def drawn():
        return random.normal([2], seed=5), random.uniform([3], 0, 9, tf.int32, seed=5), random.shuffle(range(5), seed=1)

    first, second = drawn(), drawn()
    random.set_seed(3)
    third = drawn(), random.truncated_normal([2]), random.gamma([2], 2.0, seed=1), random.normal([2])
    random.set_seed(3)
    tf.keras.utils.set_random_seed(11)
    return first, second, third, drawn(), random.normal([4]), random.poisson([2], 3.0, seed=2)


@on_both(rtol=0)
def test_functions_begin_anew_with_the_seed():
    f = tf.function(lambda: (random.uniform([2]), random.normal([2], seed=4)))
    first, second = f(), f()
    random.set_seed(9)
    return first, second, f(), tf.function(lambda: random.uniform([2]))()


@on_both(rtol=0)
def test_generators_in_variables():
    g = random.Generator.from_seed(3)
    children = g.split(2)
    f = tf.function(lambda: (g.normal([2]), g.uniform([2], 0, 5, tf.int32), g.truncated_normal([2])))
    drawn = [g.normal([3]), f(), f(), children[1].uniform([2]), g.make_seeds(2)]
    g.reset_from_seed(3)
    random.set_global_generator(random.Generator.from_seed(8))
    return drawn, g.normal([3]), random.get_global_generator().uniform([2]), g.state.read_value()


@on_both(rtol=0)
def test_stateless_operators():
    seed = tf.constant([1, 2])
    return (
        random.stateless_uniform([3], seed),
        random.stateless_normal([3], seed),
        random.stateless_truncated_normal([3], random.split(seed)[0]),
        random.stateless_uniform([3], random.fold_in(seed, 7), 0, 100, tf.int64),
        random.stateless_categorical([[1.0, 2.0, 3.0]], 5, seed),
        random.experimental.index_shuffle(tf.range(5), seed, 4),
        random.stateless_gamma([2], seed, 2.0),
    )


@on_both(rtol=0)
def test_weights_and_dropout():
    made = {"glorot_uniform": {}, "he_normal": {}, "orthogonal": {}, "truncated_normal": {"stddev": 0.1}}
    weights = [tf.keras.initializers.get({"class_name": n, "config": c | {"seed": 4}})([3, 2]) for n, c in made.items()]
    drop = tf.keras.layers.Dropout(0.5, seed=2)
    noise = tf.keras.layers.GaussianNoise(1.0, seed=2)
    step = tf.function(lambda: (drop(tf.ones([8]), training=True), noise(tf.zeros([3]), training=True)))
    return (
        weights,
        step(),
        step(),
        drop(tf.ones([8]), training=True),
        tf.nn.dropout(tf.ones([6]), 0.3),
    )


def test_no_seed_no_repetition():
    random.set_seed(None)
    f = tf.function(lambda: random.uniform([4]))
    assert (f() != f()).numpy().all()
    g = random.Generator.from_non_deterministic_state()
    assert (g.uniform([4]) != g.uniform([4])).numpy().all()
