# SPDX-License-Identifier: Apache-2.0
"""tf.keras with Horovod's callbacks: broadcast, averaged metrics, a warm-up of the learning rate."""
import tensorflow as tf
import horovod.tensorflow.keras as hvd, numpy as np


def train():
    hvd.init()
    gpus = tf.config.experimental.list_physical_devices('GPU')
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')

    images = np.random.rand(512, 28, 28).astype('float32')
    labels = np.random.randint(0, 10, 512)
    dataset = tf.data.Dataset.from_tensor_slices((tf.cast(images[..., tf.newaxis], tf.float32), labels))
    dataset = dataset.shard(hvd.size(), hvd.rank()).repeat().shuffle(10000).batch(128)

    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, [3, 3], activation='relu', input_shape=(28, 28, 1)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation='softmax'),
    ])
    opt = tf.compat.v1.keras.optimizers.Adam(0.001 * hvd.size())
    opt = hvd.DistributedOptimizer(opt, backward_passes_per_step=1, average_aggregated_gradients=True)
    model.compile(loss='sparse_categorical_crossentropy', optimizer=opt, metrics=['accuracy'],
                  experimental_run_tf_function=False)
    callbacks = [
        hvd.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd.callbacks.MetricAverageCallback(),
        hvd.callbacks.LearningRateWarmupCallback(initial_lr=0.001, warmup_epochs=3, verbose=1),
    ]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint('./checkpoint-{epoch}.h5'))
    model.fit(dataset, steps_per_epoch=500 // hvd.size(), callbacks=callbacks, epochs=24,
              verbose=1 if hvd.rank() == 0 else 0)


if __name__ == '__main__':
    train()
