# SPDX-License-Identifier: Apache-2.0
"""What operators declare of themselves (ops/operator.h, Trait), proven by running every described function."""

import dataclasses
import functools

import described  # noqa: F401 - fills CASES
import pytest
import torch
from case import CASES, FUNCTIONS, T, _inputs, run_variant

from device import CallError, Device, DeviceTensor, call

door = pytest.importorskip("anynpu.library.door")

OPERATORS = {op.name: op for op in door.operators()}
REACHED = {f.name: f.operator_name.split(":")[-1] for f in door.functions()}
# Its cases only ever give it results that are among its inputs, yet it computes: where and how it may overflow.
COMPUTES = {
    "moe_init_routing": "the same operator quantises, for aclnnMoeInitRoutingQuantV2",
    "scatter_nd_update": "the same operator adds, for aclnnScatterNd",
}


def declares(operator, trait):
    return trait in OPERATORS[operator].traits.split()


@pytest.fixture(scope="module")
def device():
    return Device()


def flat(values):
    for value in values:
        if isinstance(value, list):
            yield from flat(value)
        elif value is not None:
            yield value


def sizes(tensor):
    """Absolute values by their bits, so that NaN equals itself."""
    real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return set(real.abs().double().view(torch.int64).flatten().tolist()) if real.is_floating_point() else set()


def real_type(tensor):
    return tensor.real.dtype if tensor.is_complex() else tensor.dtype


def numbers(value):
    """What a number of the call may put into a result: in float32, as kernels take it."""
    return sizes(torch.tensor([float(value)], dtype=torch.float32)) | sizes(torch.tensor([float(value)]).double())


@functools.cache
def seen(device, name):
    """(results that are no input, values of results, whether a result has a type that no input has) of all cases of a
    function, in its first floating type."""
    strange, values, narrowed = 0, set(), False

    def look(inputs, outputs):
        nonlocal strange, narrowed
        tensors = [t for t in flat(inputs.values()) if isinstance(t, torch.Tensor)]
        known = {0, *numbers(1)}.union(*map(sizes, tensors))
        given = [v for v in flat(inputs.values()) if isinstance(v, int | float) and not isinstance(v, bool)]
        known |= set().union(*map(numbers, given))
        types = {real_type(t) for t in tensors if t.is_floating_point() or t.is_complex()}
        for result in flat(outputs.values()):
            if not (result.is_floating_point() or result.is_complex()):
                continue
            narrowed |= bool(types) and real_type(result) not in types
            found = sizes(result)
            strange += len(found - known)
            values.update(found)

    for case in CASES[name]:
        dtype = next((d for d in case.dtypes if d.is_floating_point), case.dtypes[0])
        layout = "plain" if "plain" in case.layouts else case.layouts[0]
        run_variant(device, dataclasses.replace(case, check=look), dtype, layout, None, 0)
    return strange, len(values), narrowed


@pytest.mark.parametrize("name", sorted(n for n in CASES if n in FUNCTIONS and REACHED[n] in OPERATORS))
def test_an_operator_whose_results_are_its_inputs_declares_it(device, name):
    operator = REACHED[name]
    strange, distinct, narrowed = seen(device, name)
    if declares(operator, "moves_bits"):
        assert strange == 0, f"{operator} declares that it moves bits; {name} gives {strange} other values"
        assert not narrowed or declares(operator, "casts"), f"{operator} changes types and does not declare `casts`"
    elif distinct > 3 and operator not in COMPUTES:
        alike = [n for n, op in REACHED.items() if op == operator and n in CASES]
        moves = all(seen(device, n)[0] == 0 for n in alike)
        assert not moves, f"{operator}: every result is an input; declare kMovesBits, or say in COMPUTES why not"


def pointwise():
    for name, arguments in FUNCTIONS.items():
        written = [a for a in arguments if a.role != "in"]
        one = [(a.role, a.word) for a in written] == [("out", "tensor")]
        if name in CASES and one and declares(REACHED[name], "pointwise"):
            yield name


@pytest.mark.parametrize("name", sorted(pointwise()))
def test_a_pointwise_operator_may_write_over_any_input(device, name):
    """The same bits, whichever input of the result's shape and type it writes over."""
    case, arguments = CASES[name][0], FUNCTIONS[name]
    dtype = next((d for d in case.dtypes if d.is_floating_point), case.dtypes[0])
    out = next(a.name for a in arguments if a.role == "out")
    apart = {}
    run_variant(device, dataclasses.replace(case, check=lambda _, o: apart.update(o)), dtype, "plain", None, 0)
    inputs = _inputs(case, dtype, 0)
    shaped = [n for n, v in inputs.items() if isinstance(v, torch.Tensor) and v.shape == apart[out].shape]
    for over in (n for n in shaped if isinstance(case.values[n], T) and inputs[n].dtype == apart[out].dtype):
        try:
            values = {n: DeviceTensor(device, v) if isinstance(v, torch.Tensor) else v for n, v in inputs.items()}
            values[out] = values[over]
            call(device, name, [a.word for a in arguments], [values[a.name] for a in arguments])
            got = values[over].read()
            assert torch.equal(got.nan_to_num(), apart[out].nan_to_num()), f"{name} over {over}"
        except CallError as error:
            assert "cannot be cast" in error.text, f"{name} over {over}: {error}"
        finally:
            device.release()


def test_who_takes_a_chain_has_a_field_for_it():
    for name, operator in OPERATORS.items():
        assert ("attr chain" in operator.fields.split(", ")) == declares(name, "takes_chain"), name


def test_operators_of_images_are_described_with_channels_last():
    images = {name for name in OPERATORS if declares(name, "images")}
    tried = {REACHED[n] for n, cases in CASES.items() for c in cases if "channels_last" in c.layouts}
    assert images and images <= tried, images - tried
