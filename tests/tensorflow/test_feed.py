# SPDX-License-Identifier: Apache-2.0
"""Reading ahead: what is fed and what not, and that nobody can tell."""

import contextlib
import gc
import pathlib
import time

import numpy as np
import pytest
import tensorflow as tf
from npu_device.adapter import library

OTHERS = set()  # of tests before that left an iterator alive


def reading():
    """Threads of this process that read ahead."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            if (task / "comm").read_text().strip() == "hdc_provider":
                found.add(task.name)
    return found


def providers():
    """How many of them belong to this test."""
    return len(reading() - OTHERS)


@pytest.fixture(autouse=True)
def count_anew():
    gc.collect()
    OTHERS.clear()
    OTHERS.update(reading())


def all_end():
    deadline = time.monotonic() + 60
    while providers() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not providers()


SEEN = []


@tf.function
def read_four(ds):
    """The sum of some elements of a long data set; tells SEEN of the providers at the last of them."""
    count, total = 0, tf.constant(0.0)
    for x in ds:
        total += tf.reduce_sum(tf.cast(tf.nest.flatten(x)[0], tf.float32))
        count = count + 1
        if count == 4:
            tf.py_function(lambda: SEEN.append(providers()), [], [])
            break
    return total


LONG = tf.data.Dataset.range(1_000_000)
with tf.device("CPU"):
    VARIABLE = tf.Variable(1, dtype=tf.int64)
    TABLE = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

CASES = {
    "range": (True, lambda: LONG),
    "map, batch, prefetch": (True, lambda: LONG.map(lambda x: x * 2).batch(4).prefetch(2)),
    "parallel map": (True, lambda: LONG.map(lambda x: x * 2, num_parallel_calls=2).batch(4, drop_remainder=True)),
    "slices": (True, lambda: tf.data.Dataset.from_tensor_slices(np.zeros([100_000, 2], "f")).batch(2)),
    "shuffled": (True, lambda: LONG.shuffle(8).batch(4)),
    "repeated": (True, lambda: LONG.take(10).repeat()),
    "random": (True, lambda: LONG.map(lambda x: tf.random.uniform([2]))),
    "interleaved": (True, lambda: LONG.interleave(lambda x: tf.data.Dataset.range(x, x + 3))),
    "shuffled anew each time": (False, lambda: LONG.take(10).shuffle(8).repeat()),
    "effects": (False, lambda: LONG.map(lambda x: tf.py_function(lambda y: y, [x], tf.int64))),
    "generator": (False, lambda: tf.data.Dataset.from_generator(lambda: iter(range(9)), output_types=tf.int64)),
    "effects below": (
        False,
        lambda: LONG.flat_map(lambda x: LONG.map(lambda y: tf.numpy_function(abs, [y], tf.int64))),
    ),
    "variable": (False, lambda: LONG.map(lambda x: x + VARIABLE)),
    "table": (False, lambda: LONG.map(lambda x: TABLE.lookup(x))),
    "cache": (False, lambda: LONG.take(1000).cache()),
}


@pytest.mark.promise("data sets read ahead of the step where nobody can tell")
@pytest.mark.parametrize("case", CASES)
def test_only_what_nobody_can_tell_is_read_ahead(case):
    fed, make = CASES[case]
    SEEN.clear()
    total = read_four(make())
    assert [int(fed)] == SEEN
    assert all_end()  # the loop was left with its data set half read
    if case == "map, batch, prefetch":
        assert float(total) == sum(range(16)) * 2


def test_elements_come_in_order_to_the_end():
    @tf.function
    def f(ds):
        out = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for x in ds:
            out = out.write(out.size(), x)
        return out.stack()

    np.testing.assert_array_equal(f(tf.data.Dataset.range(1000)).numpy(), np.arange(1000))
    assert f(tf.data.Dataset.range(0)).shape[0] == 0
    assert f(tf.data.Dataset.range(1)).shape[0] == 1


def test_both_ways_of_asking_share_one_iterator():
    @tf.function
    def f(ds):
        it = iter(ds)
        head = next(it) * 100 + next(it) * 10 + next(it)
        tail = tf.constant(0, tf.int64)
        for x in it:
            tail = tail * 10 + x
        return head, tail, it.get_next_as_optional().has_value()

    assert [int(x) for x in f(tf.data.Dataset.range(1, 7))] == [123, 456, 0]

    @tf.function
    def g(ds):
        it = iter(ds)
        first, second = it.get_next_as_optional(), it.get_next_as_optional()
        return first.get_value() * 10 + second.get_value(), next(it), next(it)

    assert [int(x) for x in g(tf.data.Dataset.range(1, 5))] == [12, 3, 4]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        g(tf.data.Dataset.range(1, 4))


def test_a_failure_comes_at_its_step():
    done = tf.Variable(0)

    @tf.function
    def f(ds):
        for _ in ds:
            done.assign_add(1)

    def asserted(x):
        tf.debugging.assert_less(x, tf.constant(20, tf.int64))
        return x

    numbers = tf.data.Dataset.range(50)
    for data in (numbers.map(asserted), numbers.map(lambda x: tf.gather(tf.range(20), x))):
        done.assign(0)
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(data)
        assert done.numpy() == 20
    f(tf.data.Dataset.range(3))
    assert done.numpy() == 23


def test_keras_loops_are_fed():
    x = np.arange(4096, dtype="f").reshape(1024, 4) / 4096
    y = x.sum(1, keepdims=True)
    seen = []
    watch = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(providers()))

    def losses(data, device, **arguments):
        with tf.device(device):
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
            model.compile("sgd", "mse")
            return model.fit(*data(), epochs=2, verbose=0, shuffle=False, **arguments).history["loss"]

    for data in (lambda: (x, y), lambda: (tf.data.Dataset.from_tensor_slices((x, y)).batch(32),)):
        seen.clear()
        ours = losses(data, "/device:NPU:0", callbacks=[watch])
        assert max(seen) == 1 and all_end()
        np.testing.assert_allclose(ours, losses(data, "CPU"), rtol=1e-5)
    # One data set made on the NPU serves a model on the CPU too.
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
    np.testing.assert_allclose(losses(lambda: (ds,), "CPU"), ours, rtol=1e-5)


def test_an_iterator_of_the_program_can_be_saved(tmp_path):
    @tf.function
    def add(it, n):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(n):
            total += next(it)
        return total

    it = iter(tf.data.Dataset.range(100))
    assert add(it, 5) == 10 and providers() == 1
    saver = tf.train.Checkpoint(it=it)
    path = saver.save(str(tmp_path / "it"))
    assert all_end()  # who is saved once may be saved again
    assert add(it, 3) == 5 + 6 + 7
    saver.restore(path)
    assert add(it, 2) == 5 + 6


PIPELINES = {
    "plain": lambda: tf.data.Dataset.range(500).map(lambda x: x * 3),
    "shuffled": lambda: tf.data.Dataset.range(500).shuffle(50, seed=7).batch(2),
    "shuffled by the program's seed": lambda: tf.data.Dataset.range(500).shuffle(500).map(lambda x: x + 1),
    "random": lambda: tf.data.Dataset.range(500).map(lambda x: tf.random.uniform([2], seed=3)),
}


def elements(make, device, other=None):
    """What three iterators of the program's give, one after the other; each goes on `other` after a while."""
    tf.random.set_seed(11)
    seen = []
    with tf.device(device):
        data = make()
        for _ in range(3):
            it = iter(data)
            seen += [next(it).numpy().tolist() for _ in range(20)]
            with tf.device(other or device):
                seen += [next(it).numpy().tolist() for _ in range(5)]
    return seen


