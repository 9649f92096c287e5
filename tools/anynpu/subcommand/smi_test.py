# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import signal
import subprocess
import sys
import threading

import pytest

from anynpu.command_test import TOOLS, anynpu
from anynpu.library import door, place
from anynpu.subcommand import smi


def npu_smi(*arguments, **environment):
    return anynpu(*arguments, program="anynpu.subcommand.smi", **environment)


@pytest.fixture
def in_use():
    """This process with 3 MiB on NPU 1."""
    library, pointer = door.library(), ctypes.c_void_p()
    assert library.aclInit(None) in (0, 100002)
    assert library.aclrtSetDevice(1) == 0
    assert library.aclrtMalloc(ctypes.byref(pointer), ctypes.c_size_t(3 << 20), 0) == 0
    yield
    assert library.aclrtFree(pointer) == 0
    library.aclrtResetDevice(1)


def test_every_line_of_the_table_is_as_wide_as_the_vendors():
    code, out, err = npu_smi("info", ANYNPU_DEVICES="2")
    assert code == 0, err
    assert {len(line) for line in out.splitlines()} == {98}
    assert out.splitlines()[2] == "+" + "-" * 27 + "+" + "-" * 15 + "+" + "-" * 52 + "+"


def test_scripts_can_split_it():
    lines = npu_smi("info", ANYNPU_DEVICES="2")[1].splitlines()
    chips = [line.split("|")[1:-1] for line in lines if "| OK" in line]
    assert [cells[0].split() for cells in chips] == [["0", "910B1"], ["1", "910B1"]]


def test_a_process_shows_on_its_npu_with_its_memory(in_use):
    lines = npu_smi("info")[1].splitlines()
    mine = [line.split("|")[1:-1] for line in lines if f"| {os.getpid()} " in line]
    assert len(mine) == 1
    assert mine[0][0].split() == ["1", "0"] and int(mine[0][3]) >= 3
    assert any("No running processes found in NPU 5" in line for line in lines)


def test_details_of_one_npu(in_use):
    out = npu_smi("info", "-t", "memory", "-i", "1")[1]
    values = dict(map(str.strip, line.split(":")) for line in out.splitlines())
    assert int(values["HBM Used(MB)"]) >= 3 and int(values["HBM Capacity(MB)"]) > 0
    assert str(os.getpid()) in npu_smi("info", "-t", "proc-mem", "-i", "1")[1]


EXPORTER = """
import ctypes as C, sys
class Hbm(C.Structure):
    _fields_ = [("size", C.c_ulonglong), ("freq", C.c_uint), ("used", C.c_ulonglong), ("more", C.c_int * 2)]
dcmi, dsmi = C.CDLL(sys.argv[1] + "/libdcmi.so"), C.CDLL(sys.argv[1] + "/libdrvdsmi_host.so")
count, cards, hbm, older = C.c_int(), (C.c_int * 64)(), Hbm(), C.c_int()
codes = [dcmi.dcmi_init(), dcmi.dcmi_get_card_list(C.byref(count), cards, 64),
         dsmi.dsmi_get_device_count(C.byref(older)), dcmi.dcmi_get_device_hbm_info(1, 0, C.byref(hbm))]
print(codes, count.value, older.value, list(cards[: count.value]), hbm.size, hbm.used)
"""


def test_the_libraries_of_exporters_give_the_same_figures(in_use):
    values = fields(npu_smi("info", "-t", "memory", "-i", "1", ANYNPU_DEVICES="3")[1])
    command = [sys.executable, "-c", EXPORTER, str(place.libraries())]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"ANYNPU_DEVICES": "3"})
    memory = f"{values['HBM Capacity(MB)']} {values['HBM Used(MB)']}"
    assert done.stdout == f"[0, 0, 0, 0] 3 3 [0, 1, 2] {memory}\n", done.stderr


def fields(out):
    return dict(map(str.strip, line.split(":", 1)) for line in out.splitlines())


def test_what_only_a_card_has_is_not_invented():
    assert fields(npu_smi("info", "-t", "temp", "-i", "1")[1])["NPU Temperature (C)"] == "NA"
    assert fields(npu_smi("info", "-t", "power", "-i", "1", "-c", "0")[1])["NPU Real-time Power(W)"] == "NA"
    board = fields(npu_smi("info", "-t", "board", "-i", "1")[1])
    assert board["NPU ID"] == "1" and board["Product Name"].startswith("Ascend") and board["PCB ID"] == "NA"
    assert board["Chip Count"] == "1" and board["Software Version"]


