# SPDX-License-Identifier: Apache-2.0
"""The hook for installations where torch-npu's RPATH does not lead to us."""

import json
import os
import subprocess
import sys

from anynpu.command_test import TOOLS
from anynpu.library import place

LOADED = "print('libascendcl.so' in open('/proc/self/maps').read())"


def python(code, folder):
    env = {**os.environ, "PYTHONPATH": f"{folder}:{TOOLS}"}
    command = [sys.executable, "-S", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout.strip()


def stand_in(tmp_path, rpath="$ORIGIN/../torch_npu.libs"):
    """A package torch_npu whose neighbour folder has none of our libraries."""
    (tmp_path / "torch_npu").mkdir()
    (tmp_path / "torch_npu/__init__.py").touch()
    (tmp_path / "torch_npu/_C.cpython-311-x86_64-linux-gnu.so").write_text(rpath)
    return tmp_path


def test_our_libraries_are_open_when_torch_npu_is_imported(tmp_path):
    folder = stand_in(tmp_path)
    assert python(f"import anynpu.preload; import torch_npu; {LOADED}", folder) == "True"


def test_torch_npu_runs_without_its_queue_unless_told(tmp_path, monkeypatch):
    code = "import anynpu.preload, os; import torch_npu; print(os.environ['TASK_QUEUE_ENABLE'])"
    monkeypatch.delenv("TASK_QUEUE_ENABLE", raising=False)
    assert python(code, stand_in(tmp_path)) == "0"
    monkeypatch.setenv("TASK_QUEUE_ENABLE", "2")
    assert python(code, tmp_path) == "2"


def test_a_log_level_that_is_none_is_taken_away(tmp_path, monkeypatch):
    code = "import anynpu.preload, os; import torch_npu; print(os.environ.get('ASCEND_GLOBAL_LOG_LEVEL'))"
    folder = stand_in(tmp_path)
    for level, wanted in {"7": "None", "-1": "None", "debug": "None", "": "None", "0": "0", "4": "4"}.items():
        monkeypatch.setenv("ASCEND_GLOBAL_LOG_LEVEL", level)
        assert python(code, folder) == wanted, level


def test_torch_npu_is_told_of_our_toolkit_unless_there_is_another(tmp_path, monkeypatch):
    folder = stand_in(tmp_path)
    code = "import anynpu.preload, os, torch_npu; print(*[os.environ.get(f'ASCEND_{n}_PATH') for n in ('HOME', 'OPP')])"
    for name in ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert python(code, folder) == " ".join(place.toolkit().values())
    assert all(os.path.isdir(path) for path in place.toolkit().values())
    monkeypatch.setenv("ASCEND_HOME_PATH", "/opt/toolkit")
    assert python(code, folder) == "/opt/toolkit None"
    assert python("import anynpu.preload, os; print('ASCEND_OPP_PATH' in os.environ)", folder) == "False"


def test_our_libraries_are_open_when_onnxruntime_brings_its_provider(tmp_path):
    capi = tmp_path / "onnxruntime/capi"
    capi.mkdir(parents=True)
    (tmp_path / "onnxruntime/__init__.py").touch()
    assert python(f"import anynpu.preload; import onnxruntime; {LOADED}", tmp_path) == "False"
    (capi / "libonnxruntime_providers_cann.so").touch()
    assert python(f"import anynpu.preload; import onnxruntime; {LOADED}", tmp_path) == "True"


def test_nothing_is_opened_before_or_without_it(tmp_path):
    assert python(f"import anynpu.preload, json; {LOADED}", stand_in(tmp_path)) == "False"


def test_nothing_is_opened_where_rpath_leads_to_us(tmp_path):
    folder = stand_in(tmp_path)
    (folder / "torch_npu.libs").symlink_to(place.libraries())
    assert python(f"import anynpu.preload; import torch_npu; {LOADED}", folder) == "False"


def test_without_report_and_strict_nothing_observes(tmp_path, monkeypatch):
    for value in (None, "0", "off"):
        monkeypatch.delenv("ANYNPU_REPORT", raising=False)
        if value is not None:
            monkeypatch.setenv("ANYNPU_REPORT", value)
        code = "import anynpu.preload, torch_npu, sys; print('anynpu.fallback.start' in sys.modules)"
        (tmp_path / "torch_npu").exists() or stand_in(tmp_path)
        assert python(code, tmp_path) == "False"


def test_a_check_of_what_is_not_finite_begins_where_it_is_asked_for(tmp_path, monkeypatch):
    """It lets operators run in the thread that calls them; what the user has set for that stays."""
    monkeypatch.delenv("ASCEND_LAUNCH_BLOCKING", raising=False)
    code = "import anynpu.preload, os, sys; import torch_npu; print('anynpu.nan_check.start' in sys.modules, "
    code += "os.environ.get('ASCEND_LAUNCH_BLOCKING'))"
    assert python(code, stand_in(tmp_path)) == "False None"
    monkeypatch.setenv("ANYNPU_NAN_CHECK", "1")
    assert python(code, tmp_path) == "True 1"
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "0")
    assert python(code, tmp_path) == "True 0"


def test_modules_are_noted_down_where_it_is_asked_for(monkeypatch):
    code = (
        "import anynpu.preload, anynpu.library.after_import as after; "
        "after.spec = lambda package, path, names: print(names); "
        "anynpu.preload.observed('torch_npu', None); anynpu.preload.observed('npu_device', None)"
    )
    usual = json.loads(python("import json, anynpu.preload; print(json.dumps(anynpu.preload.ALWAYS))", TOOLS))
    assert "anynpu.library.use_npu" in usual
    for value, names in ((None, str(usual)), ("0", str(usual)), ("1", str([*usual, "anynpu.module.start"]))):
        monkeypatch.delenv("ANYNPU_MODULES", raising=False)
        if value is not None:
            monkeypatch.setenv("ANYNPU_MODULES", value)
        assert python(code, TOOLS) == names


def test_the_hook_imports_nothing_heavy():
    code = "import sys; before = set(sys.modules); import anynpu.preload; print(sorted(set(sys.modules) - before))"
    assert python(code, TOOLS) == "['anynpu', 'anynpu.preload']"


def test_wheels_that_look_for_no_libraries_find_them_open(tmp_path):
    folder = stand_in(tmp_path, rpath="$ORIGIN/lib")
    (folder / "torch_npu.libs").symlink_to(place.libraries())
    assert python(f"import anynpu.preload; import torch_npu; {LOADED}", folder) == "True"
