# SPDX-License-Identifier: Apache-2.0
"""Whole scripts as processes that train together: the guide's residual network (10.2.9, 10.2.10), started by a rank
table and by CM_*, and scripts of several GPUs as the migration writes them anew."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from ranks import PACKAGES, alone, same, start, table, together, weights
from test_guide import write_records

HERE = Path(__file__).resolve().parent
SHOWS_ITS_FILE = "import runpy, sys\nsys.argv = {argv!r}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"


def runs(path, *arguments):
    """The text that runs a script, whose source autograph reads."""
    return SHOWS_ITS_FILE.format(argv=[str(path), *arguments])


def told(processes):
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(outputs)[-4000:]
    return [json.loads(next(line for line in output.splitlines() if line.startswith('{"'))) for output in outputs]


def test_the_guides_network_trains_by_a_rank_table_and_by_cm(tmp_path):
    write_records(tmp_path)
    command = runs(HERE / "guide/resnet_ctl.py", f"--data_dir={tmp_path}", "--train_steps=32",
                   "--distribution_strategy=one_device", "--use_tf_while_loop=true", "--steps_per_loop=16",
                   "--batch_size=4", "--skip_eval")  # fmt: skip
    shared = {"NPU_LOOP_SIZE": "16", "TF_CPP_MIN_LOG_LEVEL": "2"}
    listed = {"RANK_TABLE_FILE": table(tmp_path, [0, 1]), "RANK_SIZE": "2"}
    by_table = [start(command, **shared, **listed, RANK_ID=str(i), ASCEND_DEVICE_ID=str(i)) for i in range(2)]
    first = told(by_table)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    chief = {"CM_CHIEF_IP": "127.0.0.1", "CM_CHIEF_PORT": port, "CM_CHIEF_DEVICE": "0", "CM_WORKER_IP": "127.0.0.1"}
    by_cm = [start(command, **shared, **chief, CM_WORKER_SIZE="2", ASCEND_DEVICE_ID=str(i)) for i in range(2)]
    second = told(by_cm)
    assert [one["steps"] for one in first] == [32, 32] and [one["place"][-1] for one in first] == ["0", "1"]
    assert all(one["sums"] == first[0]["sums"] for one in first + second), "all ranks end with the same bits"
    assert first == second, "the same ranks, however they are named"
    means = [sum(one["loops"][i]["train_loss"] for one in first) / 2 for i in range(2)]
    print("losses of the loops on 2 ranks:", [one["loops"] for one in first])
    assert first[0]["loops"] != first[1]["loops"] and means[1] < means[0], "each on its own part of the records"


# What no tool does is done by hand, as the guide says: each process takes its part of the data.
STRATEGIES = """
import json
import os

import numpy as np
import tensorflow as tf

rank, count = int(os.environ.get("RANK_ID", "0")), int(os.environ.get("RANK_SIZE", "1"))
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 6)).astype(np.float32)[rank::count]
y = rng.integers(0, 3, 64)[rank::count]


def create_model():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(8, activation="relu", input_shape=(6,)), layers.Dense(3)])


tf.keras.utils.set_random_seed(1 + rank)
strategy = tf.distribute.MirroredStrategy()
BATCH_SIZE = 16 // count * strategy.num_replicas_in_sync
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH_SIZE, drop_remainder=True)
distributed = strategy.experimental_distribute_dataset(dataset)
with strategy.scope():
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    model = create_model()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)


def replica_step(images, labels):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(losses(labels, model(images)), global_batch_size=BATCH_SIZE)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(images, labels):
    each = strategy.run(replica_step, args=(images, labels))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, each, axis=None)


values = [float(train_step(*batch)) for batch in distributed]

workers = tf.distribute.MultiWorkerMirroredStrategy()
with workers.scope():
    net = create_model()
    net.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss=tf.keras.losses.SparseCategoricalCrossentropy(True))
net.fit(dataset, epochs=2, verbose=0)
print("WEIGHTS", json.dumps([[w.tolist() for w in m.get_weights()] for m in (model, net)]), flush=True)
with tf.device("/gpu:0"):
    placed = tf.Variable(1.0)
print("PLACE", *(v.device for v in (model.trainable_variables[0], net.trainable_variables[0], placed)), flush=True)
"""

HOROVOD = """
import json

