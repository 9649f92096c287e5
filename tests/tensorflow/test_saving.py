# SPDX-License-Identifier: Apache-2.0
"""What a trained model leaves behind is the same wherever it was trained, and goes on learning on either side."""

import csv

import models
import numpy as np
import pytest
import tensorflow as tf

keras = tf.keras
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
BATCHES = models.batches("cnn", 4)


def on(side):
    return tf.device("CPU" if side == "CPU" else "/device:NPU:0")


def compiled(seed_model="cnn"):
    model = models.make(seed_model)
    model.compile(keras.optimizers.Adam(0.01), LOSS, metrics=["accuracy"])
    return model


def train(model, batches):
    return [model.train_on_batch(x, y)[0] for x, y in batches]


@pytest.fixture(scope="module", params=[("NPU", "CPU"), ("CPU", "NPU")], ids="{0[0]} to {0[1]}".format)
def trained(request):
    """A side, the other side, and a model that made two steps on the first."""
    here, there = request.param
    with on(here):
        model = compiled()
        train(model, BATCHES[:2])
    return here, there, model


def evaluated(side, model):
    with on(side):
        return model.evaluate(*BATCHES[0], verbose=0)


def state(model):
    return [v.numpy() for v in [*model.variables, *model.optimizer.variables]]


def assert_same_weights(model, other, there):
    assert there in other.variables[0].device
    for a, b in zip(model.variables, other.variables, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def assert_goes_on_alike(here, model, there, other):
    """`other` is the same model `there`, and learns the same. Puts `model` back as it was."""
    assert_same_weights(model, other, there)
    kept = state(model)
    for a, b in zip(kept, state(other), strict=True):
        np.testing.assert_array_equal(a, b)
    with on(here):
        losses = train(model, BATCHES[2:])
        for v, value in zip([*model.variables, *model.optimizer.variables], kept, strict=True):
            v.assign(value)
    with on(there):
        np.testing.assert_allclose(train(other, BATCHES[2:]), losses, rtol=1e-4)


@pytest.mark.promise("models saved on the NPU load on the CPU, and the other way")
@pytest.mark.parametrize("form", [".keras", ".h5", ""])
def test_a_whole_model(trained, form, tmp_path):
    here, there, model = trained
    path = str(tmp_path / f"model{form}")
    with on(here):
        model.save(path)
    with on(there):
        other = keras.models.load_model(path)
    if form:
        return assert_goes_on_alike(here, model, there, other)
    assert_same_weights(model, other, there)  # a SavedModel keeps no state of the optimizer, on the CPU neither
    with on(there):
        np.testing.assert_allclose(other.evaluate(*BATCHES[0], verbose=0), evaluated(here, model), rtol=1e-5)


@pytest.mark.parametrize("form", [".weights.h5", ".h5", ".tf"])
def test_weights(trained, form, tmp_path):
    here, there, model = trained
    path = str(tmp_path / f"w{form}").removesuffix(".tf")
    with on(here):
        model.save_weights(path)
    with on(there):
        other = models.make("cnn")
        other.variables[0].assign_add(tf.ones_like(other.variables[0]))
        other.load_weights(path)
    assert_same_weights(model, other, there)


def test_checkpoints(trained, tmp_path):
    here, there, model = trained
    with on(here):
        step = tf.Variable(0, dtype=tf.int64)
        saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer, step=step)
        manager = tf.train.CheckpointManager(saved, str(tmp_path), max_to_keep=2)
        for _ in range(3):
            step.assign_add(1)
            manager.save()
        assert len(manager.checkpoints) == 2
    with on(there):
        other, steps = compiled(), tf.Variable(0, dtype=tf.int64)
        back = tf.train.Checkpoint(model=other, optimizer=other.optimizer, step=steps)
        manager = tf.train.CheckpointManager(back, str(tmp_path), max_to_keep=2)
        restored = back.restore(manager.restore_or_initialize())
        other.optimizer.build(other.trainable_variables)
        restored.assert_existing_objects_matched()
        assert int(steps) == 3
    assert_goes_on_alike(here, model, there, other)


def test_a_saved_function_runs_anywhere(trained, tmp_path):
    here, there, model = trained
    with on(here):

        class Served(tf.Module):
            def __init__(self):
                self.model = model

            @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3])])
            def __call__(self, x):
                return tf.nn.softmax(self.model(x))

        tf.saved_model.save(Served(), str(tmp_path))
        wanted = Served()(BATCHES[0][0]).numpy()
    with on(there):
        again = tf.saved_model.load(str(tmp_path))
        np.testing.assert_allclose(again(tf.constant(BATCHES[0][0])).numpy(), wanted, rtol=1e-5, atol=1e-6)


def callbacks(folder):
    c = keras.callbacks
    return [
        c.TensorBoard(str(folder / "board"), histogram_freq=1),
        c.ModelCheckpoint(str(folder / "best.keras"), monitor="val_loss", save_best_only=True),
        c.ModelCheckpoint(str(folder / "weights"), save_weights_only=True),
        c.CSVLogger(str(folder / "log.csv")),
        c.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
        c.ReduceLROnPlateau(monitor="loss", patience=1),
        c.EarlyStopping(monitor="val_loss", min_delta=1.0, patience=1, restore_best_weights=True),
        c.TerminateOnNaN(),
    ]


def written(folder):
    """(step, tag) of all a TensorBoard callback wrote."""
    found = set()
    for file in (folder / "board").rglob("events*"):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            found |= {(event.step, value.tag) for value in event.summary.value}
    return found


def test_fit_with_callbacks(tmp_path):
    (x, y), (xt, yt) = BATCHES[:2]

    def fitted(side):
        folder = tmp_path / side
        folder.mkdir()
        with on(side):
            model = compiled()
            done = model.fit(x, y, batch_size=6, epochs=4, validation_data=(xt, yt), shuffle=False, verbose=0,
                             callbacks=callbacks(folder))  # fmt: skip
            best = keras.models.load_model(folder / "best.keras")
            told = model.evaluate(xt, yt, verbose=0)
            return done.history, best.evaluate(xt, yt, verbose=0), told, model.predict(xt, verbose=0)

    ours, theirs = fitted("NPU"), fitted("CPU")
    assert ours[0].keys() == theirs[0].keys() >= {"loss", "val_accuracy", "lr"}
    assert len(ours[0]["loss"]) < 4  # stopped early
    for a, b in zip(ours, theirs, strict=True):
        values = (list(one.values()) if isinstance(one, dict) else one for one in (a, b))
        np.testing.assert_allclose(*values, rtol=1e-3, atol=1e-4)
    rows = [list(csv.reader((tmp_path / side / "log.csv").read_text().splitlines())) for side in ("NPU", "CPU")]
    np.testing.assert_allclose(*(np.array(r[1:], float) for r in rows), rtol=1e-3, atol=1e-4)
    assert rows[0][0] == rows[1][0]
    assert written(tmp_path / "NPU") == written(tmp_path / "CPU")
    assert any("kernel" in tag for _, tag in written(tmp_path / "NPU"))
