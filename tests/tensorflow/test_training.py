# SPDX-License-Identifier: Apache-2.0
"""Training on the NPU against training on the CPU, compared as two runs of one framework on two machines can be.

Resynchronised: before each step the CPU's weights are copied to the NPU; the losses agree within 1e-5, and the NPU's
gradients are no further from a float64 run than twice the further of TensorFlow's own two ways on the CPU (operator by
operator, and as a graph that Grappler has rewritten), plus 1e-6. Free-running: ten steps each on its own."""

import hosted
import models
import movement
import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from both import on_cpu

LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def gradients(model, x, y):
    with tf.GradientTape() as tape:
        loss = LOSS(y, model(tf.cast(x, model.compute_dtype), training=True))
    return loss, [tf.convert_to_tensor(g) for g in tape.gradient(loss, model.trainable_variables)]


def copy_weights(source, target):
    for a, b in zip(source.variables, target.variables, strict=True):
        b.assign(a.numpy().astype(b.dtype.as_numpy_dtype))


def distance(got, exact):
    """Of two lists of gradients, each taken as one long vector, relative to the length of the second."""
    got, exact = (np.concatenate([g.numpy().ravel().astype("float64") for g in some]) for some in (got, exact))
    return np.linalg.norm(got - exact) / np.linalg.norm(exact)


@pytest.mark.promise(
    "Keras models train as on the CPU: MLP, CNN, residual, MobileNet, U-Net, LSTM, GRU, attention, a transformer"
)
@pytest.mark.parametrize("name", [n for n in models.MODELS if n not in ("cell", "masked")])
def test_each_step_computes_what_the_cpu_computes(name):
    ours = models.make(name)
    theirs, exact = on_cpu(models.make, name), on_cpu(models.make, name, "float64")
    assert "NPU" in ours.variables[0].device and "CPU" in theirs.variables[0].device
    step = {m: tf.function(lambda x, y, m=m: gradients(m, x, y)) for m in (ours, theirs, exact)}
    rate = 0.05
    for x, y in models.batches(name, 10):
        copy_weights(theirs, ours)
        copy_weights(theirs, exact)
        before = [v.numpy() for v in theirs.variables]
        _, reference = on_cpu(step[exact], x, y)
        _, eager = on_cpu(gradients, theirs, x, y)
        for v, b in zip(theirs.variables, before, strict=True):
            v.assign(b)  # running it changed the statistics of batch norm
        wanted, graph = on_cpu(step[theirs], x, y)
        loss, got = step[ours](x, y)
        assert abs(loss.numpy() - wanted.numpy()) <= 1e-5 * abs(wanted.numpy())
        noise = max(distance(eager, reference), distance(graph, reference))
        assert distance(got, reference) <= 2 * noise + 1e-6
        for v, g in zip(theirs.trainable_variables, graph, strict=True):
            v.assign_sub(rate * g)


@pytest.mark.parametrize("name", models.MODELS)
def test_runs_freely_beside_the_cpu(name):
    def losses(model):
        optimizer = tf.keras.optimizers.SGD(0.05)

        @tf.function
        def step(x, y):
            loss, found = gradients(model, x, y)
            optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
            return loss

        return [step(x, y).numpy() for x, y in models.batches(name, 10)]

    with hosted.nothing_but_feed(f"training of {name}"):
        ours = losses(models.make(name))
    theirs = on_cpu(lambda: losses(models.make(name)))
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert abs(a - b) <= 1e-5 * (i + 1) * max(1, abs(b)), f"step {i}: {a} and {b}"
    assert theirs[-1] != theirs[0]


def optimizers():
    new, old = tf.keras.optimizers, tf.keras.optimizers.legacy
    return {
        "sgd": lambda: new.SGD(0.1),
        "momentum": lambda: new.SGD(0.1, momentum=0.9, nesterov=True),
        "adam": lambda: new.Adam(0.01),
        "adamw": lambda: new.AdamW(0.01),
        "adamax": lambda: new.Adamax(0.01),
        "nadam": lambda: new.Nadam(0.01),
        "rmsprop": lambda: new.RMSprop(0.01),
        "adagrad": lambda: new.Adagrad(0.1),
        "adadelta": lambda: new.Adadelta(1.0),
        "ftrl": lambda: new.Ftrl(0.1),
        "legacy sgd": lambda: old.SGD(0.1, momentum=0.9),
        "legacy adam": lambda: old.Adam(0.01),
        "legacy adamax": lambda: old.Adamax(0.01),
        "legacy nadam": lambda: old.Nadam(0.01),
        "legacy adadelta": lambda: old.Adadelta(1.0),
        "lion": lambda: new.Lion(0.001),
        "adafactor": lambda: new.Adafactor(0.01),
        "legacy rmsprop": lambda: old.RMSprop(0.01),
        "legacy adagrad": lambda: old.Adagrad(0.1),
        "legacy ftrl": lambda: old.Ftrl(0.1),
    }


