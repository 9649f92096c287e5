# SPDX-License-Identifier: Apache-2.0
"""Sessions of TensorFlow 1 run on the CPU; that is said, and what to do."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

pytestmark = pytest.mark.usefixtures("nothing_said")


def product(device=""):
    graph = tf.Graph()
    with graph.as_default(), tf.device(device or None):
        x = tf.constant([[2.0]])
        return graph, tf.matmul(x, x)


def test_a_session_tells_once_that_it_is_on_the_cpu():
    graph, y = product()
    words = r"tf\.compat\.v1\.Session.* computes on the CPU.*enable_v1\(\).*runs on the NPU"
    with pytest.warns(UserWarning, match=words):
        first = tf.compat.v1.Session(graph=graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = tf.compat.v1.Session(graph=graph)
    assert first.run(y) == second.run(y) == 4


def test_an_npu_in_a_graph_gives_a_hint():
    graph, y = product("/NPU:0")
    with (
        pytest.warns(UserWarning, match="computes on the CPU"),
        tf.compat.v1.Session(graph=graph, config=tf.compat.v1.ConfigProto()) as told,
        pytest.raises(
            tf.errors.InvalidArgumentError, match=r"device:NPU:0(.|\n)*a session has no NPU: leave tf\.device"
        ) as error,
    ):
        told.run(y)
    assert error.value.message.count("a session has no NPU") == 1


def test_other_errors_stay_as_they_are():
    graph = tf.Graph()
    with graph.as_default():
        y = tf.linalg.inv(tf.zeros([2, 2]))
    with (
        pytest.warns(UserWarning, match="computes on the CPU"),
        tf.compat.v1.Session(graph=graph) as told,
        pytest.raises(tf.errors.InvalidArgumentError, match="not invertible") as error,
    ):
        told.run(y)
    assert "NPU" not in error.value.message


def test_soft_placement_runs_on_the_cpu():
    graph, y = product("/NPU:0")
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    with pytest.warns(UserWarning, match=r"computes on the CPU.*tf\.device\('/NPU:0'\) in its graph has no effect"):
        assert tf.compat.v1.Session(graph=graph, config=config).run(y) == 4


def test_an_estimator_tells_too(tmp_path):
    def data():
        return tf.data.Dataset.from_tensors(({"x": np.ones((4, 1), "f")}, np.ones((4, 1), "f")))

    estimator = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], model_dir=str(tmp_path))
    with pytest.warns(UserWarning, match=r"tf\.estimator.* computes on the CPU"):
        estimator.train(data, steps=1)
