# SPDX-License-Identifier: Apache-2.0
"""Keras in a session of TensorFlow 1: set_session, fit, train_on_batch, a layer and a loss of one's own, weights saved
and loaded, and its tensors run by hand."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
keras = tf.keras
K = tf.keras.backend


class Scale(keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", shape=(int(input_shape[-1]),), initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.scale


def rounded_loss(y_true, y_pred):
    return K.mean(K.square(y_pred - y_true), axis=-1) + 0.01 * K.mean(K.abs(y_pred))


def build():
    def start(seed):
        return keras.initializers.glorot_uniform(seed=seed)

    inputs = keras.Input((10,))
    net = keras.layers.Dense(16, activation="relu", kernel_initializer=start(1))(inputs)
    net = keras.layers.BatchNormalization(momentum=0.9)(net)
    net = Scale()(net)
    outputs = keras.layers.Dense(2, kernel_initializer=start(2))(net)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss=rounded_loss, metrics=["mae"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    steps = parser.parse_args().steps
    config = tf.ConfigProto(allow_soft_placement=True)
    sess = tf.Session(config=config)
    K.set_session(sess)
    tf.set_random_seed(110)
    rng = np.random.RandomState(111)
    x = rng.randn(16 * steps, 10).astype(np.float32)
    y = (x @ rng.randn(10, 2)).astype(np.float32)
    model = build()

    class Tell(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            print("loss[%d] %.9g" % (batch + 1, logs["loss"]))

    model.fit(x, y, batch_size=16, epochs=1, shuffle=False, verbose=0, callbacks=[Tell()])
    loss, error = model.train_on_batch(x[:16], y[:16])
    print("train_on_batch %.9g" % loss)
    print("mean_error %.9g" % error)
    print("evaluated %.9g" % model.evaluate(x, y, batch_size=32, verbose=0)[0])
    predicted = model.predict(x[:8])
    print("predicted %.9g" % np.abs(predicted).sum())
    same = sess.run(model.output, {model.input: x[:8], K.learning_phase(): 0})
    print("run_difference %.9g" % np.abs(same - predicted).max())
    path = os.path.join(tempfile.mkdtemp(), "weights.h5")
    model.save_weights(path)
    rate = K.get_value(model.optimizer.lr)
    K.clear_session()
    K.set_session(tf.Session(config=config))
    other = build()
    other.load_weights(path)
    print("loaded_difference %.9g" % np.abs(other.predict(x[:8]) - predicted).max())
    print("learning_rate %.9g" % rate)


if __name__ == "__main__":
    main()
