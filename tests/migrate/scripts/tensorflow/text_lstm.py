# SPDX-License-Identifier: Apache-2.0
"""Sentiment of short texts with an embedding and an LSTM."""
import random

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel('ERROR')

GOOD = 'good fine great lovely bright happy'.split()
BAD = 'bad poor sad dull grey broken'.split()
OTHER = 'the a film plot was and it very with this but story actor'.split()
MAX_TOKENS = 40
SEQUENCE_LENGTH = 12
EMBEDDING = 24


def make_texts(count, rng):
    texts, labels = [], []
    for _ in range(count):
        label = rng.randrange(2)
        words = [rng.choice(OTHER) for _ in range(rng.randint(4, 9))]
        words += [rng.choice(GOOD if label else BAD) for _ in range(2)]
        rng.shuffle(words)
        texts.append(' '.join(words))
        labels.append(label)
    return texts, np.array(labels, dtype='float32')


def build(vectorize):
    model = tf.keras.Sequential([
        tf.keras.layers.Embedding(len(vectorize.get_vocabulary()), EMBEDDING, mask_zero=True),
        tf.keras.layers.LSTM(16),
        tf.keras.layers.Dense(16, activation='relu'),
        tf.keras.layers.Dense(1),
    ])
    model.compile(loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  optimizer=tf.keras.optimizers.Adam(1e-3, clipnorm=1.0))
    return model


if __name__ == '__main__':
    devices = tf.config.list_physical_devices('GPU')
    if len(devices) > 0:
        tf.config.experimental.set_memory_growth(devices[0], True)
        print('GPU', devices[0].name)
    random.seed(1)
    tf.random.set_seed(1)
    texts, labels = make_texts(48, random.Random(1))
    vectorize = tf.keras.layers.TextVectorization(MAX_TOKENS, output_sequence_length=SEQUENCE_LENGTH)
    vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(16))

    tokens = vectorize(tf.constant(texts)).numpy()
    model = build(vectorize)
    for step in range(3):
        batch = slice(16 * step, 16 * (step + 1))
        loss = model.train_on_batch(tokens[batch], labels[batch])
        print(f'step {step + 1} loss {loss:.8g}')
