# SPDX-License-Identifier: Apache-2.0
from importlib import metadata
from types import SimpleNamespace

import pytest

from anynpu.doctor import frameworks
from anynpu.library import place, version


def test_the_wrong_torch_has_a_cure_without_cuda():
    install = frameworks.install
    assert "/whl/cpu" in install("torch", "1") and "/whl" not in install("torch-npu", "1")


def installed(monkeypatch, **packages):
    """Makes `version` see exactly these packages."""
    monkeypatch.setattr(version, "installed", lambda name: packages.get(name.replace("-", "_")))


def test_tensorflow_has_its_version(monkeypatch):
    monkeypatch.setattr(version, "pins", lambda extra: {"tensorflow-cpu": "2.15.1"} if extra == "tensorflow" else {})

    def found(**packages):
        installed(monkeypatch, **packages)
        (finding,) = frameworks.check_tensorflow()
        return finding.grade, finding.text, finding.cure

    assert found(tensorflow_cpu="2.15.1")[:2] == ("ok", "tensorflow-cpu 2.15.1")
    assert found(tensorflow="2.15.1")[:2] == ("ok", "tensorflow 2.15.1")
    grade, text, cure = found(tensorflow="2.6.5")
    assert (grade, cure) == ("bad", "pip install tensorflow==2.15.1") and "is 2.6.5; AnyNPU is tested with" in text
    grade, _, cure = found()
    assert grade == "note" and cure.startswith("pip install 'anynpu[tensorflow]'")


def torch_findings(monkeypatch, **packages):
    monkeypatch.setattr(version, "pins", lambda extra: {"torch": "2.13.0", "torch-npu": "2.13.0"})
    installed(monkeypatch, **packages)
    return [(finding.grade, finding.text, finding.cure) for finding in frameworks.check_torch()][1:]


def test_any_wheel_that_was_looked_at_will_do(monkeypatch):
    found = torch_findings(monkeypatch, torch="2.13.0", torch_npu="2.13.0")
    assert [grade for grade, *_ in found] == ["ok", "ok"]
    found = torch_findings(monkeypatch, torch="2.5.1", torch_npu="2.5.1.post1")
    assert [grade for grade, *_ in found] == ["note", "note"] and "is 2.5.1; docs/wheels.md" in found[0][1]
    found = torch_findings(monkeypatch, torch="2.4.0", torch_npu="2.4.0")
    assert [grade for grade, *_ in found] == ["bad", "bad"]


def test_torch_and_its_plugin_have_one_version(monkeypatch):
    *_, (grade, text, cure) = torch_findings(monkeypatch, torch="2.12.1", torch_npu="2.7.1")
    assert grade == "bad" and text.startswith("torch is 2.12.1 and torch-npu 2.7.1,") and "==2.7.1 --index" in cure


def test_a_torchvision_for_cuda_beside_torch_for_cpus_is_found(monkeypatch, tmp_path):
    for folder in ("torch/lib", "torchvision"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(place, "package_folder", lambda name: tmp_path / name if (tmp_path / name).exists() else None)
    installed(monkeypatch, torchvision="0.28.0")
    library = tmp_path / "torchvision/_C.so"
    library.write_bytes(b"\x7fELF libtorch_cpu.so")
    assert not list(frameworks.check_torch_companions())
    library.write_bytes(b"\x7fELF libc10_cuda.so libtorch_cuda.so")
    (finding,) = frameworks.check_torch_companions()
    assert finding.grade == "bad" and "torchvision 0.28.0 is built for CUDA" in finding.text and "_C.so" in finding.text
    assert finding.cure == "pip install torchvision==0.28.0 --index-url https://download.pytorch.org/whl/cpu"
    (tmp_path / "torch/lib/libtorch_cuda.so").touch()
    assert not list(frameworks.check_torch_companions()), "a torch for CUDA brings what it needs"


def test_what_the_export_of_models_needs_is_named(monkeypatch):
    installed(monkeypatch, torch="2.13.0", onnx="1.23.2")
    (finding,) = frameworks.check_export()
    assert finding.grade == "note" and "needs onnxscript, not" in finding.text and "anynpu[export]" in finding.cure
    installed(monkeypatch, torch="2.13.0", onnx="1.23.2", onnxscript="0.7.2")
    assert not list(frameworks.check_export())
    installed(monkeypatch)
    assert not list(frameworks.check_export())


def test_the_backend_of_compile_that_works_is_named(monkeypatch):
    installed(monkeypatch, torch_npu="2.13.0")
    (finding,) = frameworks.check_compile()
    assert finding.grade == "note" and "inductor" in finding.text and "npugraph_ex" in finding.cure
    installed(monkeypatch)
    assert not list(frameworks.check_compile())


def test_an_apex_that_is_not_ours_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(place, "package_folder", lambda name: tmp_path if name == "apex" else None)
    monkeypatch.setattr(version, "origin", lambda: "/a folder/anynpu")
    installed(monkeypatch, apex="0.9")
    (finding,) = frameworks.check_apex()
    assert finding.grade == "bad" and "apex 0.9" in finding.text
    assert finding.cure == "pip uninstall -y apex && pip install --force-reinstall --no-deps '/a folder/anynpu'"
    installed(monkeypatch)
    (finding,) = frameworks.check_apex()
    assert finding.grade == "bad" and str(tmp_path) in finding.text
    (tmp_path / "unbuilt.py").touch()
    assert not list(frameworks.check_apex())


@pytest.mark.parametrize(
    ("recorded", "origin"),
    [
        ('{"url": "file:///home/a%20b/anynpu", "dir_info": {}}', "/home/a b/anynpu"),
        ('{"url": "https://a.example/anynpu.whl"}', "https://a.example/anynpu.whl"),
        (None, None),
        ("{", None),
    ],
)
def test_what_pip_installed_us_from_is_known(monkeypatch, recorded, origin):
    distribution = SimpleNamespace(read_text=lambda name: recorded if name == "direct_url.json" else None)
    monkeypatch.setattr(metadata, "distribution", lambda name: distribution)
    assert version.origin() == origin
