# SPDX-License-Identifier: Apache-2.0
import cpu
import pytest


def cpuinfo(vendor, family, model, flags=""):
    one = f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nflags\t\t: {flags}\n"
    return one + "\n" + one.replace("processor\t: 0", "processor\t: 1")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (cpuinfo("AuthenticAMD", 26, 2, "avx2 avx512f"), "Zen 5"),
        (cpuinfo("AuthenticAMD", 25, 17), "Zen 4"),
        (cpuinfo("AuthenticAMD", 25, 97), "Zen 4"),
        (cpuinfo("AuthenticAMD", 25, 160), "Zen 4"),
        (cpuinfo("AuthenticAMD", 25, 1), "Zen 3"),
        (cpuinfo("AuthenticAMD", 25, 80), "Zen 3"),
        (cpuinfo("AuthenticAMD", 23, 49), "Zen 2"),
        (cpuinfo("GenuineIntel", 6, 143, "avx512f amx_tile"), "Sapphire Rapids with AMX"),
        (cpuinfo("GenuineIntel", 6, 207, "avx512f"), "Emerald Rapids without AMX"),
        (cpuinfo("GenuineIntel", 6, 106, "avx512f"), "Ice Lake-SP"),
        (cpuinfo("GenuineIntel", 6, 60, "avx avx2"), "AVX2"),
        (cpuinfo("AuthenticAMD", 99, 0, "avx2 avx512f"), "AVX-512"),
        ("processor : 0\nBogoMIPS : 50.00\nFeatures : fp asimd\n", "no AVX2"),
    ],
)
def test_a_cpu_has_a_class(text, name):
    assert cpu.cpu_class(text) == name


def test_sizes_and_processors_are_read():
    assert [cpu.size(text) for text in ("48K", "1M", "64\n")] == [48 << 10, 1 << 20, 64]
    assert [cpu.sharing(text) for text in ("0", "0-3", "0-3,8,10-11\n")] == [1, 4, 7]


def test_caches_are_those_for_data(tmp_path):
    rows = (("1", "Data", "48K", "0"), ("1", "Instruction", "32K", "0"), ("3", "Unified", "32M", "0-7"))
    for number, values in enumerate(rows):
        folder = tmp_path / f"cpu0/cache/index{number}"
        folder.mkdir(parents=True)
        for name, value in zip(("level", "type", "size", "shared_cpu_list"), values, strict=True):
            (folder / name).write_text(value + "\n")
    found = cpu.caches(tmp_path)
    assert found == {"L1": {"bytes": 48 << 10, "shared_by": 1}, "L3": {"bytes": 32 << 20, "shared_by": 8}}
    assert cpu.caches(tmp_path / "nothing") == {}


def test_this_machine_is_described():
    described = cpu.describe(1)
    assert described["class"] and described["cores"] >= 1
    assert described["class"] in cpu.sentence(described)
