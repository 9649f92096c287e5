# SPDX-License-Identifier: Apache-2.0
"""What is noted down of scripts on the CPU, whose backward passes run in the thread that calls them."""

import gc
import threading

import pytest

torch = pytest.importorskip("torch")

from torch.nn.modules import module as hooks_of_modules  # noqa: E402
from torch.optim import optimizer as hooks_of_optimizers  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from anynpu.module.hooks import FORWARD, GRADIENT, KEPT, STEP, Hooks  # noqa: E402

GLOBAL = [
    hooks_of_modules._global_forward_hooks, hooks_of_modules._global_forward_pre_hooks,
    hooks_of_modules._global_forward_hooks_always_called,
    hooks_of_optimizers._global_optimizer_pre_hooks, hooks_of_optimizers._global_optimizer_post_hooks,
]  # fmt: skip


@pytest.fixture
def noted():
    """[(path, phase)], from here on."""
    kept, run, seen = [one.copy() for one in GLOBAL], torch.autograd._engine_run_backward, []
    hooks = Hooks(lambda text, phase: seen.append((text.decode(), phase)))
    hooks.begin()
    yield seen
    torch.autograd._engine_run_backward = run
    for one, before in zip(GLOBAL, kept, strict=True):
        one.clear()
        one.update(before)
    assert len(hooks.thread.open) == 1


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.act = torch.nn.Linear(4, 4), torch.nn.ReLU(inplace=True)

    def forward(self, x):
        return torch.tanh(self.act(self.fc(x))) + x


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def distinct(seen, phase):
    """Paths of a phase, each where it begins."""
    paths = [path for path, its in seen if its == phase]
    return [path for i, path in enumerate(paths) if i == 0 or paths[i - 1] != path]


def test_forward_is_noted_by_the_names_of_the_script(noted):
    network = Network()
    network(torch.ones(2, 4))
    block = ["network.layers.0", "network.layers.0.fc", "network.layers.0", "network.layers.0.act", "network.layers.0"]
    second = [path.replace(".0", ".1") for path in block]
    assert distinct(noted, FORWARD) == ["network", *block, "network", *second, "network", ""]


def test_the_gradient_is_of_the_module_that_called_the_operator(noted):
    network = Network()
    loss = network(torch.ones(2, 4)).sum()
    noted.clear()
    loss.backward()
    block = ["network.layers.1", "network.layers.1.act", "network.layers.1.fc"]
    first = [path.replace(".1", ".0") for path in block]
    assert distinct(noted, GRADIENT) == ["", *block, *first]  # tanh and + of a block are its own
    assert noted[-1] == ("", FORWARD)


def test_a_graph_that_is_kept_is_noted_in_each_pass(noted):
    network = torch.nn.Linear(4, 1)
    loss = network(torch.ones(2, 4)).sum()
    loss.backward(retain_graph=True)
    once = noted.count(("network", GRADIENT))
    loss.backward()
    assert once > 0 and noted.count(("network", GRADIENT)) == 2 * once


def test_a_step_of_an_optimizer_is_a_module(noted):
    network = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    other = torch.optim.SGD(network.parameters(), lr=0.1)
    network(torch.ones(2, 4)).sum().backward()
    noted.clear()
    optimizer.step()
    other.step()
    assert noted == [("SGD.step", STEP), ("", FORWARD), ("SGD.step (2)", STEP), ("", FORWARD)]


def test_what_a_closure_of_an_optimizer_calls_is_the_scripts(noted):
    network = torch.nn.Linear(4, 1)
    optimizer = torch.optim.LBFGS(network.parameters(), max_iter=1)

    def closure():
        optimizer.zero_grad()
        loss = network(torch.ones(2, 4)).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert ("network", FORWARD) in noted and noted[-1] == ("", FORWARD)


def test_an_exception_leaves_no_module_open(noted):
    class Fails(torch.nn.Module):
        def forward(self, x):
            raise ArithmeticError

    fails, network = Fails(), torch.nn.Linear(4, 1)
    with pytest.raises(ArithmeticError):
        torch.nn.Sequential(network, fails)(torch.ones(1, 4))
    noted.clear()
    network(torch.ones(1, 4))
    assert noted == [("network", FORWARD), ("", FORWARD)]


@pytest.mark.parametrize("reentrant", [True, False])
def test_what_is_computed_again_in_backward_is_noted(noted, reentrant):
    network = Network()
    x = torch.ones(2, 4, requires_grad=True)
    loss = checkpoint(network, x, use_reentrant=reentrant).sum()
    noted.clear()
    loss.backward()
    assert "network.layers.1.fc" in distinct(noted, FORWARD)
    assert {"network.layers.0.fc", "network.layers.1.fc"} <= set(distinct(noted, GRADIENT))
    assert noted[-1] == ("", FORWARD)


def test_threads_work_for_themselves(noted):
    network = Network()
    waiting, go_on = threading.Event(), threading.Event()

    def hold(*_):
        waiting.set()
        go_on.wait(10)

    handle = network.layers[0].act.register_forward_hook(hold)
    thread = threading.Thread(target=network, args=(torch.ones(1, 4),))
    thread.start()
    waiting.wait(10)
    handle.remove()
    other = torch.nn.Linear(4, 4)
    other(torch.ones(1, 4))
    go_on.set()
    thread.join()
    assert ("other", FORWARD) in noted and noted[-1] == ("", FORWARD)


def test_names_are_told_apart_and_are_free_again(noted):
    def call(network):
        network(torch.ones(1, 4))

    kept = torch.nn.Linear(4, 4)
    call(kept)
    call(torch.nn.Linear(4, 4))
    gc.collect()
    call(torch.nn.Linear(4, 4))
    assert distinct(noted, FORWARD)[::2] == ["network", "network (2)", "network (2)"]


def test_a_module_that_nobody_holds_has_the_name_of_its_class(noted):
    class Makes(torch.nn.Module):
        def forward(self, x):
            return torch.nn.Softmax(dim=-1)(x)

    makes = Makes()
    for _ in range(5):
        makes(torch.ones(1, 4))
    torch.nn.ReLU()(torch.ones(1))
    assert {path for path, _ in noted} == {"", "makes", "makes.Softmax", "ReLU"}


def test_an_attribute_of_self_is_a_name(noted):
    class Trainer:
        def __init__(self):
            self.generator = torch.nn.Linear(4, 4)

        def run(self):
            self.generator(torch.ones(1, 4))

    Trainer().run()
    assert noted[0] == ("generator", FORWARD)


def test_what_a_thread_has_worked_for_is_forgotten_at_last(noted):
    network = torch.nn.Identity()
    early = torch.nn.Linear(1, 1)(torch.ones(1))
    for _ in range(KEPT // 2 + 10):
        network(None)
    noted.clear()
    early.sum().backward()  # long ago: nobody's, and no error
    assert set(distinct(noted, GRADIENT)) == {""}


def test_numbers_stay_what_they_are(noted, monkeypatch):
    def train():
        torch.manual_seed(0)
        network = torch.nn.Sequential(Network(), torch.nn.Dropout(0.2), torch.nn.LSTM(4, 3, batch_first=True))
        optimizer = torch.optim.Adam(network.parameters())
        for _ in range(3):
            loss = network(torch.randn(2, 5, 4))[0].square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [one.detach() for one in network.parameters()]

    with_hooks = train()
    for one in GLOBAL:
        one.clear()
    monkeypatch.setattr(torch.autograd, "_engine_run_backward", torch.autograd.graph._engine_run_backward)
    assert noted and all(map(torch.equal, with_hooks, train()))
