# SPDX-License-Identifier: Apache-2.0
"""Models of TensorFlow 1 in sessions on the NPU, compared with TensorFlow's own sessions as two runs of one framework
on two machines can be.

Resynchronised: before each step all variables of the CPU's session are copied to the others; the losses agree within
1e-5, and the NPU's gradients are no further from a float64 run than twice the further of TensorFlow's own two ways on
the CPU (a graph that Grappler has rewritten, and one as it is), plus 1e-6. Free-running: ten steps each on its own, as
far apart as 1e-5 for each step, or three times what TensorFlow is from itself (with its plain kernels, or without
Grappler)."""

import contextlib
import os
import pathlib
import subprocess
import sys

import driven
import models
import numpy as np
import pytest
import tensorflow as tf

STEPS = 10
NOT_SOON = ("dcgan", "queues")  # who learns nothing in ten steps
BY_RESOURCE = ("mlp", "resnet", "lstm", "sampled softmax", "wide and deep", "bert")  # by reference all of them are


@pytest.fixture(scope="module")
def made():
    """Models by name, with the variables that each begins with."""
    out = {}
    for name in models.MODELS:
        model = models.Model(name)
        out[name] = model, driven.first_state(model)
    return out


@pytest.fixture(scope="module")
def plain(made, tmp_path_factory):
    """Losses of the free-running models where TensorFlow has its plain kernels, which a process decides once."""
    folder = tmp_path_factory.mktemp("plain")
    for name, (_, start) in made.items():
        np.savez(folder / f"{name}.npz", *start)
    script = pathlib.Path(__file__).with_name("plain.py")
    command, environment = [sys.executable, script, folder, str(STEPS)], os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return {name: np.load(folder / f"{name}.npy") for name in made}


def distance(got, exact):
    return np.linalg.norm(got - exact) / np.linalg.norm(exact)


def resynchronised(name, model):
    exact = models.Model(name, tf.float64, use_resource=True)
    worst = np.zeros(3)  # of the losses, of the gradients, of the CPU's
    with contextlib.ExitStack() as stack:
        cpu, other, ours, reference = (
            stack.enter_context(driven.Side(*arguments))
            for arguments in ((model,), (model, False, False), (model, True), (exact,))
        )
        for side in (cpu, other, ours, reference):
            side.start()
        for batch in models.batches(name, STEPS):
            state = cpu.state()
            for side in (other, ours, reference):
                side.set(state)
            loss, found = ours.step(batch)
            wanted, graph = cpu.step(batch)
            far = reference.step(batch)[1]
            noise = max(distance(graph, far), distance(other.step(batch)[1], far))
            worst = np.maximum(worst, [(abs(loss - wanted) / abs(wanted)).max(), distance(found, far), noise])
            assert (abs(loss - wanted) <= 1e-5 * abs(wanted)).all()
            assert distance(found, far) <= 2 * noise + 1e-6
        ours.set(cpu.state())
        batch = models.batches(name, 1)[0]
        a, b = ours.evaluated(batch), cpu.evaluated(batch)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())
    print(
        f"\n{name}: losses apart by {worst[0]:.1e}, gradients from float64 by {worst[1]:.1e}, the CPU's {worst[2]:.1e}"
    )


@pytest.mark.promise(
    "sessions of TensorFlow 1 train as on the CPU: MLP, LeNet, ResNet-18, LSTM, GRU, word2vec, BERT, wide&deep, DCGAN"
)
@pytest.mark.parametrize("name", models.MODELS)
def test_each_step_computes_what_the_cpu_computes(name, made):
    resynchronised(name, made[name][0])


@pytest.mark.parametrize("name", BY_RESOURCE)
def test_each_step_on_variables_that_are_resources(name):
    resynchronised(name, models.Model(name, use_resource=True))


@pytest.mark.parametrize("name", models.MODELS)
def test_runs_freely_beside_the_cpu(name, made, plain):
    model, start = made[name]
    ours, theirs, other = (
        driven.losses(name, model, start, STEPS, **side) for side in ({"on_npu": True}, {}, {"grappler": False})
    )
    floor = np.maximum.accumulate(np.maximum(abs(theirs - plain[name]), abs(theirs - other)).max(1))
    apart = abs(ours - theirs).max(1)
    near = 1e-5 * (np.arange(STEPS) + 1) * np.maximum(1, abs(theirs).max(1))
    print(f"\n{name}: apart by {apart.max():.1e}, TensorFlow from itself by {floor.max():.1e}, "
          f"loss {theirs[0].round(3)} to {theirs[-1].round(3)}")  # fmt: skip
    assert (apart <= np.maximum(near, 3 * floor)).all()
    assert ours[-2:].sum() < ours[:2].sum() or name in NOT_SOON
