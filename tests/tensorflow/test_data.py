# SPDX-License-Identifier: Apache-2.0
"""Data sets: made and run by TensorFlow on the host, read by the NPU."""

import numpy as np
import pytest
import tensorflow as tf
from both import on_both

Dataset = tf.data.Dataset
layers = tf.keras.layers
NPU = "/device:NPU:0"


def elements(ds):
    return [tf.nest.map_structure(lambda t: t.numpy(), x) for x in ds]


@on_both
def test_tensors_and_variables_in_functions_of_a_data_set():
    table, v = tf.constant([1, 2, 3]), tf.Variable(10, dtype=tf.int64)
    gathered = Dataset.range(3).map(lambda x: tf.gather(table, x), num_parallel_calls=2).batch(3)
    added = Dataset.range(3).map(lambda x: x + v)
    first = elements(added)
    v.assign(20)
    return elements(gathered), first, elements(added)


@on_both
def test_reductions_write_to_variables():
    v = tf.Variable(0.0)

    def add(total, x):
        v.assign_add(tf.cast(x, tf.float32))
        return total + x

    total = Dataset.range(5).reduce(np.int64(0), add)
    scanned = Dataset.range(4).scan(np.int64(1), lambda s, x: (s * 2, s + x))
    v.assign_add(0.5)
    return total, v.read_value(), elements(scanned)


@on_both
def test_generators():
    def numbers(n):
        for i in range(n):
            yield np.int32(i), {"x": np.ones(i, "float32")}

    signature = (tf.TensorSpec([], tf.int32), {"x": tf.TensorSpec([None], tf.float32)})
    ds = Dataset.from_generator(numbers, output_signature=signature, args=(3,))
    return elements(ds), elements(ds.padded_batch(2)), elements(ds.map(lambda i, d: tf.reduce_sum(d["x"]) + 1.0))


@on_both
def test_chains():
    ds = Dataset.from_tensor_slices(tf.reshape(tf.range(12.0), [6, 2])).cache()
    parts = ds.interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2).batch(2).prefetch(2)
    windows = Dataset.range(5).window(2, drop_remainder=True).flat_map(lambda w: w.batch(2))
    zipped = Dataset.zip((Dataset.range(3), Dataset.range(3, 6))).filter(lambda a, _: a != 1)
    picked = Dataset.sample_from_datasets([Dataset.range(4), Dataset.range(10, 14)], seed=3)
    ragged = Dataset.from_tensor_slices([1, 3, 2]).map(tf.range).ragged_batch(2)
    counts = [int(d.cardinality()) for d in (ds, parts, windows, picked)]
    return elements(parts), elements(windows), elements(zipped), elements(picked), list(ragged), counts


@on_both(rtol=0)
def test_shuffles_have_tensorflows_order():
    ds = Dataset.range(20).shuffle(8, seed=5)
    noise = Dataset.range(3).map(lambda x: tf.random.stateless_uniform([2], [x, 1]))
    drawn = Dataset.random(seed=4).take(3).map(lambda x: tf.random.uniform([], seed=2) + tf.cast(x % 2, tf.float32))
    return elements(ds), elements(ds), elements(noise), elements(drawn), next(iter(ds.batch(4)))


@on_both
def test_images_are_augmented_in_a_data_set():
    steps = tf.keras.Sequential(
        [layers.RandomFlip(seed=1), layers.RandomRotation(0.1, seed=2), layers.RandomZoom(0.1, seed=3),
         layers.RandomContrast(0.1, seed=5), layers.RandomTranslation(0.1, 0.1, seed=6), layers.Rescaling(1 / 255),
         layers.Resizing(4, 4), layers.CenterCrop(2, 2)]
    )  # fmt: skip
    x = tf.reshape(tf.range(2 * 8 * 8 * 3.0), [2, 8, 8, 3])
    mapped = Dataset.from_tensors(x).map(lambda image: steps(image, training=True))
    shapes = [e.shape for e in elements(mapped)]
    return steps(x, training=False), shapes


@on_both(rtol=1e-5)
def test_images_are_augmented_with_tensorflows_numbers():
    x = tf.reshape(tf.range(2 * 8 * 8 * 3.0), [2, 8, 8, 3])
    zoom = layers.RandomZoom(0.1, seed=3)
    return layers.RandomFlip(seed=1)(x, training=True), zoom(x, training=True), zoom(x, training=True)


