# SPDX-License-Identifier: Apache-2.0
"""What needs a process of its own: how it forks, is interrupted or ends while a session runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

HEAD = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import conftest, numpy as np
import tensorflow as tf
from both import session, tf1
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored

"""


@pytest.fixture
def start(tmp_path):
    """Starts a script; its output and errors are read together."""
    begun = []

    def start(code):
        (tmp_path / "script.py").write_text(HEAD + code)
        command = [sys.executable, "-u", "-W", "ignore", tmp_path / "script.py"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        begun.append(subprocess.Popen(command, cwd=tmp_path, text=True, env=os.environ, **pipes))
        return begun[-1]

    yield start
    for one in begun:
        one.kill()
        one.wait()


def ended(process, limit=120):
    out, _ = process.communicate(timeout=limit)
    assert process.returncode == 0, out[-3000:]
    return out


def test_forked_children(start):
    """One that goes on with the parent's session is told; one that is forked before has a session of its own."""
    out = ended(
        start("""
def child(body):
    pid = os.fork()
    if pid == 0:
        try:
            body()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
            os._exit(1)
    return os.waitpid(pid, 0)[1]

def own():
    with tf.Graph().as_default(), session() as run:
        assert run.run(tf.constant([1.0, 2.0]) * 2).tolist() == [2, 4]
        print("own session", flush=True)

assert child(own) == 0
v = tf1.get_variable("v", initializer=1.0)
run, more = session(), tf1.assign_add(v, 1.0)
run.run(v.initializer)

def told():
    for what in (lambda: run.run(more), lambda: run.run(v * 3), lambda: session()):
        try:
            what()
        except tf.errors.FailedPreconditionError as error:
            assert "forked after npu.open" in str(error) and "get_context('spawn')" in str(error), error
        else:
            raise AssertionError("no error")
    run.close()
    print("child told", flush=True)

assert child(told) == 0
assert run.run(more) == 2
run.close()
print("parent goes on")
""")
    )
    assert out.splitlines()[-3:] == ["own session", "child told", "parent goes on"]


def test_an_interrupt_ends_the_loop_and_the_session_goes_on(start):
    process = start("""
v = tf1.get_variable("v", initializer=tf.zeros([64, 64]))
step = tf1.while_loop(lambda i, _: i < 20, lambda i, a: (i + 1, tf.matmul(a, v) + 1.0), [0, v])[1]
with session() as run:
    run.run(v.initializer)
    run.run(step)
    print("ready", flush=True)
    runs = 0
    try:
        while True:
            run.run(step)
            runs += 1
    except KeyboardInterrupt:
        print("interrupted after runs:", runs > 0, flush=True)
    assert run.run(step).shape == (64, 64)
print("closed")
""")
    for _ in iter(process.stdout.readline, "ready\n"):
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert ended(process).split("\n")[:2] == ["interrupted after runs: True", "closed"]


def test_the_process_ends_while_a_session_runs(start):
    """Its threads are in runs, in a queue that nobody fills, and in one that is full; nothing was closed."""
    process = start("""
v = tf1.get_variable("v", initializer=tf.zeros([64, 64]))
step = tf1.assign(v, tf.matmul(v, v) + 1.0)
queue, full = (tf.queue.FIFOQueue(1, [tf.float32], [[]]) for _ in range(2))
run = session()
run.run([v.initializer, full.enqueue(1.0)])
take, put, started = queue.dequeue(), full.enqueue(2.0), threading.Event()

def forever(what):
    while True:
        run.run(what)
        started.set()

for what in (step, take, put):
    threading.Thread(target=forever, args=(what,), daemon=True).start()
assert started.wait(60)
print("main has ended", flush=True)
""")
    for _ in iter(process.stdout.readline, "main has ended\n"):
        assert process.poll() is None
    begun = time.monotonic()
    ended(process)
    print(f"\nended after {time.monotonic() - begun:.1f} s")
    assert time.monotonic() - begun < 8, "the end waits ten seconds for a run that does not end"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_save_that_is_interrupted_leaves_the_one_before(start, tmp_path, how):
    process = start("""
v = tf1.get_variable("v", initializer=tf.zeros([1 << 20]))
more, saver = tf1.assign_add(v, tf.ones([1 << 20])), tf1.train.Saver(max_to_keep=2)
with session() as run:
    run.run(v.initializer)
    for step in range(1, 10_000):
        run.run(more)
        saver.save(run, os.path.join(os.getcwd(), "saved"), step)
        if step == 3:
            print("ready", flush=True)
""")
    for line in iter(process.stdout.readline, "ready\n"):
        assert process.poll() is None, line
    time.sleep(0.1 + 0.05 * np.random.default_rng(how).random())
    process.send_signal(how)
    process.communicate(timeout=60)
    path = tf.train.latest_checkpoint(tmp_path)
    value = tf.train.load_checkpoint(path).get_tensor("v")
    assert (value == int(path.rpartition("-")[2])).all()


def test_a_session_that_waits_is_interrupted_by_another_thread(start):
    """Ctrl-C while the only thread waits in a queue: TensorFlow's own session does not return before it is closed."""
    process = start("""
queue = tf.queue.FIFOQueue(1, [tf.float32], [[]])
take, run = queue.dequeue(), session()
run.run(queue.size())
print("ready", flush=True)
signal.signal(signal.SIGALRM, lambda *_: None)
timer = threading.Timer(1.0, run.close)
timer.start()
try:
    run.run(take)
except tf.errors.OutOfRangeError as error:
    print("told", type(error).__name__)
""")
    assert "told OutOfRangeError" in ended(process)
