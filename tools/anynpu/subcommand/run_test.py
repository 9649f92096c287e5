# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from anynpu.command_test import anynpu

SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], __name__, dict(os.environ)]))"


def run(tmp_path, *options, **environment):
    script = tmp_path / "script.py"
    script.write_text(SHOW)
    code, out, err = anynpu("run", *options, str(script), "--epochs", "3", **environment)
    assert code == 0, err
    return json.loads(out)


def test_the_script_runs_as_if_started_by_hand(tmp_path):
    arguments, name, env = run(tmp_path)
    assert arguments == ["--epochs", "3"] and name == "__main__"
    assert env["TORCH_TRANSFER_TO_NPU"] == "1"
    assert all(Path(env["ASCEND_HOME_PATH"], folder).is_dir() for folder in ("runtime", "compiler", "opp"))


def test_no_transfer_leaves_cuda_calls_alone(tmp_path):
    _, _, env = run(tmp_path, "--no-transfer")
    assert "TORCH_TRANSFER_TO_NPU" not in env


def test_what_the_user_has_set_stays(tmp_path):
    _, _, env = run(tmp_path, TORCH_TRANSFER_TO_NPU="0", ASCEND_HOME_PATH="/opt/toolkit")
    assert env["TORCH_TRANSFER_TO_NPU"] == "0" and env["ASCEND_HOME_PATH"] == "/opt/toolkit"


def test_a_report_is_asked_for_by_a_variable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "ANYNPU_REPORT" not in run(tmp_path)[2]
    arguments, _, env = run(tmp_path, "--report", "--no-transfer")
    assert env["ANYNPU_REPORT"] == "1" and arguments == ["--epochs", "3"]
    assert run(tmp_path, "--report=out.json")[2]["ANYNPU_REPORT"] == str(tmp_path / "out.json")


def test_strict_is_asked_for_by_a_variable(tmp_path):
    assert "ANYNPU_STRICT" not in run(tmp_path)[2]
    arguments, _, env = run(tmp_path, "--strict", "--report")
    assert (env["ANYNPU_STRICT"], env["ANYNPU_REPORT"], arguments) == ("1", "1", ["--epochs", "3"])


def test_a_check_of_what_is_not_finite_is_asked_for_by_a_variable(tmp_path):
    assert "ANYNPU_NAN_CHECK" not in run(tmp_path)[2]
    assert run(tmp_path, "--nan-check")[2]["ANYNPU_NAN_CHECK"] == "1"


def test_a_module_runs_by_its_name():
    code, out, _ = anynpu("run", "-m", "json.tool", "--help")
    assert code == 0 and "json" in out


def test_the_exit_code_is_the_scripts(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit(7)")
    assert anynpu("run", str(script))[0] == 7


def test_a_missing_script_is_named():
    code, _, err = anynpu("run", "nowhere.py")
    assert code == 1 and err == "anynpu run: there is no file nowhere.py; give the path of a Python script\n"


def test_digests_are_asked_for_by_a_variable(tmp_path):
    assert run(tmp_path, "--digest", str(tmp_path))[2]["ANYNPU_DIGEST"] == str(tmp_path)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--repeat", "2", "--report"], "--repeat, --report exclude each other"),
        (["--bisect", "fusion", "--nan-check"], "--bisect, --nan-check exclude each other"),
        (["--repeat", "1"], "--repeat is 1; give 2 or more"),
        (["--golden", "1.5"], "--golden says something of a loss, which only --bisect looks at"),
        (["--digest", "/nowhere"], "--digest is /nowhere, which is no folder; make it first"),
        (["--bisect", "fusion", "--watch", "("], "--watch '(' is no regular expression"),
    ],
)
def test_what_has_no_sense_together_is_refused(tmp_path, options, reason):
    script = tmp_path / "script.py"
    script.write_text("")
    code, _, err = anynpu("run", *options, str(script))
    assert code == 1 and err.startswith(f"anynpu run: {reason}")
