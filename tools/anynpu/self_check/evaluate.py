# SPDX-License-Identifier: Apache-2.0
"""Calls of operators in float64. Shaken, every number that is read and every result moves by up to a rounding of the
type that the device computes in: how far that carries is what an operator's own rounding may do."""

import numpy as np

from anynpu.self_check.element import UnknownError, converted, epsilon, widened
from anynpu.self_check.reference import REFERENCES

COMPUTES_IN = {"float16": "float32", "bfloat16": "float32"}


class Shake:
    """Noise of a fixed seed; of no size where `amount` is 0."""

    def __init__(self, seed=None):
        self.random = None if seed is None else np.random.default_rng(seed)

    def __call__(self, array, size):
        if self.random is None or size == 0 or not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            return array
        return array * (1 + size * self.random.uniform(-1, 1, array.shape))


class Fields:
    """The fields of a call: arrays, numbers, None where it was given nothing."""

    def __init__(self, values, dtypes, shapes):
        self.values, self.dtypes, self.shapes = values, dtypes, shapes

    def __getattr__(self, name):
        return self.values.get(name)


def plain(value):
    if isinstance(value, dict) and "number" in value:
        number = float(value["number"]) if isinstance(value["number"], str) else value["number"]
        return number + 1j * float(value["imaginary"]) if "imaginary" in value else number
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return float(value)
    return [plain(one) for one in value] if isinstance(value, list) else value


def is_tensor(value):
    return isinstance(value, dict) and ("tensor" in value or "place" in value)


def fields_of(call, form, read, shake):
    """`form` and `read` tell of a tensor's text what it looks like and what is in it."""
    values, dtypes, shapes = {}, {}, {}

    def one(name, value):
        if not is_tensor(value):
            return plain(value)
        dtype = form(value)["dtype"]
        dtypes.setdefault(name, dtype), shapes.setdefault(name, []).append(form(value)["shape"])
        array = read(value)
        return shake(array, epsilon(COMPUTES_IN.get(dtype, dtype)))

    for name, value in call["fields"].items():
        listed = isinstance(value, list) and any(is_tensor(item) for item in value)
        values[name] = [one(name, item) for item in value] if listed else one(name, value)
    return Fields(values, dtypes, shapes)


def shaped(result, shape):
    result = np.asarray(result)
    return result.reshape(shape) if result.size == np.prod(shape, dtype=int) else np.broadcast_to(result, shape)


def results_of(call, form, read, shake):
    """(text of a tensor, its array) of each result of a call that is known."""
    if call["op"] == "chain" or call["fields"].get("chain"):
        return after_chain(call, form, read, shake)
    return plain_results(call, form, read, shake)


def plain_results(call, form, read, shake, function=None):
    function = function or REFERENCES.get(call["op"])
    if function is None:
        raise UnknownError(f"there is no reference for {call['op']}")
    with np.errstate(all="ignore"):
        made = function(fields_of(call, form, read, shake))
    made = made if isinstance(made, dict) else {call["results"][0]: made}
    out = []
    for name, value in made.items():
        target = call["fields"].get(name)
        pairs = zip(target, value, strict=True) if isinstance(target, list) else [(target, value)]
        out += [(to, finished(array, form(to), shake)) for to, array in pairs if is_tensor(to)]
    return out


def finished(array, form, shake):
    array = converted(shaped(array, form["shape"]), form["dtype"])
    return shake(array, epsilon(form["dtype"]))


def chain_step(step, registers, shake):
    if step["op"] == "cast":
        return shake(converted(next(iter(operands(step, registers).values())), step["result"]), epsilon(step["result"]))
    function = REFERENCES.get(step["op"])
    if function is None:
        raise UnknownError(f"there is no reference for {step['op']}")
    values = {**operands(step, registers), **{name: plain(value) for name, value in step["numbers"].items()}}
    with np.errstate(all="ignore"):
        made = function(Fields(values, {}, {}))
    made = next(iter(made.values())) if isinstance(made, dict) else made
    return shake(converted(np.asarray(made), step["result"]), epsilon(step["result"]))


