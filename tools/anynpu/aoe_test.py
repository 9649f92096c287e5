# SPDX-License-Identifier: Apache-2.0
"""The command aoe, as far as it needs no TensorFlow: what it refuses, and what it starts."""

import pytest

from anynpu import aoe


@pytest.fixture(autouse=True)
def with_tensorflow(monkeypatch):
    monkeypatch.setattr(aoe.version, "installed", lambda package: "2.15.1" if package.startswith("tensor") else None)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.pb"
    path.write_bytes(b"")
    return path


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "--job_type is None"),
        (["--job_type=3"], "--job_type is 3"),
        (["--job_type=4"], "gradient segments"),
        (["--job_type=2"], "give one of --model=FILE.pb and --model_path"),
        (["--job_type=2", "--framework=0", "--model=x.caffemodel"], "models of Caffe are not read"),
        (["--job_type=2", "--framework=5", "--model_path=."], "has no *.onnx"),
        (["--job_type=2", "--framework=9", "--model=x"], "there are 0, 1, 3, 5"),
        (["--job_type=2", "--framework=3", "--model=none.pb"], "none.pb is no file"),
        (["--job_type=1", "--model=x.pb", "--output=/no/such"], "--output /no/such is no folder"),
        (["--job_type=1", "--model=x.pb", "--tune_ops_file=/no/such"], "--tune_ops_file /no/such is no file"),
        (["--job_type=1", "--model_path=."], "has no *.pb"),
    ],
)
def test_what_cannot_be_is_refused(words, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert aoe.main(words) == 1
    out = capsys.readouterr().out
    assert out.startswith("[Aoe] [ERROR] ") and told in out


def test_without_tensorflow_the_cure_is_told(model, capsys, monkeypatch):
    monkeypatch.setattr(aoe.version, "installed", lambda package: None)
    assert aoe.main(["--job_type=2", f"--model={model}"]) == 1
    assert "pip install 'anynpu[tensorflow]'" in capsys.readouterr().out


def test_each_model_of_a_folder_is_run(model, tmp_path, capsys, monkeypatch):
    (tmp_path / "second.pb").write_bytes(b"")
    started = []

    def run(words, env):
        started.append(words[1:])
        assert env["AOE_MODE"] == ""
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(aoe.subprocess, "run", run)
    words = ["--job_type=1", f"--model_path={tmp_path}", "--input_shape=x:1,2", f"--output={tmp_path}", "--log=info"]
    assert aoe.main(words) == 0
    own = ["-m", "npu_device.run_graph"]
    rest = ["--tune", "1", "--work", str(tmp_path), "--input_shape", "x:1,2"]
    assert started == [[*own, str(tmp_path / name), *rest] for name in ("model.pb", "second.pb")]
    out = capsys.readouterr().out
    assert "[Aoe] [WARNING] --log is accepted and has no effect here" in out
    assert f"[Aoe] {model}: tuning of graphs (subgraph tuning)" in out


def test_a_model_of_onnx_is_converted_and_run_without_tensorflow(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(aoe.version, "installed", lambda package: None)
    (tmp_path / "net.onnx").write_bytes(b"")
    started = []
    done = lambda words, env: started.append(list(map(str, words))) or type("Done", (), {"returncode": 0})  # noqa: E731
    monkeypatch.setattr(aoe.subprocess, "run", done)
    words = ["--job_type=2", "--framework=5", f"--model={tmp_path}/net.onnx", f"--output={tmp_path}", "--log=info"]
    assert aoe.main([*words, "--precision_mode=force_fp16", "--input_shape=x:1,2"]) == 0
    conversion, run = started
    assert conversion[1:3] == ["--framework=5", f"--model={tmp_path}/net.onnx"]
    assert {"--precision_mode=force_fp16", "--input_shape=x:1,2", "--soc_version=Ascend910B1"} <= set(conversion)
    assert run[1:3] == ["-m", "anynpu.infer.tuned"] and run[4:] == ["--tune", "2", "--work", str(tmp_path)]
    assert f"--output={run[3].removesuffix('.om')}" in conversion
    out = capsys.readouterr().out
    assert "--log is accepted and has no effect here" in out and "--precision_mode is accepted" not in out


def test_a_model_that_fails_ends_it(model, capsys, monkeypatch):
    monkeypatch.setattr(aoe.subprocess, "run", lambda *_, **__: type("Done", (), {"returncode": 1}))
    assert aoe.main(["--job_type=2", "--framework=3", f"--model={model}"]) == 1
    assert "could not be run" in capsys.readouterr().out
