# SPDX-License-Identifier: Apache-2.0
import shutil
from pathlib import Path

import pytest

from anynpu import doctor, doctor_frameworks, door, place, unbuilt, version
from anynpu.command_test import anynpu

ROOT = Path(__file__).parents[2]


def test_a_good_machine_is_well():
    code, out, err = anynpu("doctor")
    assert code == 0, out + err
    assert out.endswith("all is well\n") and "AVX2" in out and "loads in" in out


def test_a_library_that_does_not_load_is_one_finding(tmp_path):
    (tmp_path / place.CORE).write_bytes(b"no library")
    code, out, _ = anynpu("doctor", ANYNPU_LIBRARY=str(tmp_path / place.CORE))
    assert code == 1 and out.count("file too short") == 1 and "cores" in out


def test_quiet_says_only_what_must_be_mended():
    assert anynpu("doctor", "--quiet")[1] == "all is well\n"


def test_a_foreign_library_in_the_path_is_found(tmp_path):
    (tmp_path / "libascendcl.so").write_bytes(b"\x7fELF of another vendor")
    code, out, _ = anynpu("doctor", "--quiet", LD_LIBRARY_PATH=str(tmp_path))
    assert code == 1
    assert f"BAD  C programs load {tmp_path}/libascendcl.so, which is not ours" in out
    assert f"-> take {tmp_path} out of LD_LIBRARY_PATH" in out


def test_our_own_libraries_in_the_path_are_no_clash():
    assert anynpu("doctor", "--quiet", LD_LIBRARY_PATH=str(place.libraries()))[0] == 0


def test_another_toolkit_is_named(tmp_path):
    for folder in ("lib64", "runtime", "compiler"):
        (tmp_path / folder).mkdir()
    env = {"ASCEND_HOME_PATH": str(tmp_path), "ASCEND_OPP_PATH": str(tmp_path)}
    code, out, _ = anynpu("doctor", **env)
    assert code == 0 and f"note ASCEND_HOME_PATH={tmp_path} names another toolkit" in out
    (tmp_path / "lib64/libopapi_math.so").touch()
    code, out, _ = anynpu("doctor", **env)
    assert code == 1 and "asks the libraries there before ours" in out


def test_half_a_toolkit_in_the_environment_is_found(tmp_path):
    code, out, _ = anynpu("doctor", "--quiet", ASCEND_HOME_PATH=str(tmp_path), ASCEND_OPP_PATH="")
    assert code == 1
    assert f"torch-npu will not start without {tmp_path}/runtime" in out and "ASCEND_OPP_PATH is not set" in out


def test_the_environment_we_print_is_well():
    assert anynpu("doctor", "--quiet", **place.toolkit())[0] == 0


def test_a_setting_that_makes_no_sense_is_found():
    code, out, _ = anynpu("doctor", ANYNPU_SOC="Ascend911")
    assert code == 1 and "Ascend911" in out


def test_features_that_are_not_built_are_shown_with_their_text():
    out = anynpu("doctor")[1]
    for entry in door.unfinished():
        assert entry.name in out and f"not built: {entry.feature}" in out
    for feature in unbuilt.features():
        assert f"not built: {feature.feature} ({feature.names}" in out and f"-> {feature.instead}" in out


# What each guide asks for, in the words that its reader would look for.
ASKED_FOR = """npu.distribute hccl.split gradient several_servers npu_bridge npu_device.compat NPUEstimator dump_config
    aclmdlInitDump enable_exception_dump torch.npu.init_dump precision_tool msaccucmp.py tfdbg_ascend PROFILING_MODE
    torch_npu.profiler msprof AOE_MODE aoe_config Auto_Tune kernel_meta op_debug_config op_compiler_cache_dir atc .om
    aclmdlLoadFromFile import_acl DVPP AIPP apex amp.initialize device_logs MirroredStrategy"""


def test_every_feature_that_a_guide_asks_for_and_does_not_get_is_listed():
    shown = "\n".join(finding.text for finding in doctor.check_unbuilt())
    assert not [word for word in ASKED_FOR.split() if word.replace("_", " ") not in shown.replace("_", " ")]


def is_missing(probe):
    """Whether what a probe of the table names is not built."""
    kind, _, name = probe.partition(":")
    if kind == "module":
        ours = [ROOT / "adapters/tensorflow", ROOT / "adapters/hccl", ROOT / "tools"]
        places = [folder / name.replace(".", "/") for folder in ours]
        return not any(place.exists() or place.with_suffix(".py").exists() for place in places)
    if kind == "command":
        return name not in (ROOT / "pyproject.toml").read_text().split("[project.scripts]")[1].split("[")[0]
    if kind == "symbol":
        return not hasattr(door.library(), name)
    if kind == "call":
        return door.library()[name]() == 207000
    if kind == "header":
        return not any((folder / name).exists() for folder in place.headers())
    if kind == "variable":
        return [v.acts for v in door.client_variables() if v.variable == name] == [0]
    assert kind == "option", probe
    return f'"{name.split(".")[-1]}": idle(' in (ROOT / "adapters/tensorflow/npu_device/options.py").read_text()


