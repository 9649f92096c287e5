# SPDX-License-Identifier: Apache-2.0
"""Keys of NpuOptimizer that change the dtypes of a session's nodes, as the report tells them."""

import re

import forked
import pytest

pytest.importorskip("npu_device.session")

SCRIPT = forked.HERE / "guide/precision_modes.py"
ALL = {"first", "kept", "last"}
# What the key makes of the products that are named; the others stay as the graph says.
MODES = {
    "precision_mode must_keep_origin_dtype": {},
    "precision_mode allow_mix_precision": {"first": "float16", "last": "float16"},
    "precision_mode allow_mix_precision_bf16": {"first": "bfloat16", "last": "bfloat16"},
    "precision_mode force_fp16": {"first": "float16", "last": "float16"},
    "precision_mode_v2 mixed_float16": {"first": "float16", "last": "float16"},
    "customize_dtypes dtypes.cfg": {"last": "float16"},  # beside allow_mix_precision, as the next
    "modify_mixlist lists.json": {},
    "mix_compile_mode True": {},
    "mix_compile_mode False": {},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modes")
    forked.run(folder, {name: (SCRIPT, *name.split()) for name in MODES})
    return folder


@pytest.mark.promise("precision keys of a session change what its nodes compute in, but for keep_dtype_scope")
@pytest.mark.parametrize("name", MODES)
def test_a_key_changes_what_products_compute_in(ran, name):
    text = forked.log(ran, name)
    found = {
        node: dtype for node, dtype in re.findall(r"^product (\w+) (\w+)$", text, re.MULTILINE) if dtype != "float32"
    }
    assert {node: dtype for node, dtype in found.items() if node in ALL} == MODES[name], text[-2000:]
    losses = [float(number) for number in re.findall(r"^loss (\S+)$", text, re.MULTILINE)]
    assert len(losses) == 10 and losses[-1] < losses[0]
    assert re.search(r"^host .*AsString", text, re.MULTILINE), "strings are the host's in either mode"
