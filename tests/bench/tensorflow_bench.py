# SPDX-License-Identifier: Apache-2.0
"""The software NPU against TensorFlow CPU: the same steps on both sides, the same threads, one process.

Prints for every case the median of `time on the CPU / time on the NPU` over alternating pairs with its quartiles
(above 1: the NPU is faster), with the limit that it stands under and the share of it that each side reaches, where its
arithmetic can be counted (docs/speed.md), and, for every fusion pass that takes effect, that of `time without it / time
with it`; then what one operator and one call of a function cost.

python tests/bench/tensorflow_bench.py [--pairs 9] [--only WORD] [--json FILE]
"""

import os
import pathlib
import statistics
import sys
import time

import npu_device as npu
import numpy as np
import tensorflow as tf
from limit import Arithmetic
from npu_device.adapter import library
from result import Results, arguments, quiet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tensorflow"))
import models  # noqa: E402

LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
PLACES = {"cpu": "CPU", "npu": "/device:NPU:0"}
MIN_SECONDS = 0.05


def timed(function, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        function()
    return (time.perf_counter() - start) / rounds


def pairs(make, count):
    """Alternating timings: a list of (cpu, npu) seconds."""
    functions, rounds = {}, {}
    for side, place in PLACES.items():
        with tf.device(place):
            functions[side] = make()
            timed(functions[side], 5)
            rounds[side] = max(1, int(MIN_SECONDS / timed(functions[side], 3)))
    out = []
    for i in range(count):
        taken = {}
        for side in ("cpu", "npu") if i % 2 == 0 else ("npu", "cpu"):
            quiet()
            with tf.device(PLACES[side]):
                taken[side] = timed(functions[side], rounds[side])
        out.append((taken["cpu"], taken["npu"]))
    return out


def compiled(step, switches):
    """Compiles the step again, with these fusion switches; gives which passes took effect."""
    before = effective()
    library.switch_fusion(npu.open()._info, switches.encode())
    timed(step, 3)
    return [name for name, count in effective().items() if count > before.get(name, 0)]


def effective():
    out = {}
    for function in npu.open().report():
        for fusion in function["fusions"]:
            out[fusion["pass"]] = out.get(fusion["pass"], 0) + fusion["effective"]
    return out


def gains(make, count):
    """(pass, quartiles of time without it / time with it), for those that take effect. A switch takes effect when a
    function is compiled, so one function is timed and compiled again between."""
    with tf.device(PLACES["npu"]):
        step = make()
        passes = compiled(step, "")
        rounds = max(1, int(MIN_SECONDS / timed(step, 3)))
        for name in [*passes, "ALL"] if passes else []:
            ratios = []
            for i in range(count):
                taken = {}
                for switches in ("", f"{name}:off") if i % 2 == 0 else (f"{name}:off", ""):
                    compiled(step, switches)
                    taken[switches] = timed(step, rounds)
                ratios.append(taken[f"{name}:off"] / taken[""])
            yield name, statistics.quantiles(ratios, n=4)
        compiled(step, "")


def train_step(build, x, y, policy="float32"):
    """One step of Adam in a tf.function; the loss is read, so that the step has run."""

    def make():
        tf.keras.mixed_precision.set_global_policy(policy)
        model, optimizer = build(), tf.keras.optimizers.Adam(1e-3)
        tf.keras.mixed_precision.set_global_policy("float32")
        optimizer.build(model.trainable_variables)
        images, labels = tf.constant(x), tf.constant(y)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = LOSS(labels, model(images, training=True))
            found = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
            return loss

        def run():
            return step().numpy()

        run.function = step
        return run

    return make


# TensorFlow's profiler does not see what these compute.
UNCOUNTED = {"Einsum", "PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile"}


def work(make, dtype):
    """The arithmetic of a step; None where it cannot be counted."""
    with tf.device(PLACES["cpu"]):
        graph = make().function.get_concrete_function().graph
    if UNCOUNTED & {operation.type for operation in graph.get_operations()}:
        return None
    options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation() | {"output": "none"}
    return Arithmetic(dtype, tf.compat.v1.profiler.profile(graph, options=options).total_float_ops)


def resnet18():
    layers = tf.keras.layers

    def conv(x, filters, size, stride=1):
        return layers.BatchNormalization()(layers.Conv2D(filters, size, stride, "same", use_bias=False)(x))

    def block(x, filters, stride):
        y = conv(layers.ReLU()(conv(x, filters, 3, stride)), filters, 3)
        return layers.ReLU()(y + (conv(x, filters, 1, stride) if stride > 1 else x))

    inputs = layers.Input((64, 64, 3))
    x = layers.MaxPool2D(3, 2, "same")(layers.ReLU()(conv(inputs, 64, 7, 2)))
    for filters, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        x = block(x, filters, stride)
    return tf.keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


def encoder():
    layers = tf.keras.layers
    words = layers.Input((64,))
    x = layers.Embedding(100, 128)(words)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(8, 16)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(128)(layers.Dense(512, tf.nn.gelu)(x)))
    return tf.keras.Model(words, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def lstm():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Input((32, 32)), layers.LSTM(64), layers.Dense(10)])


