# SPDX-License-Identifier: Apache-2.0
# Horovod and TensorFlow 2 with a loop of one's own and with Keras, in the style of its examples.
import argparse

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import tensorflow as tf

parser = argparse.ArgumentParser(description='Horovod')
parser.add_argument('--fp16-allreduce', action='store_true', default=False)
args = parser.parse_args()

# Horovod: initialize Horovod.
hvd.init()

# Horovod: pin GPU to be used to process local rank (one GPU per process)
gpus = tf.config.experimental.list_physical_devices('GPU')
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
if gpus:
    tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')

(mnist_images, mnist_labels), _ = tf.keras.datasets.mnist.load_data(path='mnist-%d.npz' % hvd.rank())
dataset = tf.data.Dataset.from_tensor_slices(
    (tf.cast(mnist_images[..., tf.newaxis] / 255.0, tf.float32), tf.cast(mnist_labels, tf.int64)))
dataset = dataset.repeat().shuffle(10000).batch(128)


def network():
    return tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, [3, 3], activation='relu', input_shape=(28, 28, 1)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation='softmax'),
    ])


mnist_model = network()
loss = tf.losses.SparseCategoricalCrossentropy()
scaler = hvd.size() if hvd.nccl_built() or hvd.mpi_enabled() else hvd.local_size()
opt = tf.optimizers.Adam(0.001 * scaler)
compression = hvd.Compression.fp16 if args.fp16_allreduce else hvd.Compression.none


@tf.function
def training_step(images, labels, first_batch):
    with tf.GradientTape() as tape:
        probs = mnist_model(images, training=True)
        loss_value = loss(labels, probs)

    # Horovod: add Horovod Distributed GradientTape.
    tape = hvd.DistributedGradientTape(tape, compression=compression)
    grads = tape.gradient(loss_value, mnist_model.trainable_variables)
    opt.apply_gradients(zip(grads, mnist_model.trainable_variables))
    if first_batch:
        hvd.broadcast_variables(mnist_model.variables, root_rank=0)
        hvd.broadcast_variables(opt.variables(), root_rank=0)
    return hvd.allreduce(loss_value, op=hvd.Average)


for batch, (images, labels) in enumerate(dataset.take(10000 // hvd.size())):
    loss_value = training_step(images, labels, batch == 0)
    if batch % 10 == 0 and hvd.local_rank() == 0:
        print('Step #%d\tLoss: %.6f' % (batch, loss_value))

keras_model = network()
keras_model.compile(loss=loss, optimizer=hvd_keras.DistributedOptimizer(
    tf.optimizers.Adam(0.001), backward_passes_per_step=1, average_aggregated_gradients=True))
keras_model.fit(dataset, steps_per_epoch=500 // hvd.size(),
                callbacks=[hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)],
                verbose=1 if hvd.rank() == 0 else 0)
hvd.shutdown()
