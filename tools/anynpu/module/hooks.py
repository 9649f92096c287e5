# SPDX-License-Identifier: Apache-2.0
"""Notes down when a thread begins to work for another module, by hooks that PyTorch calls for all modules and all
optimizers. They look at nothing that is computed and return nothing, so results stay what they are, to the bit.

The gradient of an operator belongs to the module that had called the operator: autograd numbers its nodes in the order
in which a thread makes them, and what the thread worked for at each number is kept. As a backward pass begins, each
node of it gets a hook. Full backward hooks of modules would be simpler; but they put views between modules, which
operators that work in place then refuse."""

import threading
from bisect import bisect_right

import torch

from anynpu.module.place import Outside, Step

FORWARD, GRADIENT, STEP = range(3)  # the phases of anynpu/profile.h
KEPT = 1 << 17  # of what a thread has worked for: some hundred steps of a large network
IN_PLACE_OF_A_NUMBER = 1 << 62  # from here on nodes have none: those that only add up the gradient of a parameter


class Thread(threading.local):
    """What a thread works for: the innermost last. And since which number of its nodes."""

    def __init__(self, outside):
        self.open = [(outside, FORWARD)]
        self.numbers, self.places = [], []


class Hooks:
    def __init__(self, note):
        """`note(text, phase)` is told when that changes, in the thread."""
        self.note = note
        self.outside = Outside()
        self.thread = Thread(self.outside)
        self.steps, self.called = {}, {}  # by ids

    def now(self, place, phase):
        self.note(place.text, phase)
        here = self.thread
        if len(here.numbers) >= KEPT:
            del here.numbers[: KEPT // 2], here.places[: KEPT // 2]
        here.numbers.append(torch.autograd._get_sequence_nr())
        here.places.append(place)

    def push(self, place, phase):
        self.thread.open.append((place, phase))
        self.now(place, phase)

    def pop(self, owner):
        """Back to what called it. Those that an exception has left without their hook are inside of it."""
        here = self.thread.open
        at = next((i for i in range(len(here) - 1, 0, -1) if here[i][0].module() is owner), None)
        if at is not None:
            del here[at:]
            self.now(*here[-1])

    def place_in(self, module):
        """Of a module that is called now; what is computed again in a backward pass has its place of the first time."""
        place, phase = self.thread.open[-1]
        known = self.called.get(id(module)) if phase == GRADIENT else None
        if known is None or known.module() is not module:
            known = self.called[id(module)] = (self.outside if phase == GRADIENT else place).of(module)
        return known

    def before_module(self, module, _):
        if not torch.compiler.is_compiling():
            self.push(self.place_in(module), FORWARD)

    def after_module(self, module, *_):
        if not torch.compiler.is_compiling():
            self.pop(module)

    def before_step(self, optimizer, *_):
        self.pop(optimizer)  # where an exception has ended its last step
        known = self.steps.get(id(optimizer))
        if known is None or known.module() is not optimizer:
            known = self.steps[id(optimizer)] = Step(optimizer, self.outside)
        self.push(known, STEP)

    def after_step(self, optimizer, *_):
        self.pop(optimizer)

    def place_of(self, number):
        """Of a node of autograd. One that another thread has made, or so long ago that it is forgotten, is nobody's."""
        at = bisect_right(self.thread.numbers, number)
        return self.thread.places[at - 1] if at else self.outside

    def hook_of(self, place):
        if place.enter is None:

            def enter(_):
                self.thread.open[:] = [(place, GRADIENT)]
                self.note(place.text, GRADIENT)

            place.enter = enter
        return place.enter

    def hook_graph(self, outputs):
        """Each node that a backward pass from `outputs` may come to; gives what takes the hooks away."""
        waiting = [node for node in map(node_of, outputs) if node is not None]
        seen, handles = set(waiting), []
        while waiting:
            node = waiting.pop()
            number = node._sequence_nr()
            if number < IN_PLACE_OF_A_NUMBER:
                handles.append(node.register_prehook(self.hook_of(self.place_of(number))))
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return handles

    def backward(self, run):
        """The function of PyTorch that all backward passes go through, with what belongs around it."""

        def run_backward(outputs, *arguments, **named):
            if torch.compiler.is_compiling():
                return run(outputs, *arguments, **named)
            handles, before = self.hook_graph(outputs), list(self.thread.open)
            try:
                return run(outputs, *arguments, **named)
            finally:
                for handle in handles:  # a graph that is kept gets new ones in its next pass
                    handle.remove()
                self.thread.open[:] = before  # this thread may have worked for the pass
                self.now(*before[-1])

        return run_backward

    def begin(self):
        from torch.nn.modules import module
        from torch.optim import optimizer

        module.register_module_forward_pre_hook(self.before_module)
        module.register_module_forward_hook(self.after_module, always_call=True)
        optimizer.register_optimizer_step_pre_hook(self.before_step)
        optimizer.register_optimizer_step_post_hook(self.after_step)
        torch.autograd._engine_run_backward = self.backward(torch.autograd._engine_run_backward)


def node_of(output):
    """Of a tensor, or of the edge of a graph."""
    return output.grad_fn if isinstance(output, torch.Tensor) else output.node
