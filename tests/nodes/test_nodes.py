# SPDX-License-Identifier: Apache-2.0
"""Every kind of node computes what TensorFlow computes on the CPU: one description a kind, describe_*.py."""

import importlib
import pathlib

import numpy as np
import pytest
import tensorflow as tf
import test_resources
from case import distance
from engine import Engine, EngineError, Value, node_kinds, node_of

DESCRIPTIONS = [importlib.import_module(p.stem) for p in sorted(pathlib.Path(__file__).parent.glob("describe_*.py"))]
CASES = [case for module in DESCRIPTIONS for case in module.cases()]
# Kinds of node that take handles, lists or functions: they are tested as part of whole functions.
IN_FUNCTIONS = {
    "Assert", "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "Case", "DisableCopyOnRead", "If",
    "NoOp", "PartitionedCall", "ReadVariableOp", "StatefulPartitionedCall", "StatelessCase", "StatelessIf",
    "StatelessWhile", "VarIsInitializedOp", "While",
    "EmptyTensorList", "TensorListConcat", "TensorListConcatLists", "TensorListConcatV2", "TensorListElementShape",
    "TensorListFromTensor", "TensorListGather", "TensorListGetItem", "TensorListLength", "TensorListPopBack",
    "TensorListPushBack", "TensorListReserve", "TensorListResize", "TensorListScatter",
    "TensorListScatterIntoExistingList", "TensorListScatterV2", "TensorListSetItem", "TensorListSplit",
    "TensorListStack",
    "OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone",
    "Multinomial", "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "RngReadAndSkip",
    "RngSkip", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniform", "StatefulUniformFullInt",
    "StatefulUniformInt", "TruncatedNormal",
    # The vendor's own, which TensorFlow knows once the adapter is loaded: tests/tensorflow.
    "DropOutDoMask", "DropOutGenMask", "FastGelu", "FastGeluGrad", "NpuAllocFloatStatus", "NpuClearFloatStatus",
    "NpuClearFloatStatusV2", "NpuGetFloatStatus", "NpuGetFloatStatusV2",
}  # fmt: skip


@pytest.fixture(scope="module")
def engine():
    return Engine()


def flat(inputs):
    return [v for value in inputs.values() for v in (value if isinstance(value, list) else [value])]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_computes_what_tensorflow_computes(engine, case):
    with tf.device("CPU"):
        wanted = case.wanted()
    engine.host_nodes.clear()
    node = node_of(case.op, case.inputs, case.attributes)
    for _ in range(2):  # planned, and planned before
        got = engine.run_node(node, [Value.of(np.asarray(v)) for v in flat(case.inputs)], len(wanted))
    assert not engine.host_nodes, f"{case.op} went to the host"
    for one, (theirs, dtype) in list(zip(got, wanted, strict=True))[case.outputs]:
        mine = one.numpy()
        assert mine.dtype == dtype and mine.shape == theirs.shape
        assert distance(mine, theirs) <= case.tolerance(dtype)


def test_every_kind_has_a_case():
    on_variables = {case.op for case in test_resources.CASES}
    assert set(node_kinds()) - {case.op for case in CASES} - IN_FUNCTIONS - on_variables == set()


def test_a_wrong_call_names_the_node(engine):
    node = node_of("AddV2", {"x": np.float32([1, 2]), "y": np.float32([1, 2])}, {})
    with pytest.raises(EngineError, match="shapes 2 and 3 do not broadcast") as e:
        engine.run_node(node, [Value.of(np.zeros(n, "float32")) for n in (2, 3)], 1)
    assert e.value.node == "AddV2"