def cases():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 64)
    digits = rng.normal(size=(64, 8, 8, 3)).astype("float32")
    yield "digits CNN + Adam step", train_step(models.cnn, digits, labels)
    yield "mixed_float16 CNN step", train_step(models.cnn, digits, labels, "mixed_float16")
    yield "ResNet-18 step", train_step(resnet18, rng.normal(size=(8, 64, 64, 3)).astype("float32"), labels[:8])
    yield "encoder step", train_step(encoder, rng.integers(0, 100, (8, 64)), labels[:8])
    yield "LSTM step", train_step(lstm, rng.normal(size=(64, 32, 32)).astype("float32"), labels)


LOOP = 50


def sunk_loop(count):
    """Milliseconds of a step that Python calls, and of the same step in a loop of a function, both on the NPU."""
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(64, 8, 8, 3)).astype("float32"), rng.integers(0, 10, 64)
    with tf.device(PLACES["npu"]):
        model, optimizer = models.cnn(), tf.keras.optimizers.Adam(1e-3)
        optimizer.build(model.trainable_variables)
        data = tf.data.Dataset.from_tensors((images, labels)).repeat()

        def train(x, y):
            with tf.GradientTape() as tape:
                loss = LOSS(y, model(x, training=True))
            found = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))

        one = tf.function(train)

        @tf.function
        def loop(iterator, steps):
            for _ in tf.range(steps):
                train(*next(iterator))

        single, many = iter(data), iter(data)

        def per_step():
            for _ in range(LOOP):
                one(*next(single))

        functions = {"calls": per_step, "loop": lambda: loop(many, tf.constant(LOOP))}
        taken = {name: [] for name in functions}
        for function in functions.values():
            timed(function, 1)
        for _ in range(count):
            for name, function in functions.items():
                taken[name].append(timed(function, 1) / LOOP)
    low, middle, high = statistics.quantiles([c / n for c, n in zip(*taken.values(), strict=True)], n=4)
    calls, sunk = (statistics.median(times) * 1e3 for times in taken.values())
    print(f"loop of {LOOP} CNN steps      {middle:5.2f}x [{low:.2f}, {high:.2f}]  NPU {sunk:8.2f} ms a step, "
          f"{calls:.2f} called one by one", flush=True)  # fmt: skip


def small_calls(count):
    """Microseconds of one operator, and of a function with one."""

    def adding(wrap):
        def make():
            a = tf.ones([8, 8])
            function = wrap(lambda: a + a)
            return function

        return make

    for name, wrap in (("a+b on 8x8", lambda f: f), ("tf.function of one node", tf.function)):
        cpu, npu_ = (statistics.median(side) * 1e6 for side in zip(*pairs(adding(wrap), count), strict=True))
        print(f"{name}: CPU {cpu:.1f} us, NPU {npu_:.1f} us, {npu_ - cpu:+.1f} us")


def main():
    options = arguments(__doc__)
    npu.open()
    threads = tf.config.threading.get_intra_op_parallelism_threads() or len(os.sched_getaffinity(0))
    results = Results("tensorflow", threads)
    for name, make in cases():
        if options.only not in name:
            continue
        counted = work(make, "fp16" if "float16" in name else "fp32")
        results.add(name, "steps", pairs(make, options.pairs), counted)
        for fusion, (low, middle, high) in gains(make, options.pairs):
            print(f"    {fusion:21s} {middle:5.2f}x [{low:.2f}, {high:.2f}] against without it", flush=True)
    results.close(options.json)
    if options.only in "loop":
        sunk_loop(options.pairs)
    small_calls(options.pairs)
    compiled = [f for f in npu.open().report() if f["nodes"] > 1000]
    for f in compiled:
        print(f"{f['nodes']} nodes compiled in {f['compile_ms']:.0f} ms, peak {f['peak_bytes'] / 2**20:.1f} MiB, "
              f"alive at once {f['live_bytes'] / 2**20:.1f} MiB")  # fmt: skip


if __name__ == "__main__":
    main()