def operands(step, registers):
    return {field: registers[register] for field, register in step["operands"].items()}


def run_program(program, inputs, shake):
    """The outputs of all groups, in order."""
    inputs, outputs = iter(inputs), []
    for group in program:
        registers = [next(inputs) for _ in group["inputs"]]
        for step in group["steps"]:
            registers.append(chain_step(step, registers, shake))
        outputs += [registers[i] for i in group["outputs"]]
    return outputs


def after_chain(call, form, read, shake):
    """An operator of its own, or what goes on with another's result: that is the input that lies where it lies."""
    fields = call["fields"]
    if call["op"] == "chain":
        program, inputs, targets, made = fields["program"], fields["inputs"], fields["outputs"], []
    else:
        program, inputs, targets = fields["chain"], fields["chain_inputs"], fields["chain_outputs"]
        made = plain_results(call, form, read, shake)
    there = {key(to, form): (form(to), array) for to, array in made}
    values = [seen_as(*there[key(one, form)], form(one)) if key(one, form) in there else read(one) for one in inputs]
    results = run_program(program, values, shake)
    made += [(to, finished(array, form(to), shake)) for to, array in zip(targets, results, strict=True)]
    # What the chain writes where the operator's result was has taken its place.
    return list({key(to, form): (to, array) for to, array in made}.values())


def strided(flat, form):
    strides = [stride * flat.itemsize for stride in form["strides"]]
    return np.lib.stride_tricks.as_strided(flat, form["shape"], strides)


def span(form):
    return 1 + sum((n - 1) * s for n, s in zip(form["shape"], form["strides"], strict=True))


def seen_as(form, array, other):
    """The same memory, seen with other sizes and strides."""
    flat = np.zeros(max(span(form), span(other)), array.dtype)
    strided(flat, form)[...] = array
    return strided(flat, other).copy()


def key(text, form):
    return form(text)["at"], text.get("place")


class Places:
    """Memory that several tensors are views of, as the parts of a fused node have it."""

    def __init__(self, given):
        self.flat, self.dtype = {}, {}
        self.given = given

    def view(self, form):
        place, dtype = form["place"], form["dtype"]
        size = form["offset"] + span(form)
        if self.dtype.setdefault(place, dtype) != dtype:
            raise UnknownError("its parts see one memory as two types")
        flat = self.flat.get(place, widened(np.zeros(0), dtype))
        if flat.size < size:
            self.flat[place] = flat = np.concatenate([flat, widened(np.zeros(size - flat.size), dtype)])
        return strided(flat[form["offset"] :], form)


def run_parts(task, shake):
    places = Places(task.parts["given"])
    for one in task.parts["given"]:
        dtype = one["place"]["dtype"]
        array = task.array(one["tensor"], "before")
        places.view(one["place"])[...] = shake(array, epsilon(COMPUTES_IN.get(dtype, dtype)))
    for call in task.parts["calls"]:
        for to, array in results_of(call, lambda text: text, lambda text: places.view(text).copy(), shake):
            places.view(to)[...] = array
    # What a fused node keeps for its gradient its parts do not make; a scalar stands in its place.
    made = [one for one in task.parts["results"] if one["place"]["shape"] == task.tensors[one["tensor"]]["shape"]]
    if not made:
        raise UnknownError("its parts make nothing that it makes")
    return {one["tensor"]: places.view(one["place"]).copy() for one in made}


def run_calls(task, shake):
    out = {}
    for call in task.calls:

        def read(text):
            index = text["tensor"]
            return task.array(index, "before") if task.tensors[index]["before"] is not None else None

        for to, array in results_of(call, lambda text: task.tensors[text["tensor"]], read, shake):
            out[to["tensor"]] = array
    return out


def run(task, seed=None):
    """{number of the tensor: what it should be}."""
    shake = Shake(seed)
    return run_parts(task, shake) if "parts" in task.text else run_calls(task, shake)
