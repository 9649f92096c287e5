# SPDX-License-Identifier: Apache-2.0
"""Sessions of TensorFlow 1 on the software NPU against TensorFlow's own on the CPU: the same graphs, the same threads,
one process, alternating runs. Above 1 the NPU is faster.

Prints steps of models, each with the limit that it stands under and the share of it that both sides reach where its
arithmetic can be counted (docs/speed.md), the training of an Estimator, what a run costs that computes nothing, and
steps sunk into one run against as many runs on the NPU; then what was aimed at, met or missed.

python tests/bench/session_bench.py [--pairs 9] [--only WORD] [--json FILE]
"""

import gc
import os
import statistics
import tempfile
import time
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
warnings.simplefilter("ignore")

import npu_device  # noqa: E402
import numpy as np  # noqa: E402
import session_models as models  # noqa: E402
import tensorflow as tf  # noqa: E402
from limit import Arithmetic  # noqa: E402
from npu_device.session import iterations  # noqa: E402
from result import Results, arguments, quiet  # noqa: E402

tf1 = tf.compat.v1
SIDES = ("cpu", "npu")
THREADS = len(os.sched_getaffinity(0))
MIN_SECONDS = 0.1
MODELS = {
    "LeNet, 64 pictures": models.lenet,
    "ResNet-18, 16 pictures of 32x32": models.resnet18,
    "dynamic_rnn, 64 sequences of 28": models.dynamic_rnn,
    "word2vec, sampled softmax": models.word2vec,
}
LOOP = 100
ESTIMATOR_STEPS = 200


def config(side):
    out = tf1.ConfigProto(intra_op_parallelism_threads=THREADS)
    optimizer = out.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    optimizer.parameter_map["use_off_line"].b = side == "npu"
    return out


def timed(function, rounds=1):
    start = time.perf_counter()
    for _ in range(rounds):
        function()
    return (time.perf_counter() - start) / rounds


def pairs(functions, count):
    """Alternating timings of two functions: a list of pairs of seconds."""
    rounds = []
    for function in functions:
        timed(function, 5)
        rounds.append(max(1, int(MIN_SECONDS / timed(function, 3))))
    out = []
    for i in range(count):
        taken = {}
        for which in (0, 1) if i % 2 == 0 else (1, 0):
            quiet()
            taken[which] = timed(functions[which], rounds[which])
        out.append((taken[0], taken[1]))
    return out


def on_both(graph, fetches, feeds, count):
    """Alternating runs of one graph in a session on each side."""
    with graph.as_default():
        initializer = tf1.global_variables_initializer()
    sessions = [tf1.Session(graph=graph, config=config(side)) for side in SIDES]
    for session in sessions:
        session.run(initializer)
    try:
        return pairs([lambda s=session: s.run(fetches, feeds) for session in sessions], count)
    finally:
        for session in sessions:
            session.close()


def work(graph):
    """The arithmetic of a step; None where it cannot be counted."""
    if any(operation.type == "Enter" for operation in graph.get_operations()):
        return None
    options = tf1.profiler.ProfileOptionBuilder.float_operation() | {"output": "none"}
    return Arithmetic("fp32", tf1.profiler.profile(graph, options=options).total_float_ops)


def steps(options, results):
    for name, build in MODELS.items():
        if options.only not in name:
            continue
        with tf.Graph().as_default() as graph:
            fetches, feeds = build(np.random.default_rng(0))
        results.add(name, "steps", on_both(graph, fetches, feeds, options.pairs), work(graph))


def estimator(options, results):
    name = f"Estimator, {ESTIMATOR_STEPS} steps"
    if options.only not in name:
        return
    rng = np.random.default_rng(0)
    data = {"image": rng.normal(size=(512, 28, 28, 1)).astype(np.float32)}, models.classes(rng, 512)

    def train(side):
        with tempfile.TemporaryDirectory() as folder:
            run = tf1.estimator.RunConfig(folder, session_config=config(side), log_step_count_steps=None)
            made = tf1.estimator.Estimator(models.estimated, config=run)
            gc.collect()  # what the run before it left is not its own
            return timed(lambda: made.train(batches, steps=ESTIMATOR_STEPS))

    def batches():
        return tf1.data.Dataset.from_tensor_slices(data).repeat().batch(32, drop_remainder=True)

    for side in SIDES:
        train(side)
    taken = []
    for i in range(options.pairs):
        seconds = {side: train(side) for side in (SIDES if i % 2 == 0 else SIDES[::-1])}
        taken.append((seconds["cpu"], seconds["npu"]))
    results.add(name, "estimator", taken)


def overhead(options):
    """What runs cost that compute nothing; whether the NPU's cost no more."""
    with tf.Graph().as_default() as graph:
        constant = tf.constant(1.0)
        fed = tf1.placeholder(tf.float32, [8])
        same = tf.identity(fed)
    cases = {"a constant": (constant, None), "one feed, one fetch": (same, {fed: np.ones(8, np.float32)})}
    for name, (fetches, feeds) in cases.items():
        taken = on_both(graph, fetches, feeds, options.pairs)
        cpu, npu = (statistics.median(side) * 1e6 for side in zip(*taken, strict=True))
        yield f"a run of {name}: CPU {cpu:.0f} us, NPU {npu:.0f} us; at most TensorFlow's", npu <= cpu


def sunk(options):
    """How much faster steps are that one run repeats inside of the engine."""
    with tf.Graph().as_default() as graph:
        train = models.read_by_itself(np.random.default_rng(0))
        one, many = tf.group(train), tf.group(train)
        iterations.mark(many, LOOP)
        initializer = tf1.global_variables_initializer()
    with tf1.Session(graph=graph, config=config("npu")) as session:
        session.run(initializer)

        def called():
            for _ in range(LOOP):
                session.run(one)

        taken = pairs([called, lambda: session.run(many)], options.pairs)
    low, middle, high = statistics.quantiles([c / s for c, s in taken], n=4)
    each = [statistics.median(side) / LOOP * 1e6 for side in zip(*taken, strict=True)]
    return (
        f"{LOOP} steps in one run: {middle:.2f}x [{low:.2f}, {high:.2f}], {each[1]:.0f} us a step, "
        f"{each[0]:.0f} us in runs of their own; at least 1.2x",
        middle >= 1.2,
    )


def fast_enough(results):
    for row in results.rows:
        if row["name"].split(",")[0] in ("LeNet", "ResNet-18", "dynamic_rnn"):
            yield f"{row['name']}: {row['ratio'][1]:.2f}x; at least 1.5x", row["ratio"][1] >= 1.5


def main():
    options = arguments(__doc__)
    tf1.logging.set_verbosity(tf1.logging.ERROR)
    npu_device.compat.enable_v1()
    results = Results("sessions", THREADS)
    steps(options, results)
    estimator(options, results)
    results.close(options.json)
    aims = list(fast_enough(results))
    if options.only in "overhead":
        aims += overhead(options)
    if options.only in "sunk loop":
        aims.append(sunk(options))
    for sentence, met in aims:
        print(f"{'met   ' if met else 'missed'} {sentence}")


if __name__ == "__main__":
    main()
