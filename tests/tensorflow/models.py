# SPDX-License-Identifier: Apache-2.0
"""Small Keras models of the kinds people train, without dropout: what is random is tested on its own."""

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
CLASSES = 10


def images(rng):
    return rng.normal(size=(16, 8, 8, 3)), rng.integers(0, CLASSES, 16)


def series(rng):
    return rng.normal(size=(16, 7, 5)), rng.integers(0, CLASSES, 16)


def words(rng):
    return rng.integers(0, 20, (16, 12)), rng.integers(0, CLASSES, 16)


def many_words(rng):
    return rng.integers(0, 20, (4, 1024)), rng.integers(0, CLASSES, 4)


def pixels(rng):
    return rng.normal(size=(4, 8, 8, 3)), rng.integers(0, CLASSES, (4, 8, 8))


def sentences(rng):
    """Source and target side by side, ended by zeros; the target's words are to be told from those before them."""
    both = rng.integers(1, 20, (8, 12))
    both[:, 5], both[:4, 11] = 0, 0
    return both, rng.integers(0, CLASSES, (8, 6))


def mlp():
    return tf.keras.Sequential(
        [layers.Input((8, 8, 3)), layers.Flatten(), layers.Dense(32, "relu"), layers.Dense(CLASSES)]
    )


def cnn():
    return tf.keras.Sequential(
        [
            layers.Input((8, 8, 3)),
            layers.Conv2D(8, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPool2D(),
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(CLASSES),
        ]
    )


def residual():
    def block(x, filters, stride):
        y = layers.Conv2D(filters, 3, stride, "same", use_bias=False)(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        y = layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same", use_bias=False)(y))
        return layers.ReLU()(y + layers.Conv2D(filters, 1, stride, "same")(x))

    x = inputs = layers.Input((8, 8, 3))
    for filters, stride in ((8, 1), (16, 2)):
        x = block(x, filters, stride)
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x)))


def mobile():
    x = inputs = layers.Input((8, 8, 3))
    x = layers.ReLU(6.0)(layers.BatchNormalization()(layers.Conv2D(8, 1)(x)))
    x = layers.ReLU(6.0)(layers.BatchNormalization()(layers.DepthwiseConv2D(3, 2, "same")(x)))
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.AveragePooling2D(2)(x)[:, 0, 0]))


def lstm():
    return tf.keras.Sequential([layers.Input((7, 5)), layers.LSTM(6), layers.Dense(CLASSES)])


def gru():
    return tf.keras.Sequential([layers.Input((7, 5)), layers.Masking(), layers.GRU(6), layers.Dense(CLASSES)])


def bidirectional():
    return tf.keras.Sequential([layers.Input((7, 5)), layers.Bidirectional(layers.LSTM(4)), layers.Dense(CLASSES)])


def attention():
    inputs = layers.Input((12,))
    x = layers.Embedding(20, 8)(inputs)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True))
    x = layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(16, tf.nn.gelu)(x)))
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)))


def long():
    """So many words that their attention does not keep its scores."""
    inputs = layers.Input((1024,))
    x = layers.Embedding(20, 8)(inputs)
    x = x + layers.MultiHeadAttention(1, 4)(x, x, use_causal_mask=True)
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)))


def cell():
    return tf.keras.Sequential([layers.Input((7, 5)), layers.RNN(layers.LSTMCell(6)), layers.Dense(CLASSES)])


def masked():
    """Sentences of different lengths: a zero is no word."""
    return tf.keras.Sequential(
        [
            layers.Input((12,)),
            layers.Embedding(20, 5, mask_zero=True),
            layers.LSTM(4),
            layers.Dense(CLASSES),
        ]
    )


def unet():
    def convolved(x, filters):
        return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)

    inputs = layers.Input((8, 8, 3))
    high = convolved(inputs, 4)
    middle = convolved(layers.MaxPool2D()(high), 8)
    low = convolved(layers.MaxPool2D()(middle), 16)
    x = convolved(layers.Concatenate()([middle, layers.Conv2DTranspose(8, 2, 2)(low)]), 8)
    x = convolved(layers.Concatenate()([high, layers.UpSampling2D()(x)]), 4)
    return tf.keras.Model(inputs, layers.Conv2D(CLASSES, 1)(x))


def transformer():
    """An encoder and a decoder that sees no later word."""

    def added(x, y):
        return layers.LayerNormalization()(x + y)

    def feed_forward(x):
        return added(x, layers.Dense(8)(layers.Dense(16, "relu")(x)))

    def embedded(x):
        positions = tf.cumsum(tf.ones_like(x), 1, exclusive=True)
        return layers.Embedding(20, 8, mask_zero=True)(x) + layers.Embedding(6, 8)(positions)

    inputs = layers.Input((12,))
    source, target = embedded(inputs[:, :6]), embedded(inputs[:, 6:])
    seen = feed_forward(added(source, layers.MultiHeadAttention(2, 4)(source, source)))
    x = added(target, layers.MultiHeadAttention(2, 4)(target, target, use_causal_mask=True))
    x = feed_forward(added(x, layers.MultiHeadAttention(2, 4)(x, seen)))
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(x))


MODELS = {
    "mlp": (mlp, images),
    "cnn": (cnn, images),
    "residual": (residual, images),
    "mobile": (mobile, images),
    "lstm": (lstm, series),
    "gru": (gru, series),
    "bidirectional": (bidirectional, series),
    "attention": (attention, words),
    "long": (long, many_words),
    "cell": (cell, series),
    "masked": (masked, words),
    "unet": (unet, pixels),
    "transformer": (transformer, sentences),
}


def make(name, dtype="float32"):
    """The model of this name with the weights of seed 0, whatever its dtype."""
    build = MODELS[name][0]
    tf.keras.backend.clear_session()
    tf.keras.mixed_precision.set_global_policy(dtype)
    try:
        model = build()
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    rng = np.random.default_rng(0)
    for variable in model.variables:
        fresh = rng.uniform(-0.5, 0.5, variable.shape)
        old = variable.numpy()
        # Scales, offsets and statistics of normalisation start where Keras puts them.
        variable.assign(old if old.ndim < 2 else fresh.astype(old.dtype))
    return model


def weights(model):
    return {v.name: v.numpy() for v in model.trainable_variables}


def batches(name, count):
    rng = np.random.default_rng(1)
    out = []
    for _ in range(count):
        x, y = MODELS[name][1](rng)
        out.append((x.astype("float32"), y))
    return out
