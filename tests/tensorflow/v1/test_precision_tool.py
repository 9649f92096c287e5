# SPDX-License-Identifier: Apache-2.0
"""The vendor's precision tool in scripts of sessions and estimators (guide/precision_tool_session.py)."""

import re

import forked
import pytest

pytest.importorskip("npu_device.session")


def test_the_precision_tool_dumps_a_session(tmp_path):
    forked.run(tmp_path, {"tool": (forked.HERE / "guide/precision_tool_session.py",)})
    log = forked.log(tmp_path, "tool")
    assert len(re.findall(r"^loss \S+$", log, re.MULTILINE)) == 3 and "DumpingDebugWrapperSession" not in log
    place = tmp_path / "tool/precision_data/npu/debug_0"
    (step,) = place.glob("dump/*/0/session_1@2/*/*")
    assert step.name == "0" and any(".layer_" in path.name for path in step.iterdir())
    assert any("session_1@2" in path.read_text() for path in place.glob("graph/ge_proto_*_Build.txt"))
