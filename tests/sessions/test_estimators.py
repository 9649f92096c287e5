# SPDX-License-Identifier: Apache-2.0
"""Estimators on the NPU: TensorFlow's own with a session configuration, canned ones, NPUEstimator in loops."""

import npu_device
import numpy as np
import pytest
import tensorflow as tf
from both import same, tf1
from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator

columns = tf.feature_column


def configuration(on_npu):
    config = tf1.ConfigProto()
    optimizer = config.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    optimizer.parameter_map["use_off_line"].b = on_npu
    return tf.estimator.RunConfig(tf_random_seed=5, session_config=config)


def people(repeated=True):
    rng = np.random.RandomState(2)
    age, town = rng.rand(96).astype("f"), rng.randint(0, 3, 96)
    label = (age * 3 + town > 2.5).astype("i")
    features = {"age": age, "town": np.array(["a", "b", "c"])[town]}
    data = tf.data.Dataset.from_tensor_slices((features, label))
    return (data.repeat() if repeated else data).batch(32, drop_remainder=True)


def age():
    return columns.numeric_column("age")


def town():
    return columns.categorical_column_with_vocabulary_list("town", ["a", "b", "c"])


CANNED = {
    "linear": lambda **named: tf1.estimator.LinearClassifier([age(), town()], **named),
    "deep": lambda **named: tf1.estimator.DNNClassifier(
        [8, 4], [age(), columns.indicator_column(town())], optimizer="Adam", **named
    ),
    "wide and deep": lambda **named: tf1.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=[town()],
        dnn_feature_columns=[age(), columns.embedding_column(town(), 2)],
        dnn_hidden_units=[8],
        **named,
    ),
    "regressor": lambda **named: tf1.estimator.DNNRegressor([6], [age()], **named),
}


@pytest.mark.promise("canned estimators on feature columns train on the NPU as on the CPU")
@pytest.mark.parametrize("kind", CANNED)
def test_a_canned_estimator_trains_as_on_the_cpu(kind, tmp_path):
    found = {}
    for on_npu in (False, True):
        made = CANNED[kind](model_dir=str(tmp_path / str(on_npu)), config=configuration(on_npu))
        made.train(people, steps=20)
        measured = made.evaluate(lambda: people(False))
        answers = list(made.predict(lambda: people(False)))[:8]
        key = "predictions" if kind == "regressor" else "logits"
        found[on_npu] = (measured, [one[key] for one in answers])
    assert found[False][0]["global_step"] == 20
    same(found[True], found[False], 2e-4)


def model_fn(features, labels, mode):
    net = tf1.layers.dense(features["x"], 8, tf.nn.relu)
    y = tf1.layers.dense(net, 1, name="y")
    if mode == "infer":
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": y})}
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y}, export_outputs=outputs)
    loss = tf1.losses.mean_squared_error(labels, y)
    tf1.summary.scalar("told", loss)
    train_op = tf1.train.AdamOptimizer(0.01).minimize(loss, tf1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    x = np.random.RandomState(0).rand(64, 3).astype("f")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True))).batch(8).repeat()


def receiver():
    x = tf1.placeholder(tf.float32, [None, 3])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


class Runs(tf1.train.SessionRunHook):
    """The global step after each run of the training operation."""

    def __init__(self):
        self.steps = []

    def after_run(self, context, values):
        self.steps.append(int(context.session.run(tf1.train.get_global_step(context.session.graph))))


def told(folder):
    """{step: value} of the summaries."""
    events = [e for path in folder.glob("events*") for e in tf1.train.summary_iterator(str(path))]
    return {e.step: v.simple_value for e in events for v in e.summary.value if v.tag == "told"}


@pytest.mark.promise("an estimator in loops ends where one that goes step by step ends")
def test_an_estimator_in_loops_ends_where_one_by_steps_ends(tmp_path):
    """Ten steps in loops of four: 4, 4 and 2. What is trained, evaluated, predicted and exported is the same."""
    found = {}
    for name, more in (("steps", {}), ("loops", {"iterations_per_loop": 4})):
        config = NPURunConfig(tf_random_seed=5, save_summary_steps=4, save_checkpoints_steps=4, **more)
        made, runs = NPUEstimator(model_fn, str(tmp_path / name), config), Runs()
        made.train(data, steps=10, hooks=[runs])
        measured = made.evaluate(data, steps=3)
        answers = [next(iter(made.predict(data)))["y"]]
        saved = made.export_saved_model(str(tmp_path / f"{name}-saved"), receiver)
        with tf.Graph().as_default(), tf1.Session() as run:
            io = tf1.saved_model.load(run, ["serve"], saved.decode()).signature_def["serving_default"]
            served = run.run(io.outputs["y"].name, {io.inputs["x"].name: np.ones([2, 3])})
        found[name] = measured, answers, served
        assert runs.steps == (list(range(1, 11)) if name == "steps" else [4, 8, 10])
        assert (tmp_path / name / "model.ckpt-10.index").exists()
    same(found["loops"], found["steps"], 1e-5)
    by_steps, in_loops = (told(tmp_path / name) for name in ("steps", "loops"))
    assert set(in_loops) <= {1, 2, 4, 8, 9, 10} and len(in_loops) >= 2, in_loops


def test_training_and_evaluation_in_turns_and_a_warm_start(tmp_path):
    config = NPURunConfig(tf_random_seed=5, save_checkpoints_steps=4, iterations_per_loop=2)
    made = NPUEstimator(model_fn, str(tmp_path / "turns"), config)
    train, evaluate = tf.estimator.TrainSpec(data, max_steps=8), tf.estimator.EvalSpec(data, steps=2, throttle_secs=0)
    measured, _ = tf.estimator.train_and_evaluate(made, train, evaluate)
    assert measured["global_step"] == 8
    warm = NPUEstimator(model_fn, str(tmp_path / "warm"), config, warm_start_from=str(tmp_path / "turns"))
    warm.train(data, steps=2)
    assert abs(warm.get_variable_value("y/kernel") - made.get_variable_value("y/kernel")).max() < 0.05
    assert warm.get_variable_value("global_step") == 2


class Report(tf1.train.SessionRunHook):
    """The largest part of the report that was not there before."""

    part = None

    def begin(self):
        self._before = {part["name"] for part in npu_device.open().report()}

    def end(self, session):
        fresh = [part for part in npu_device.open().report() if part["name"] not in self._before]
        self.part = max(fresh, key=lambda part: part["nodes"])


def test_steps_of_an_estimator_run_on_the_npu(tmp_path):
    made, report = tf.estimator.Estimator(model_fn, str(tmp_path), configuration(True)), Report()
    made.train(data, steps=2, hooks=[report])
    assert report.part["native_nodes"] > 20
    assert {one["op"] for one in report.part["host"]} <= {"IteratorGetNext", "ScalarSummary", "MergeSummary"}
