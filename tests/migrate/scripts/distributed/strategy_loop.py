# SPDX-License-Identifier: Apache-2.0
"""Distributed custom training loop, and Keras beside it, for several machines."""
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'
import numpy as np
import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(2)
gpus = tf.config.list_physical_devices('GPU')
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)

strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
GLOBAL_BATCH_SIZE = 16 * strategy.num_replicas_in_sync

rng = np.random.default_rng(3)
images = rng.standard_normal((96, 8, 8, 1)).astype('float32')
labels = rng.integers(0, 10, 96)


def seeded(shape, dtype=None):
    return tf.constant(np.random.default_rng(sum(shape)).standard_normal(shape) * 0.1, dtype)


def create_model():
    return tf.keras.Sequential([
        tf.keras.layers.Conv2D(8, 3, activation='relu', kernel_initializer=seeded, input_shape=(8, 8, 1)),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation='relu', kernel_initializer=seeded),
        tf.keras.layers.Dense(10, kernel_initializer=seeded),
    ])


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
dist_dataset = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE)
    model = create_model()
    optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)


def compute_loss(labels, predictions):
    return tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=GLOBAL_BATCH_SIZE)


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        loss = compute_loss(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_distributed(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


def main():
    for step, batch in enumerate(dist_dataset, 1):
        print('step %d loss %.9g' % (step, train_distributed(batch)))


if __name__ == '__main__':
    main()
    with strategy.scope():
        keras_model = create_model()
        keras_model.compile(optimizer=tf.keras.optimizers.SGD(lr=0.1), loss=tf.keras.losses.MeanSquaredError())
    keras_model.fit(images, tf.one_hot(labels, 10), batch_size=16, epochs=2)