import horovod.tensorflow as hvd
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main():
    hvd.init()
    data = np.random.RandomState(0).randn(64, 8).astype("f")[hvd.rank() :: hvd.size()]
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable("w", initializer=np.full([8, 1], 1.0 + hvd.rank(), np.float32))
    loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
    opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1))
    step = opt.minimize(loss, global_step=tf.train.get_or_create_global_step())
    hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=8)]
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    share = 8 // hvd.size()
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as session:
        for i in range(8):
            part = data[share * i : share * (i + 1)]
            _, trained = session.run([step, w], {x: part, y: 2 * part[:, :1] + 1})
    print("WEIGHTS", json.dumps(trained.tolist()), flush=True)


if __name__ == "__main__":
    main()
"""

HOROVOD_2 = """
import json

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as keras_hvd
import numpy as np
import tensorflow as tf

hvd.init()
gpus = tf.config.list_physical_devices("GPU")
if gpus:
    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 6)).astype(np.float32)[hvd.rank() :: hvd.size()]
y = rng.integers(0, 3, 64)[hvd.rank() :: hvd.size()]
share = 16 // hvd.size() if not hvd.nccl_built() else 1
compression = hvd.Compression.fp16 if hvd.mpi_enabled() else hvd.Compression.none
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def create_model():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(8, activation="relu", input_shape=(6,)), layers.Dense(3)])


tf.keras.utils.set_random_seed(1 + hvd.rank())
model, optimizer, unused = create_model(), tf.keras.optimizers.Adam(0.01), tf.Variable(1.0)


@tf.function
def step(images, labels):
    with tf.GradientTape() as tape:
        value = loss(labels, model(images))
    tape = hvd.DistributedGradientTape(tape, compression=compression)
    gradients = tape.gradient(value, [*model.trainable_variables, unused])
    assert gradients[-1] is None
    optimizer.apply_gradients(zip(gradients[:-1], model.trainable_variables))
    return hvd.allreduce(value, name="value")


hvd.broadcast_variables(model.variables, root_rank=0)
values = [float(step(x[i : i + share], y[i : i + share])) for i in range(0, len(x), share)]

net = create_model()
net.compile(optimizer=keras_hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss=loss)
callbacks = [keras_hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
net.fit(x, y, batch_size=share, epochs=2, shuffle=False, callbacks=callbacks, verbose=1 if hvd.rank() == 0 else 0)
print("VALUES", json.dumps(values), flush=True)
print("WEIGHTS", json.dumps([[w.tolist() for w in m.get_weights()] for m in (model, net)]), flush=True)
print("PLACE", model.trainable_variables[0].device, flush=True)
"""


def migrated(folder, text, *options):
    source, made = folder / "source.py", folder / "made.py"
    source.write_text(text)
    tools = os.pathsep.join([str(HERE.parents[1] / "tools"), *map(str, PACKAGES)])
    command = [sys.executable, "-m", "anynpu", "migrate", source, "-o", made, *options]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": tools}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def trains_as_one(made, folder):
    first, second = outputs = together(runs(made), folder)
    assert weights(first) == weights(second), "ranks end with the same bits"
    same(weights(first), weights(alone(runs(made))), 1e-5)
    return outputs


def test_scripts_over_strategies_train_as_migrated(tmp_path):
    outputs = trains_as_one(migrated(tmp_path, STRATEGIES, "-d", "tf_strategy"), tmp_path)
    for rank, output in enumerate(outputs):
        places = output.split("PLACE ")[1].split()
        assert [place[-5:] for place in places] == [f"NPU:{rank}"] * 3, places


def test_a_script_over_horovod_trains_as_migrated(tmp_path):
    trains_as_one(migrated(tmp_path, HOROVOD, "-c", "-d", "horovod"), tmp_path)


def test_a_script_over_horovod_and_tensorflow_2_trains_as_migrated(tmp_path):
    made = migrated(tmp_path, HOROVOD_2, "-d", "horovod")
    assert "hvd" not in made.read_text()
    for rank, output in enumerate(trains_as_one(made, tmp_path)):
        assert output.split("PLACE ")[1].split()[0].endswith(f"NPU:{rank}")
