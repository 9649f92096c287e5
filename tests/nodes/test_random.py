# SPDX-License-Identifier: Apache-2.0
"""Random nodes that go on from run to run: TensorFlow's own bits, the first time and later."""

import threading

import numpy as np
import pytest
import tensorflow as tf
from case import FLOATING, floats, integers
from engine import EngineError
from traced import Traced, check

raw = tf.raw_ops


def same_bits(function, *arguments, runs=3):
    Traced(function, *arguments).check(times=runs, tolerance=0)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("op", ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_numbers_of_a_node(op, dtype):
    draw = getattr(raw, op)
    same_bits(
        lambda: (
            draw(shape=[5, 7], dtype=dtype, seed=3, seed2=4),
            draw(shape=tf.zeros([0], tf.int32), dtype=dtype, seed=-3, seed2=2**40),
            draw(shape=[0, 2], dtype=dtype, seed=1),
            draw(shape=[3000], dtype=dtype, seed2=4),
        )
    )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_of_a_node(dtype):
    def f(low):
        return (
            raw.RandomUniformInt(shape=[5, 7], minval=low, maxval=low + 9, seed=3, seed2=4),
            raw.RandomUniformInt(shape=[9], minval=tf.constant(0, dtype), maxval=tf.constant(1000, dtype), seed=3),
        )

    same_bits(f, np.array(-4, dtype))


def test_an_empty_range_is_refused():
    t = Traced(lambda low: raw.RandomUniformInt(shape=[2], minval=low, maxval=tf.constant(3), seed=1), np.int32(3))
    with pytest.raises(EngineError, match="minval must be below"):
        t.run()


@pytest.mark.parametrize("shape", [(10,), (300,), (6, 3), (5, 2, 2), (1, 4), (0, 3)])
def test_shuffle(shape):
    same_bits(lambda x: raw.RandomShuffle(value=x, seed=5, seed2=6), integers(*shape, dtype="int64"))


@pytest.mark.parametrize("dtype", FLOATING)
def test_multinomial(dtype):
    logits = floats(3, 6, dtype=dtype)
    logits[0, 2] = -np.inf
    same_bits(
        lambda x: (
            raw.Multinomial(logits=x, num_samples=11, seed=5, seed2=6),
            raw.Multinomial(logits=x, num_samples=4, seed=5, output_dtype=tf.int32),
            raw.Multinomial(logits=x, num_samples=0, seed=5),
        ),
        logits,
    )


@pytest.mark.parametrize("op", ["LogUniformCandidateSampler", "UniformCandidateSampler"])
def test_classes_of_a_vocabulary(op):
    draw = getattr(raw, op)

    def f(classes):
        common = {"true_classes": classes, "num_true": 2, "seed": 3, "seed2": 4}
        return (
            *draw(num_sampled=5, unique=True, range_max=10, **common),
            *draw(num_sampled=10, unique=True, range_max=10, **common),
            *draw(num_sampled=64, unique=False, range_max=16, **common),
            *draw(num_sampled=700, unique=True, range_max=2**33, **common),
        )

    Traced(f, np.int64([[1, 2], [0, 9], [3, 3]])).check(times=3, tolerance=1e-6)  # the samples are integers


@pytest.mark.parametrize("op", ["LogUniformCandidateSampler", "UniformCandidateSampler"])
def test_classes_that_are_none_are_refused(op):
    def refusal(classes, **changes):
        attributes = {"num_true": 1, "num_sampled": 5, "unique": True, "range_max": 10, "seed": 1, **changes}
        t = Traced(lambda x: getattr(raw, op)(true_classes=x, **attributes), np.int64(classes),
                   specs=[tf.TensorSpec(None, tf.int64)])  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError) as theirs:
            t.wanted()
        with pytest.raises(EngineError) as mine:
            t.run()
        return str(mine.value), theirs.value.message

    for given, changes, text in [
        ([[11]], {}, "`true_candidate` out of range [0, 10), received 11"),
        ([[-1]], {}, "`true_candidate` out of range [0, 10), received -1"),
        ([[1]], {"num_sampled": 11}, "Sampler's range is too small."),
        ([1], {}, "true_classes must be a matrix"),
        ([[1, 2]], {}, "true_classes must have num_true columns, expected: 2 was: 1"),
    ]:
        for told in refusal(given, **changes):
            assert text in told


