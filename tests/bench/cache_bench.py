# SPDX-License-Identifier: Apache-2.0
"""What the compile cache saves: functions of real training steps are compiled with and without what an earlier process
kept, in alternating pairs, each in a library of its own as a process has that has just begun. TensorFlow makes the
functions; what is timed is the engine: reading them, the passes (or the cache), the plan, and the first run with all
that it prepares.

python tests/bench/cache_bench.py [--pairs 7] [--only WORD] [--first]    (--first: the first run too)
"""

import argparse
import ctypes as C
import itertools
import os
import shutil
import statistics
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from anynpu.library import place  # noqa: E402
from tensorflow.core.framework import op_def_pb2  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

keras, layers = tf.keras, tf.keras.layers
DTYPES = {tf.float32: 0, tf.int32: 3, tf.int64: 9, tf.bool: 12}  # aclDataType


def encoder():
    x = inputs = layers.Input((16, 32))
    for _ in range(24):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 8)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(32)(layers.Dense(64, "gelu")(x)))
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x))), (4, 16, 32), "adam"


def resnet():
    return keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10), (2, 64, 64, 3), "sgd"


def unrolled(layer, steps):
    return keras.Sequential([layers.Input((steps, 8)), layer(8, unroll=True), layers.Dense(10)]), (4, steps, 8), "adam"


def looped():
    rnn = [layers.RNN(layers.GRUCell(8), return_sequences=True) for _ in range(3)]
    return keras.Sequential([layers.Input((50, 8)), *rnn, layers.Flatten(), layers.Dense(10)]), (4, 50, 8), "adam"


def small():
    return keras.Sequential([layers.Input((8,)), layers.Dense(8, "relu"), layers.Dense(10)]), (4, 8), "adam"


MODELS = {
    "ResNet-50": resnet,
    "encoder of 24 layers": encoder,
    "LSTM, 100 steps unrolled": lambda: unrolled(layers.LSTM, 100),
    "GRU, 200 steps unrolled": lambda: unrolled(layers.GRU, 200),
    "three GRUs as loops": looped,
    "two dense layers": small,
}


def training_step(make):
    """The concrete function of a step, what it is called with, who keeps its variables, and seconds of tracing."""
    keras.utils.set_random_seed(0)
    model, shape, name = make()
    optimizer = keras.optimizers.get(name)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, model(x, training=True)))
        found = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
        return loss

    x, y = tf.random.normal(shape), tf.zeros(shape[0], tf.int32)
    start = time.perf_counter()
    concrete = step.get_concrete_function(x, y)
    return concrete, [x, y], (model, optimizer), time.perf_counter() - start


def definitions(concrete):
    """All functions that a step reaches."""
    return [*concrete.graph.as_graph_def().library.function, concrete.function_def]


def signatures(functions):
    """Of the operators in them."""
    known = {node.op: op_def_registry.get(node.op) for function in functions for node in function.node_def}
    return op_def_pb2.OpList(op=[op for op in known.values() if op is not None]).SerializeToString()


class Engine:
    """The C interface, with values as it takes them."""

    def __init__(self):
        self.library = C.CDLL(str(place.libraries() / place.CORE))
        self.library.anynpu_recent_reason.restype = C.c_char_p
        self.kept = []  # memory of tensors

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments):
            raise RuntimeError(self.library.anynpu_recent_reason().decode())

    def tensor(self, value):
        array = np.asarray(value.numpy())
        self.kept.append(array)
        sizes = (C.c_int64 * max(array.ndim, 1))(*array.shape)
        out = C.c_void_p()
        data = C.c_void_p(array.ctypes.data)
        self.call("anynpu_value_tensor", DTYPES[value.dtype], array.ndim, sizes, data, None, None, C.byref(out))
        return out

    def variable(self, value):
        out = C.c_void_p()
        self.call("anynpu_value_variable", 0, C.byref(out))
        self.call("anynpu_variable_assign", out, self.tensor(value))
        return out

    def create(self, operators):
        out = C.c_void_p()
        self.call("anynpu_library_create", 0, operators, C.c_size_t(len(operators)), None, None, C.byref(out))
        return out


class Case:
    """A step that can be compiled again and again."""

    def __init__(self, engine, make):
        self.engine = engine
        concrete, tensors, self.keepers, self.tracing = training_step(make)
        functions = definitions(concrete)
        self.name, self.operators = concrete.function_def.signature.name, signatures(functions)
        self.definitions = [one.SerializeToString() for one in functions]
        by_handle = {id(v.handle): v for v in concrete.variables}
        captured = [by_handle.get(id(one)) for one in concrete.captured_inputs]
        values = [engine.tensor(one) for one in tensors] + [
            engine.tensor(given) if one is None else engine.variable(one)
            for one, given in zip(captured, concrete.captured_inputs, strict=True)
        ]
        self.inputs = (C.c_void_p * len(values))(*values)
        self.outputs = (C.c_void_p * len(concrete.outputs))()

    def seconds(self, folder, first):
        """Of reading, of compiling and, where it is asked for, of the first run."""
        call, library = self.engine.call, self.engine.create(self.operators)
        if folder:
            call("anynpu_library_keep", library, b"enable", folder.encode())
        times = [time.perf_counter()]
        for one in self.definitions:
            call("anynpu_library_add", library, one, C.c_size_t(len(one)))
        times.append(time.perf_counter())
        arguments = library, self.name.encode(), self.inputs, C.c_size_t(len(self.inputs))
        call("anynpu_library_compile", *arguments)
        times.append(time.perf_counter())
        if first:
            call("anynpu_library_run", *arguments, self.outputs, C.c_size_t(len(self.outputs)))
            times.append(time.perf_counter())
        self.engine.library.anynpu_library_destroy(library)
        return [after - before for before, after in itertools.pairwise(times)]


def shown(name, case, pairs, folder, first):
    case.seconds(folder, first), case.seconds(folder, first)  # fills it; both sides have met the memory
    found = [(case.seconds("", first), case.seconds(folder, first)) for _ in range(pairs)]
    parts = [" + ".join(f"{1e3 * statistics.median(pair[side][i] for pair in found):.1f}" for i in range(2 + first))
             for side in (0, 1)]  # fmt: skip
    low, middle, high = statistics.quantiles([sum(cold[:2]) / sum(kept[:2]) for cold, kept in found], n=4)
    compiled = statistics.median(cold[1] / kept[1] for cold, kept in found)
    bytes = sum(file.stat().st_size for file in os.scandir(f"{folder}/kernel_cache") if file.name.endswith(".o"))
    return (f"{name:26s} {middle:5.2f}x [{low:.2f}, {high:.2f}], compiling alone {compiled:5.2f}x; ms cold {parts[0]}, "
            f"kept {parts[1]}; {bytes / 1024:.0f} KiB; TensorFlow traced it for {case.tracing:.1f} s")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    engine = Engine()
    print(f"reading + compiling{' + first run' if options.first else ''}, cold against kept:")
    for name, make in MODELS.items():
        if options.only not in name:
            continue
        folder = tempfile.mkdtemp()
        try:
            print(shown(name, Case(engine, make), options.pairs, folder, options.first), flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
