# SPDX-License-Identifier: Apache-2.0
"""Every kind of node computes what TensorFlow computes on the CPU: one description a kind, describe_*.py."""

import importlib
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import test_resources
from case import distance
from engine import Engine, EngineError, Value, node_kinds, node_of

TESTS = pathlib.Path(__file__).resolve().parents[1]
DESCRIPTIONS = [importlib.import_module(p.stem) for p in sorted(pathlib.Path(__file__).parent.glob("describe_*.py"))]
CASES = [case for module in DESCRIPTIONS for case in module.cases()]
# Kinds of node that take handles, lists or functions are tested as part of whole functions: by the tests that compile
# them, as they are asked to show.
IN_FUNCTIONS = {
    "nodes/test_functions.py::test_an_assertion_stops_the_loop": "Assert While",
    "nodes/test_functions.py::test_functions_in_functions": "PartitionedCall",
    "nodes/test_functions.py::test_variables_passed_in_the_other_order": "StatefulPartitionedCall",
    "nodes/test_functions.py::test_variable_assigned_in_a_branch": "AssignAddVariableOp AssignVariableOp If",
    "nodes/test_functions.py::test_variable_assigned_in_a_case": "Case",
    "nodes/test_functions.py::test_whether_a_variable_has_a_value": "DisableCopyOnRead VarIsInitializedOp",
    "nodes/test_functions.py::test_reads_before_and_after_writes": "AssignSubVariableOp NoOp ReadVariableOp",
    "nodes/test_optionals.py::test_gradient_of_a_case_in_a_loop": "EmptyTensorList OptionalFromValue OptionalGetValue "
    "OptionalNone StatelessCase StatelessWhile TensorListPopBack TensorListPushBack",
    "nodes/test_optionals.py::test_has_value": "OptionalHasValue StatelessIf",
    "nodes/test_functions.py::test_what_waits_for_a_trigger_waits_for_all_before_it": "ControlTrigger",
    "sessions/test_random_graphs.py::test_what_is_drawn_computes_the_same": "FakeParam",
    "sessions/test_sessions.py::test_a_placeholder_that_is_not_fed_is_named": "Placeholder",
    "nodes/test_random.py::test_classes_of_a_vocabulary": "LogUniformCandidateSampler UniformCandidateSampler",
    "nodes/test_random.py::test_multinomial": "Multinomial",
    "nodes/test_random.py::test_numbers_of_a_generator": "StatefulStandardNormalV2 StatefulTruncatedNormal "
    "StatefulUniform",
    "nodes/test_random.py::test_numbers_of_a_node": "RandomStandardNormal RandomUniform TruncatedNormal",
    "nodes/test_random.py::test_shuffle": "RandomShuffle",
    "nodes/test_random.py::test_whole_numbers_of_a_generator": "RngReadAndSkip RngSkip StatefulUniformFullInt "
    "StatefulUniformInt",
    "nodes/test_random.py::test_whole_numbers_of_a_node": "RandomUniformInt",
    "nodes/test_stacks.py::test_operator": "StackCloseV2 StackPopV2 StackPushV2 StackV2",
    "nodes/test_tensor_arrays.py::test_operator": "TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 "
    "TensorArrayGradV3 TensorArrayGradWithShape TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3 "
    "TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3",
    "nodes/test_tensor_lists.py::test_a_list_given_to_two_readers_stays": "TensorListConcatLists",
    "nodes/test_tensor_lists.py::test_operator": "TensorListConcat TensorListConcatV2 TensorListElementShape "
    "TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListReserve TensorListResize "
    "TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit "
    "TensorListStack",
    # The vendor's own, which TensorFlow knows once the adapter is loaded.
    "tensorflow/test_loss_scale.py::test_operators_of_the_overflow_word": "NpuClearFloatStatusV2 NpuGetFloatStatusV2",
    "tensorflow/test_loss_scale.py::test_the_first_edition_of_the_overflow_word": "NpuAllocFloatStatus "
    "NpuClearFloatStatus NpuGetFloatStatus",
    "tensorflow/test_vendor_api.py::test_dropout_by_a_mask_of_bits": "DropOutDoMask DropOutGenMask",
    "tensorflow/test_vendor_api.py::test_gelu_is_the_approximation_inside_functions": "FastGelu FastGeluGrad",
    "tensorflow/test_ranks.py::test_exchanges_and_messages": "HcomAllToAllV HcomAllToAllVC HcomGatherAllToAllV "
    "HcomReceive HcomSend",
    "tensorflow/test_ranks.py::test_values": "HcomAllGather HcomAllReduce HcomBroadcast HcomReduce HcomReduceScatter",
}


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
    directly = {case.op for case in CASES} | {case.op for case in test_resources.CASES}
    listed = " ".join(IN_FUNCTIONS.values()).split()
    # ONNX's own kinds and AIPP are tested in C++, by ONNX's node data and by the formulas of the conversions
    elsewhere = {kind for kind in node_kinds() if kind.startswith("ai.onnx::")} | {"Aipp"}
    assert set(node_kinds()) - directly - set(listed) - elsewhere == set()
    assert [kind for kind in listed if kind in directly or listed.count(kind) > 1] == []


def test_models_may_have_every_kind_that_tensorflow_knows():
    """Frozen graphs are read by graph/import/tensorflow/signatures.tsv, which signatures.py there writes."""
    table = TESTS.parent / "graph/import/tensorflow/signatures.tsv"
    signatures = {line.split("\t")[0] for line in table.read_text(encoding="utf-8").splitlines()[1:]}
    known = {kind for kind in node_kinds() if hasattr(tf.raw_ops, kind)}
    assert known - signatures == set()


@pytest.mark.parametrize("folder", ["nodes", "tensorflow"])
def test_functions_compile_the_kinds_they_stand_for(folder, tmp_path):
    stand_for = {test: set(kinds.split()) for test, kinds in IN_FUNCTIONS.items() if test.startswith(folder)}
    command = [sys.executable, str(TESTS / "nodes/compiled.py"), *(str(TESTS / test) for test in stand_for)]
    dumping = {"NPU_DUMP_GRAPH": "1", "DUMP_GRAPH_PATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent, env=os.environ | dumping)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    compiled = json.loads(done.stdout.splitlines()[-1])
    assert {test: kinds - set(compiled[test]) for test, kinds in stand_for.items()} == dict.fromkeys(stand_for, set())


def test_a_wrong_call_names_the_node(engine):
    node = node_of("AddV2", {"x": np.float32([1, 2]), "y": np.float32([1, 2])}, {})
    with pytest.raises(EngineError, match="shapes 2 and 3 do not broadcast") as e:
        engine.run_node(node, [Value.of(np.zeros(n, "float32")) for n in (2, 3)], 1)
    assert e.value.node == "AddV2"