@pytest.mark.promise("twenty Keras optimisers, new and legacy")
@pytest.mark.parametrize("name", optimizers())
def test_optimizers_move_the_weights_alike(name):
    def trained():
        model = models.make("mlp")
        model.compile(optimizers()[name](), LOSS)
        for x, y in models.batches("mlp", 5):
            model.train_on_batch(x, y)
        return [v.numpy() for v in model.variables]

    for ours, theirs in zip(trained(), on_cpu(trained), strict=True):
        # Adam's step is near its largest where gradients are near zero, whatever their sign: hence the absolute part.
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5)


@pytest.mark.promise("Keras mixed_float16 and mixed_bfloat16 with loss scaling")
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("name", ["mlp", "cnn", "attention"])
def test_mixed_precision_stays_near(name, policy):
    def trained(policy):
        model = models.make(name, policy)
        before = models.weights(model)
        # A scale that does not overflow: a run that leaves out its first step is another training.
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(1e-3), initial_scale=1024)
        model.compile(optimizer, LOSS)
        losses = [float(model.train_on_batch(x, y)) for x, y in models.batches(name, 5)]
        return losses, movement.between(before, models.weights(model))

    (ours, moved), (theirs, exact) = trained(policy), on_cpu(trained, "float32")
    np.testing.assert_allclose(ours, theirs, rtol=0.02)
    movement.assert_alike(moved, exact)


# Models whose train steps as Keras makes them are looked at too; those of the others were run by hand above.
FITTED = ["cnn", "residual", "transformer"]


@pytest.mark.promise("a train step leaves nothing but its iterator to the host")
@pytest.mark.parametrize("name", FITTED)
def test_a_train_step_leaves_nothing_to_the_host(name):
    model = models.make(name)
    model.compile("adam", LOSS)
    x, y = models.batches(name, 1)[0]
    with hosted.nothing_but_feed(f"fit of {name}"):
        model.fit(x, y, batch_size=8, verbose=0)
    steps = [f for f in npu.open().report() if f["name"].startswith("__inference_train_function")]
    assert steps[-1]["peak_bytes"] <= 1.1 * steps[-1]["live_bytes"] + 4096


def test_a_loop_over_a_data_set_in_a_function():
    def epochs():
        model, optimizer = models.make("mlp"), tf.keras.optimizers.Adam(1e-3)
        batches = tf.data.Dataset.from_tensor_slices(models.batches("mlp", 1)[0]).batch(6)  # the last has 4
        mean = tf.keras.metrics.Mean()

        @tf.function
        def epoch():
            mean.reset_state()
            for x, y in batches:
                loss, found = gradients(model, x, y)
                found, norm = tf.clip_by_global_norm(found, 1.0)
                optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
                if norm > 0.1:
                    mean.update_state(loss)
            return mean.result()

        return [epoch().numpy() for _ in range(3)]

    with hosted.watched("for x, y in batches") as found:
        ours = epochs()
    assert set(found) <= hosted.FEED | {"PrefetchDataset", "OptionsDataset", "AnonymousIteratorV3", "MakeIterator"}
    np.testing.assert_allclose(ours, on_cpu(epochs), rtol=1e-5)


def test_sparse_gradients_of_a_table():
    """Rows that came up several times or not at all, with every kind of optimizer's sparse update."""
    words = np.array([[1, 1, 3], [7, 1, 0]])

    def trained(name):
        table = tf.Variable(np.random.default_rng(0).normal(size=(9, 4)).astype("float32"))
        optimizer = optimizers()[name]()

        @tf.function
        def step(i):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(table, i) ** 2)
            found = tape.gradient(loss, table)
            assert isinstance(found, tf.IndexedSlices)
            optimizer.apply_gradients([(found, table)])

        for i in range(3):
            step(words + i % 2)
        return table.numpy()

    for name in ("adam", "adagrad", "momentum", "rmsprop", *(n for n in optimizers() if "legacy" in n)):
        with hosted.nothing_but_feed(f"sparse {name}"):
            ours = trained(name)
        np.testing.assert_allclose(ours, on_cpu(trained, name), rtol=1e-5, atol=1e-6, err_msg=name)