@on_both
def test_iterators_are_saved_and_restored(tmp_path):
    it = iter(Dataset.range(10).shuffle(4, seed=1).batch(2))
    passed = [next(it), next(it)]
    checkpoint = tf.train.Checkpoint(it=it, step=tf.Variable(3))
    path = checkpoint.save(str(tmp_path / "c"))
    following = next(it)
    checkpoint.restore(path)
    return passed, following, next(it), checkpoint.step.read_value()


@on_both
def test_iterators_in_functions():
    it = iter(Dataset.range(6))

    @tf.function
    def pull(it, n):
        total = tf.zeros([], tf.int64)
        for _ in tf.range(n):
            total += next(it)
        return total

    @tf.function
    def drain(it):
        count, more = tf.constant(0), tf.constant(True)
        while more:
            one = it.get_next_as_optional()
            more = one.has_value()
            if more:
                count += tf.cast(one.get_value(), tf.int32)
        return count

    return pull(it, tf.constant(3)), drain(it), drain(it)


@on_both
def test_loops_over_data_sets_with_break_and_structure():
    @tf.function
    def f(ds):
        total, seen = tf.constant(0.0), tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for i, (x, d) in ds.enumerate():
            if i == 3:
                break
            if d["k"] == 1:
                continue
            total += tf.reduce_sum(x)
            seen = seen.write(seen.size(), i)
        return total, seen.stack()

    return f(Dataset.from_tensor_slices((tf.reshape(tf.range(10.0), [5, 2]), {"k": tf.range(5)})))


def test_data_is_put_on_the_npu():
    for bring in (tf.data.experimental.prefetch_to_device, tf.data.experimental.copy_to_device):
        got = list(Dataset.range(4).apply(bring(NPU)))
        assert [int(x) for x in got] == [0, 1, 2, 3]
        assert "NPU" in (got[0] + 1).device


def test_a_data_set_that_ends():
    it = iter(Dataset.range(1))
    step = tf.function(lambda: next(it) * 2)
    assert step().numpy() == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step()
    with pytest.raises(StopIteration):
        next(it)
    assert next(iter(Dataset.range(3, 5))).numpy() == 3


def test_keras_warns_of_a_data_set_that_ends_early(caplog):
    model = tf.keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    ds = Dataset.from_tensors((tf.ones([2, 3]), tf.ones([2, 1])))
    assert len(model.fit(ds, steps_per_epoch=5, epochs=2, verbose=0).history["loss"]) == 1
    assert "Your input ran out of data; interrupting training." in caplog.text
    assert np.isfinite(model.evaluate(ds, verbose=0))


def test_a_data_set_that_raises():
    def broken():
        yield 1
        raise ValueError("the generator broke")

    ds = Dataset.from_generator(broken, output_signature=tf.TensorSpec([], tf.int32))
    it = iter(ds)

    @tf.function
    def step():
        return next(it) + 1  # the line

    assert step().numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: the generator broke") as e:
        step()
    assert f'File "{__file__}", line {step.python_function.__code__.co_firstlineno + 2}' in str(e.value)
    checked = Dataset.from_tensor_slices([1.0, np.nan]).map(lambda x: tf.debugging.check_numerics(x, "in the data"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="in the data : Tensor had NaN values"):
        elements(checked)
    assert elements(checked.take(1)) == [1.0]
    assert elements(Dataset.from_tensor_slices([1.0, np.nan]).map(lambda x: x).ignore_errors())[0] == 1.0


def test_an_iterator_that_was_never_made():
    handle = tf.raw_ops.AnonymousIteratorV3(output_types=[tf.int64], output_shapes=[[]])
    read = tf.function(lambda: tf.raw_ops.IteratorGetNext(iterator=handle, output_types=[tf.int64], output_shapes=[[]]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="iterator has not been initialized"):
        read()
    tf.raw_ops.MakeIterator(dataset=Dataset.range(3, 4)._variant_tensor, iterator=handle)
    assert read()[0].numpy() == 3


def test_fit_counts_the_steps_that_trained():
    """The call that finds a data set of unknown length at its end changes nothing, not even the optimizer's count."""

    def batches():
        yield from ((np.ones((2, 2), "f"), np.ones((2, 1), "f")) for _ in range(3))

    kinds = (tf.TensorSpec([2, 2]), tf.TensorSpec([2, 1]))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("adam", "mse")
    data = tf.data.Dataset.from_generator(batches, output_signature=kinds)
    assert data.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert len(model.fit(data, epochs=2, verbose=0).history["loss"]) == 2
    assert model.optimizer.iterations.numpy() == 6
