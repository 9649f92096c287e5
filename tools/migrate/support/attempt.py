# SPDX-License-Identifier: Apache-2.0
"""One attempt at a name: calls it with small inputs while its operators are noted. Nothing runs on an NPU."""

import enum
import inspect
import itertools

import registry
import sample
import tensorflow as tf
from tensorflow.python.framework import op_callbacks

MOST_ATTEMPTS = 120  # calls of one name, each with other inputs
# Types of elements that the engine's nodes compute in; others are left to the host by most of them.
USUAL = {"float32", "float64", "float16", "bfloat16", "int32", "int64", "bool", "int8", "uint8", "int16", "uint16",
         "uint32", "uint64", "resource", "variant"}  # fmt: skip


class Operators:
    """The operators that a block of code puts into graphs or runs: {type: has inputs of unusual types}. What runs
    at once while a graph is built makes the first values of variables, as a rule; it is kept apart."""

    def __init__(self):
        self.of_graph, self.at_once = {}, {}

    def _note(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        op = op_type.decode() if isinstance(op_type, bytes) else op_type
        types = {t.dtype.base_dtype.name for t in inputs if hasattr(t, "dtype")}
        found = self.at_once if graph is None else self.of_graph
        found[op] = found.get(op, False) or not types <= USUAL

    def result(self, how):
        if set(self.of_graph) <= registry.TRIVIAL:
            return {"operators": self.of_graph | self.at_once, "first": {}, "how": how}
        return {"operators": self.of_graph, "first": self.at_once, "how": how}

    def __enter__(self):
        op_callbacks.add_op_callback(self._note)
        return self

    def __exit__(self, *_):
        op_callbacks.remove_op_callback(self._note)


def places(old):
    """Where to call it: in a function's graph, in a graph of TensorFlow 1, at once."""
    yield lambda: tf.__internal__.FuncGraph("probe").as_default()
    if old:
        yield lambda: tf.Graph().as_default()
    yield lambda: tf.device("CPU")


def parameters(value):
    """Names of the arguments that a call needs: by position, by name, and whether it takes any number of them."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return [], [], True
    needed = [p for p in signature.parameters.values() if p.default is p.empty]
    positional = [p.name for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = [p.name for p in needed if p.kind == p.KEYWORD_ONLY]
    return positional, keywords, any(p.kind == p.VAR_POSITIONAL for p in needed)


def argument_lists(value, name):
    """Functions that make arguments, by position and by name; likeliest first."""
    positional, keywords, more = parameters(value)
    if not positional and not keywords:
        yield lambda: ([], {})
        if not more:
            return
    for hints in (True, False):
        for profile in sample.PROFILES:

            def make(profile=profile, hints=hints):
                given = {n: sample.argument(n, name, profile, hints) for n in positional + keywords}
                first = [given[n] for n in positional]
                return first or [profile()] * (not keywords), {n: given[n] for n in keywords}

            yield make


def once(value, make, name):
    """One call; what it makes is put to its use."""
    positional, keywords = make()
    made = value(*positional, **keywords)
    return sample.use(made, name) if isinstance(value, type) else "called"


def without_operators(value):
    """Why it cannot have operators, or None."""
    if isinstance(value, type):
        if issubclass(value, BaseException):
            return "an exception"
        if issubclass(value, enum.Enum):
            return "names of constants"
        if hasattr(value, "DESCRIPTOR"):
            return "a message"
        if inspect.isabstract(value):
            return "an abstract class"
        return None
    if not callable(value):
        return "a constant"
    return None


def probe(name, value, old=False, expression=None):
    """{"operators": {type: unusual}, "first": those of first values, "how": what was done}, or {"error": the last}."""
    reason = without_operators(value)
    if reason and expression is None:
        return {"operators": {}, "first": {}, "how": reason}
    error = "nothing to try"
    for place in places(old):
        makes = [None] if expression else argument_lists(value, name)
        for make in itertools.islice(makes, MOST_ATTEMPTS):
            try:
                with Operators() as operators, place():
                    how = sample.evaluate(expression, value) if expression else once(value, make, name)
                return operators.result(how)
            except (Exception, SystemExit) as e:  # noqa: BLE001 - any failure means: try the next
                if make is None or not isinstance(e, TypeError) or error == "nothing to try":
                    error = f"{type(e).__name__}: {str(e)[:300]}"
    return {"error": error}