@pytest.mark.parametrize(
    "probe",
    ["module:npu_device.physical", "module:hccl.manage.api", "command:npu-smi", "symbol:aclInit", "header:acl/acl.h",
     "variable:NPU_DEBUG", "option:dump_config.dump_layers", "option:precision_mode", "call:aclrtSynchronizeDevice"],
)  # fmt: skip
def test_a_probe_sees_what_is_there(probe):
    assert not is_missing(probe)


@pytest.mark.parametrize("feature", unbuilt.features(), ids=lambda feature: feature.feature)
def test_what_the_table_lists_is_not_there(feature):
    """What is built leaves the table."""
    assert feature.instead and feature.names
    for probe in feature.probes.split():
        assert probe == "-" or is_missing(probe), probe


@pytest.mark.skipif(place.rpath_folder() is None, reason="needs torch-npu")
def test_an_occupied_rpath_folder_is_found(tmp_path, monkeypatch):
    shutil.copy("/bin/true", tmp_path / "libascendcl.so")
    monkeypatch.setattr(place, "rpath_folder", lambda: tmp_path)
    findings = list(doctor.check_rpath())
    assert [f.grade for f in findings] == ["bad"] and "move" in findings[0].cure


def test_an_npu_that_does_not_open_is_found():
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limits[1]))  # less than one NPU's memory
    try:
        findings = list(doctor.check_device())
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert [f.grade for f in findings] == ["bad"] and "ulimit -v" in findings[0].text


def test_a_lost_file_is_found(monkeypatch, tmp_path):
    class Lost:
        def __str__(self):
            return "anynpu/lib64/libanynpu.so"

        def locate(self):
            return tmp_path / "gone"

    monkeypatch.setattr(doctor.metadata, "files", lambda _: [Lost()])
    findings = list(doctor.check_files())
    assert [f.grade for f in findings] == ["bad"] and "first anynpu/lib64/libanynpu.so" in findings[0].text


def test_the_wrong_torch_has_a_cure_without_cuda():
    install = doctor_frameworks.install
    assert "/whl/cpu" in install("torch", "1") and "/whl" not in install("torch-npu", "1")


def installed(monkeypatch, **packages):
    """Makes `version` see exactly these packages."""
    monkeypatch.setattr(version, "installed", lambda name: packages.get(name.replace("-", "_")))


def test_tensorflow_has_its_version(monkeypatch):
    monkeypatch.setattr(version, "pins", lambda extra: {"tensorflow-cpu": "2.15.1"} if extra == "tensorflow" else {})

    def found(**packages):
        installed(monkeypatch, **packages)
        (finding,) = doctor_frameworks.check_tensorflow()
        return finding.grade, finding.text, finding.cure

    assert found(tensorflow_cpu="2.15.1")[:2] == ("ok", "tensorflow-cpu 2.15.1")
    assert found(tensorflow="2.15.1")[:2] == ("ok", "tensorflow 2.15.1")
    grade, text, cure = found(tensorflow="2.6.5")
    assert (grade, cure) == ("bad", "pip install tensorflow==2.15.1") and "is 2.6.5; AnyNPU is tested with" in text
    grade, _, cure = found()
    assert grade == "note" and cure.startswith("pip install 'anynpu[tensorflow]'")


def test_a_torchvision_for_cuda_beside_torch_for_cpus_is_found(monkeypatch, tmp_path):
    for folder in ("torch/lib", "torchvision"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(place, "package_folder", lambda name: tmp_path / name if (tmp_path / name).exists() else None)
    installed(monkeypatch, torchvision="0.28.0")
    library = tmp_path / "torchvision/_C.so"
    library.write_bytes(b"\x7fELF libtorch_cpu.so")
    assert not list(doctor_frameworks.check_torch_companions())
    library.write_bytes(b"\x7fELF libc10_cuda.so libtorch_cuda.so")
    (finding,) = doctor_frameworks.check_torch_companions()
    assert finding.grade == "bad" and "torchvision 0.28.0 is built for CUDA" in finding.text and "_C.so" in finding.text
    assert finding.cure == "pip install torchvision==0.28.0 --index-url https://download.pytorch.org/whl/cpu"
    (tmp_path / "torch/lib/libtorch_cuda.so").touch()
    assert not list(doctor_frameworks.check_torch_companions()), "a torch for CUDA brings what it needs"


def test_what_the_export_of_models_needs_is_named(monkeypatch):
    installed(monkeypatch, torch="2.13.0", onnx="1.23.2")
    (finding,) = doctor_frameworks.check_export()
    assert finding.grade == "note" and "needs onnxscript, not" in finding.text and "anynpu[export]" in finding.cure
    installed(monkeypatch, torch="2.13.0", onnx="1.23.2", onnxscript="0.7.2")
    assert not list(doctor_frameworks.check_export())
    installed(monkeypatch)
    assert not list(doctor_frameworks.check_export())