def test_two_nodes_of_equal_seeds_and_a_loop():
    @tf.function
    def inner(n):
        return raw.RandomUniform(shape=[n], dtype=tf.float32, seed=8, seed2=9)

    def f(n):
        x = tf.zeros([3])
        for _ in tf.range(n):
            x = x * 0.5 + raw.RandomUniform(shape=[3], dtype=tf.float32, seed=8, seed2=9)
        return x, raw.RandomUniform(shape=[3], dtype=tf.float32, seed=8, seed2=9), inner(4)

    same_bits(f, np.int32(3))


def test_shapes_may_change_between_runs():
    t = Traced(lambda n: raw.RandomUniform(shape=tf.stack([n, 2]), dtype=tf.float32, seed=8, seed2=9), np.int32(3))
    for n in (3, 5, 3, 1):
        t.check(np.int32(n), tolerance=0, times=1)


def test_unseeded_numbers_differ():
    def f():
        return tf.random.uniform([8])

    first, second = Traced(f), Traced(f)
    draws = [first.run()[0], first.run()[0], second.run()[0]]
    assert len({d.tobytes() for d in draws}) == 3
    assert all((d >= 0).all() and (d < 1).all() for d in draws)


def test_four_threads_share_a_node_without_drawing_twice():
    t = Traced(lambda: raw.RandomUniform(shape=[4], dtype=tf.float64, seed=8, seed2=9))
    drawn = []

    def work():
        for _ in range(50):
            drawn.append(t.run()[0].tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {t.wanted()[0].tobytes() for _ in range(200)}
    assert set(drawn) == wanted


def generator(start):
    with tf.device("CPU"):
        return tf.Variable(np.array(start, np.int64))


@pytest.mark.parametrize("dtype", FLOATING)
def test_numbers_of_a_generator(dtype):
    state = generator([-500, 3, 77])

    def f():
        state.read_value()  # tells the tracing that the handle is a variable's
        of = {"resource": state.handle, "algorithm": tf.constant(1, tf.int64), "dtype": dtype}
        return (
            raw.StatefulUniform(shape=[5, 7], **of),
            raw.StatefulStandardNormalV2(shape=[9], **of),
            raw.StatefulTruncatedNormal(shape=[2, 9], **of),
        )

    same_bits(f)


def test_whole_numbers_of_a_generator():
    state = generator([5, 3, 77])

    def f():
        state.read_value()  # tells the tracing that the handle is a variable's
        of = {"resource": state.handle, "algorithm": tf.constant(1, tf.int64), "shape": [5, 7]}
        low, high = tf.constant(-9, tf.int64), tf.constant(9, tf.int64)
        return (
            raw.StatefulUniformInt(**of, minval=low, maxval=high),
            raw.StatefulUniformFullInt(**of, dtype=tf.uint64),
            raw.StatefulUniformFullInt(**of, dtype=tf.int32),
            raw.RngReadAndSkip(resource=state.handle, alg=1, delta=tf.constant(10, tf.uint64)),
            raw.RngSkip(resource=state.handle, algorithm=tf.constant(1, tf.int64), delta=tf.constant(4, tf.int64)),
        )[:4]

    same_bits(f)


def test_the_generator_class():
    made = tf.random.Generator.from_seed(12)

    def f():
        a = made.uniform([3, 4])
        with tf.control_dependencies([a]):
            b = made.normal([5])
        with tf.control_dependencies([b]):
            c = made.truncated_normal([6], stddev=2.0)
        with tf.control_dependencies([c]):
            return a, b, c, made.uniform([4], maxval=9, dtype=tf.int64)

    check(f, tolerance=0, times=3)


def test_the_stateless_functions():
    def f(seed):
        return (
            tf.random.stateless_uniform([7], seed),
            tf.random.stateless_normal([7], seed, mean=3.0),
            tf.random.stateless_truncated_normal([7], seed),
            tf.random.stateless_uniform([7], seed, maxval=100, dtype=tf.int32),
            tf.random.experimental.stateless_shuffle(tf.range(9), seed),
        )

    check(f, np.int32([3, 4]), tolerance=0)


def test_another_algorithm_goes_to_the_client():
    t = Traced(
        lambda: raw.StatelessRandomUniformV2(
            shape=[2], key=tf.constant([1], tf.uint64), counter=tf.constant([1, 2], tf.uint64), alg=2
        )
    )
    with pytest.raises(EngineError, match="[Uu]nsupported algorithm"):
        t.run()
    assert t.engine.host_nodes == ["StatelessRandomUniformV2"]
