# SPDX-License-Identifier: Apache-2.0
"""torch.compile without a backend. Its usual one, inductor, makes kernels by Triton, which makes none for this device:
a graph with tensors of the NPU runs eagerly instead, and one line says so. Graphs of the CPU are compiled as ever."""

import functools
import sys

NOTICE = (
    "torch.compile: inductor makes no kernels for the NPU, so the graph runs eagerly (same results); "
    "backend='npugraph_ex' captures a graph"
)


def tensors(value):
    """The tensors in what a node of a graph gives."""
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)
    elif hasattr(value, "device"):
        yield value


def runs_on_npu(graph_module, inputs):
    results = [node.meta.get("example_value") for node in graph_module.graph.nodes]
    return any(getattr(one.device, "type", "") == "npu" for one in tensors([*inputs, *results]))


@functools.cache
def notice():
    """Once a process."""
    print(NOTICE, file=sys.stderr)


def begin():
    """torch_npu has imported torch."""
    wrapper = getattr(sys.modules.get("torch"), "_TorchCompileInductorWrapper", None)
    if wrapper is None:
        return
    compile_graph = wrapper.__call__

    @functools.wraps(compile_graph)
    def __call__(self, model_, inputs_, **named):
        if not runs_on_npu(model_, inputs_):
            return compile_graph(self, model_, inputs_, **named)
        notice()
        return model_.forward

    wrapper.__call__ = __call__
