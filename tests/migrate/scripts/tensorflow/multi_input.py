# SPDX-License-Identifier: Apache-2.0
"""
Functional model with two inputs and two outputs: the title of a ticket and its tags give its priority and department.
"""
import os
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

num_tags, num_words, num_departments = 12, 100, 4


def get_model():
    title_input = keras.Input(shape=(10,), name="title")
    tags_input = keras.Input(shape=(num_tags,), name="tags")
    title_features = layers.Embedding(num_words, 16)(title_input)
    title_features = layers.GlobalAveragePooling1D()(layers.Conv1D(16, 3, activation="relu")(title_features))
    tags_features = layers.Dense(16, activation="selu")(tags_input)
    x = layers.concatenate([title_features, tags_features])
    priority_pred = layers.Dense(1, name="priority")(x)
    department_pred = layers.Dense(num_departments, name="department")(x)
    return keras.Model(inputs=[title_input, tags_input], outputs=[priority_pred, department_pred])


def main():
    print("Num GPUs Available: ", len(tf.config.experimental.list_physical_devices("GPU")))
    gpus = tf.config.list_physical_devices("GPU")
    [tf.config.experimental.set_memory_growth(gpu, True) for gpu in gpus]
    random.seed(21)
    tf.random.set_seed(21)
    rng = np.random.default_rng(21)
    model = get_model()
    model.compile(
        optimizer=keras.optimizers.RMSprop(lr=1e-3),
        loss={
            "priority": keras.losses.BinaryCrossentropy(from_logits=True),
            "department": keras.losses.CategoricalCrossentropy(from_logits=True),
        },
        loss_weights={"priority": 1.0, "department": 0.2},
    )
    title_data = rng.integers(num_words, size=(48, 10))
    tags_data = rng.integers(2, size=(48, num_tags)).astype("float32")
    priority = rng.integers(2, size=(48, 1)).astype("float32")
    department = np.eye(num_departments, dtype="float32")[rng.integers(num_departments, size=48)]
    for step in range(3):
        i = slice(step * 16, step * 16 + 16)
        losses = model.train_on_batch(
            {"title": title_data[i], "tags": tags_data[i]},
            {"priority": priority[i], "department": department[i]},
            return_dict=True,
        )
        print(f"step {step + 1} loss {losses['loss']:.8g}")


if __name__ == "__main__":
    main()