def test_watching(in_use):
    environment = {**os.environ, "PYTHONPATH": str(TOOLS)}
    call = "import sys; from anynpu.subcommand.smi import main; sys.exit(main())"
    watch = subprocess.Popen([sys.executable, "-c", call, "info", "watch", "-i", "1", "-s", "pam"], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             # A shell's background job ignores SIGINT, and so would its children.
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    lines = [watch.stdout.readline() for _ in range(3)]
    watch.send_signal(signal.SIGINT)
    assert (watch.wait(30), watch.stderr.read()) == (0, "")
    assert lines[0].split() == ["NpuID(Idx)", "ChipId(Idx)", "Pwr(W)", "AI", "Core(%)", "Memory(%)"]
    for line in lines[1:]:
        npu, chip, power, core, memory = line.split()
        assert (npu, chip, power) == ("1", "0", "NA") and 0 <= int(core) <= 100 and 0 <= int(memory) <= 100


def test_what_watch_does_not_take_is_told():
    assert "watch takes seconds from 1 on (-d), and letters of ptaicmb (-s)" in npu_smi("info", "watch", "-d", "0")[2]
    assert "letters of ptaicmb" in npu_smi("info", "watch", "-s", "xyz")[2]
    assert "there is no watch; there are info, info watch, set and top" in npu_smi("watch")[2]


def test_the_table_is_shown_where_nothing_is_asked():
    assert npu_smi() == npu_smi("info") and npu_smi()[0] == 0 and npu_smi()[1].startswith("+---")


def test_listing_and_mapping():
    assert "Total Count                    : 8" in npu_smi("info", "-l")[1]
    assert len(npu_smi("info", "-m")[1].splitlines()) == 9


def test_a_detail_without_an_npu_says_what_is_needed():
    code, _, err = npu_smi("info", "-t", "usages")
    assert code == 1 and err == "npu-smi: -t needs the number of an NPU (-i); there are 0, 1, 2, 3, 4, 5, 6, 7\n"


def test_busy_time_becomes_a_share():
    npu = smi.Npu(0, "Ascend910B1", 100)
    npu.add(door.SimpleNamespace(pid=1, process="a", used=50), 0.25)
    npu.add(door.SimpleNamespace(pid=2, process="b", used=25), 0.9)
    assert npu.core_percent == 100 and npu.memory_percent == 75


def test_also_a_command_of_anynpu():
    assert anynpu("smi", "info")[1].splitlines()[0] == "+" + "-" * 96 + "+"


def test_setting_is_refused_in_the_vendors_words():
    code, out, err = npu_smi("set", "-t", "power-limit", "-i", "0", "-c", "0")
    assert code == 1
    assert fields(out) == {"Status": "Failed", "Message": "This device does not support setting power-limit."}
    assert "anynpu settings" in err


def test_top_draws_each_npu_and_its_processes(in_use):
    code, out, err = npu_smi("top")
    assert code == 0, err
    assert "NPU 1 " in out and "memory" in out and str(os.getpid()) in out


def test_utilisation_is_that_of_tasks_that_run(in_use):
    library, stream, pointer = door.library(), ctypes.c_void_p(), ctypes.c_void_p()
    assert library.aclrtCreateStream(ctypes.byref(stream)) == 0
    size = ctypes.c_size_t(64 << 20)
    assert library.aclrtMalloc(ctypes.byref(pointer), size, 0) == 0
    core = [next(npu for npu in smi.look() if npu.number == 1).core_percent]
    ended = threading.Event()

    def fill():
        assert library.aclrtSetDevice(1) == 0
        while not ended.is_set():
            library.aclrtMemsetAsync(pointer, size, 1, size, stream)
            library.aclrtSynchronizeStream(stream)

    thread = threading.Thread(target=fill)
    thread.start()
    core += [next(npu for npu in smi.look() if npu.number == 1).core_percent for _ in range(10)]
    ended.set()
    thread.join()
    library.aclrtFree(pointer)
    library.aclrtDestroyStream(stream)
    assert core[0] == 0 and sorted(core[1:])[5] > 20, core


def test_a_bar_is_as_long_as_its_share():
    assert smi.bar(0, 4) == "····" and smi.bar(50, 4) == "██··" and smi.bar(100, 4) == "████"
    busy = smi.Npu(0, "Ascend910B1", 100 << 20)
    busy.busy = 0.5
    history = {}
    for _ in range(70):
        page = smi.drawn([busy], history)
    assert page[4].strip() == "▄" * 60, "the last looks only"


def test_a_kind_that_does_not_exist_is_refused():
    code, _, err = npu_smi("info", "-t", "colour", "-i", "0")
    assert code == 1 and "-t colour is none of usages, memory" in err
