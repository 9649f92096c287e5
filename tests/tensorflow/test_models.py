# SPDX-License-Identifier: Apache-2.0
"""Keras -> frozen graph -> atc -> .om -> AscendCL: the way to deployment of the migration guide, without TensorFlow
from the .pb on."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from anynpu.infer import InferSession
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

layers = tf.keras.layers
ATC = Path(sys.executable).with_name("atc")
# Of the largest number of an output: float32 that is added up in another order, float16 through all layers.
CLOSE = {"must_keep_origin_dtype": 1e-4, "force_fp16": 2e-2}


def resnet():
    """Two residual blocks; normalisation that has seen data."""
    x = inputs = layers.Input((32, 32, 3))
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(16, 3, padding="same", use_bias=False)(x)))
    for width, stride in ((16, 1), (32, 2)):
        y = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        y = layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same", use_bias=False)(y))
        side = x if stride == 1 else layers.Conv2D(width, 1, stride)(x)
        x = layers.ReLU()(layers.add([y, side]))
    return tf.keras.Model(inputs, layers.Dense(10, "softmax")(layers.GlobalAveragePooling2D()(x)))


def encoder():
    """A layer of BERT over embeddings of words."""
    inputs = layers.Input((24,), dtype=tf.int32)
    x = layers.LayerNormalization()(layers.Embedding(100, 32)(inputs))
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 8)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(32)(layers.Dense(128, tf.keras.activations.gelu)(x)))
    return tf.keras.Model(inputs, layers.Dense(3)(x[:, 0]))


def lstm():
    inputs = layers.Input((12, 8))
    x = layers.LSTM(16)(layers.LSTM(16, return_sequences=True)(inputs))
    return tf.keras.Model(inputs, layers.Dense(4)(x))


def example(model):
    shape, random = (2, *model.inputs[0].shape[1:]), np.random.default_rng(0)
    if model.inputs[0].dtype == tf.int32:
        return random.integers(0, 100, shape, np.int32)
    return random.standard_normal(shape, np.float32)


def frozen(model, x, path):
    """The graph with variables as constants, as the guides freeze it; gives the name of its input."""
    function = tf.function(model).get_concrete_function(tf.TensorSpec(x.shape, x.dtype, name="x"))
    graph = convert_variables_to_constants_v2(function, lower_control_flow=False).graph.as_graph_def()
    path.write_bytes(graph.SerializeToString())
    return next(node.name for node in graph.node if node.op == "Placeholder")


@pytest.mark.promise("Frozen graphs of Keras models (ResNet, BERT, LSTM) become .om files whose results are Keras'")
@pytest.mark.parametrize("make", [resnet, encoder, lstm])
def test_a_frozen_model_gives_what_keras_gives(make, tmp_path):
    tf.keras.utils.set_random_seed(1)
    with tf.device("/device:CPU:0"):
        model = make()
        for variable in model.variables:
            if "moving_variance" in variable.name:
                variable.assign(tf.random.uniform(variable.shape, 0.5, 1.5))
        x = example(model)
        wanted = model(x, training=False).numpy()
        name = frozen(model, x, tmp_path / "model.pb")
    for mode, close in CLOSE.items():
        shape = ",".join(map(str, x.shape))
        command = [ATC, "--framework=3", f"--model={tmp_path}/model.pb", f"--output={tmp_path}/model"]
        command += ["--soc_version=Ascend910B1", f"--input_shape={name}:{shape}", f"--precision_mode={mode}"]
        said = subprocess.run(command, capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr
        with InferSession(0, f"{tmp_path}/model.om") as session:
            (got,) = session.infer([x])
        apart = np.abs(got - wanted).max() / np.abs(wanted).max()
        print(f"{make.__name__} {mode}: {apart:.1e} of the largest")
        assert apart <= close


def test_a_graph_with_variables_is_refused_with_the_way_to_freeze_it(tmp_path):
    with tf.device("/device:CPU:0"):
        graph = tf.function(lstm()).get_concrete_function(tf.TensorSpec((2, 12, 8), tf.float32)).graph.as_graph_def()
    (tmp_path / "model.pb").write_bytes(graph.SerializeToString())
    command = [ATC, "--framework=3", f"--model={tmp_path}/model.pb", f"--output={tmp_path}/model"]
    said = subprocess.run([*command, "--soc_version=Ascend910B1"], capture_output=True, text=True)
    assert said.returncode != 0 and "ATC run failed" in said.stdout + said.stderr
    print(said.stderr)
    assert "convert_variables_to_constants_v2" in said.stderr