@pytest.mark.promise("an iterator of the program's is read ahead, and gives what it gives on the CPU")
@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator_of_the_program_gives_what_it_gives_on_the_cpu(name):
    expected = elements(PIPELINES[name], "CPU")
    assert elements(PIPELINES[name], "/device:NPU:0") == expected
    gc.collect()
    assert all_end()
    assert elements(PIPELINES[name], "/device:NPU:0", "CPU") == expected


@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator_of_the_program_is_saved_where_the_program_is(name, tmp_path):
    def run(device):
        tf.random.set_seed(11)
        with tf.device(device):
            it = iter(PIPELINES[name]())
            first = [next(it).numpy().tolist() for _ in range(10)]
            read = providers()
            path = tf.train.Checkpoint(it=it).save(str(tmp_path / name.replace(" ", "") / device.strip("/:")))
            return read, first + [next(it).numpy().tolist() for _ in range(10)], path

    if name == "random":  # TensorFlow refuses to save what has a state of its own
        with pytest.raises(tf.errors.FailedPreconditionError):
            run("CPU")
        with pytest.raises(tf.errors.FailedPreconditionError):
            run("/device:NPU:0")
        return
    (_, expected, _), (read, ours, path) = run("CPU"), run("/device:NPU:0")
    assert read == 1 and ours == expected
    with tf.device("CPU"):
        it = iter(PIPELINES[name]())
        tf.train.Checkpoint(it=it).restore(path)
        assert [next(it).numpy().tolist() for _ in range(10)] == expected[10:]


def test_an_iterator_goes_on_when_reading_ahead_was_ended():
    it = iter(tf.data.Dataset.range(1000))
    assert [int(next(it)) for _ in range(5)] == [0, 1, 2, 3, 4] and providers() == 1
    library.load().anynpu_tensorflow_close(0)
    assert [int(next(it)) for _ in range(5)] == [5, 6, 7, 8, 9] and all_end()


def test_an_iterator_that_is_read_ahead_says_so_when_it_is_saved():
    mark = library.load().anynpu_tensorflow_iterators_alone
    mark(1)
    try:
        it = iter(tf.data.Dataset.range(1_000_000))
    finally:
        mark(0)
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    state = None
    with pytest.raises(tf.errors.FailedPreconditionError, match="elements ahead.*ANYNPU_FEED=0"):
        state = it._save()
    assert state is None and [int(next(it)) for _ in range(200)] == list(range(3, 203))
    state = it._save()  # nothing waits any more
    assert int(next(it)) == 203
    it._restore(state)
    assert int(next(it)) == 203
    del it
    assert all_end()
