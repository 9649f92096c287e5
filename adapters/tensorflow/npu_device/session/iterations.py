# SPDX-License-Identifier: Apache-2.0
"""Operations whose session runs are repeated inside the engine: a plain table on the graph, {name: count}."""

import numbers

TABLE = "_npu_iterations"


def mark(op, count):
    """A session run that has `op` among its fetches or targets is repeated `count` times; its results are those of the
    last time. A later mark of the same operation is in force from the next run on. TypeError for a count that is no
    integer, ValueError for one below 1."""
    if not isinstance(count, numbers.Integral) or isinstance(count, bool):
        raise TypeError(f"the iterations per loop of {op.name} are {count!r}; they must be an integer, 1 or more")
    if count < 1:
        raise ValueError(f"the iterations per loop of {op.name} are {count}; they must be 1 or more")
    if not hasattr(op.graph, TABLE):
        setattr(op.graph, TABLE, {})
    getattr(op.graph, TABLE)[op.name] = int(count)


def single(graph):
    """Tells that runs of this graph are meant to be one step each, unless an operation is marked."""
    if not hasattr(graph, TABLE):
        setattr(graph, TABLE, {})


def count_of(graph, names):
    """How often a run of the operations of these names is repeated: 1 where none is marked. ValueError where two of
    them are marked with different counts."""
    table = getattr(graph, TABLE, {})
    marked = {name: table[name] for name in names if name in table}
    if len(set(marked.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in marked.items())
        raise ValueError(f"one run has operations with different iterations per loop ({told}); run them one by one")
    return next(iter(marked.values()), 1)
