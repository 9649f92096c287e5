# SPDX-License-Identifier: Apache-2.0
"""run_distributed_npu.sh, as `ms_fmk_transplt … distributed` writes it: several processes, how they meet and end."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import binary
import pytest

# What a process prints of itself, on one line; the vendor's plug-in may say something before.
SEEN = """import os, sys
keys = ("RANK", "RANK_ID", "LOCAL_RANK", "DEVICE_ID", "WORLD_SIZE", "RANK_SIZE", "MASTER_ADDR", "MASTER_PORT")
print(*(os.environ[key] for key in keys), *sys.argv[1:], sep="|", flush=True)
"""
# A process with a child of its own; both live for a minute, unless somebody ends them.
LIVES = """import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
with open(f"pids.{os.environ['RANK']}.tmp", "w") as file:
    print(os.getpid(), child.pid, file=file)
os.rename(file.name, f"pids.{os.environ['RANK']}")
"""
GLOO = """import os
import sys
import torch
import torch.distributed as dist
if __name__ == "__main__":
    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
    model(torch.full((1, 1), dist.get_rank() + 1.0)).backward()
    total = torch.tensor([dist.get_rank() + 1])
    dist.all_reduce(total)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {total.item()} {model.module.weight.grad.item()}")
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # torch's own threads may abort an interpreter that ends right behind a backward
"""

# Trains on one GPU. A rank takes every second sample: two ranks together those of a batch of twice the size.
TRAIN = """import torch
from torch.utils.data import DataLoader, TensorDataset

def main():
    torch.manual_seed(3)
    inputs = torch.linspace(-1, 1, 32).reshape(16, 2)
    train_loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=2)
    net = torch.nn.Linear(2, 1).to("cuda:0")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in train_loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x.cuda(0)), y.cuda(0)).backward()
            optimizer.step()
    print("weights", *[value.item() for weight in net.parameters() for value in weight.detach().cpu().flatten()])
"""


def heed_signals():
    """A shell cannot trap what whoever started the tests ignores (nohup, a job in the background)."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Launcher:
    def __init__(self, folder, text, name="train.py", migrated=False, options=(), model="model"):
        source = folder / "my net"
        source.mkdir()
        (source / name).write_text(text)
        (folder / "out put").mkdir()
        arguments = ["ms_fmk_transplt", "-i", source, "-o", folder / "out put", *options]
        run = binary.migrate(*arguments, "distributed", "-m", source / name, "-t", model, folder=folder)
        assert run.returncode == 0, run.stdout
        self.folder = folder / "out put/my net_msft_multi"
        if not migrated:  # the launcher's work is the same, and no NPU need be there
            (self.folder / name).write_text(text)

    def start(self, *arguments, **environment):
        kept = {key: value for key, value in os.environ.items() if key not in ("RANK_SIZE", "RANK_ID_START")}
        return subprocess.Popen(
            [self.folder / "run_distributed_npu.sh", *arguments],
            env={**kept, "NPU_DEVICES": "0 1", "PYTHON": sys.executable, "MASTER_PORT": "29741", **environment},
            cwd="/",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_signals,
        )

    def run(self, *arguments, seconds=60, **environment):
        process = self.start(*arguments, **environment)
        try:
            out, err = process.communicate(timeout=seconds)
        finally:
            process.kill()
        return process.returncode, out, err

    def said(self, device):
        return (self.folder / f"output_npu_{device}.log").read_text().splitlines()[-1]

    def pids(self, *ranks):
        """Those that LIVES wrote, once all are there."""
        files = [self.folder / f"pids.{rank}" for rank in ranks]
        end = time.monotonic() + 30
        while not all(file.exists() for file in files):
            assert time.monotonic() < end, "the processes did not start"
            time.sleep(0.02)
        return [int(pid) for file in files for pid in file.read_text().split()]


def living(pids):
    def state(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return "gone"

    return [pid for pid in pids if state(pid) not in ("gone", "Z", "X")]


def test_every_process_knows_its_place(tmp_path):
    launcher = Launcher(tmp_path, SEEN, "my train's.py")
    arguments = ["--name", "two words", "*", ""]
    assert launcher.run(*arguments, NPU_DEVICES="0,3", MASTER_ADDR="127.0.0.2") == (0, "", "")
    assert launcher.said(0) == "0|0|0|0|2|2|127.0.0.2|29741|--name|two words|*|"
    assert launcher.said(3) == "1|1|1|3|2|2|127.0.0.2|29741|--name|two words|*|"


def test_a_machine_of_several(tmp_path):
    launcher = Launcher(tmp_path, SEEN)
    assert launcher.run(NPU_DEVICES="5", RANK_ID_START="8", RANK_SIZE="9")[0] == 0
    assert launcher.said(5) == "8|8|0|5|9|9|127.0.0.1|29741"


def test_processes_meet_by_what_is_in_their_environment(tmp_path):
    pytest.importorskip("torch")
    launcher = Launcher(tmp_path, GLOO, migrated=True)
    code, _, err = launcher.run(TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTHONPATH=stand_in(tmp_path))
    assert (code, err) == (0, ""), launcher.said(0)
    assert [launcher.said(device) for device in (0, 1)] == ["rank 0 of 2: 3 1.5", "rank 1 of 2: 3 1.5"]


def on_the_cpu(folder, text):
    """The last line it prints there, of a process that has never heard of an NPU."""
    (folder / "plain.py").write_text(text.replace('"cuda:0"', '"cpu"').replace(".cuda(0)", "").replace("=2)", "=4)"))
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, folder / "plain.py"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "options, begins",
    [(["-s"], 'if __name__ == "__main__":\n    main()\n'), (["-s", "-sim"], "main()\n")],
    ids=["guard", "none"],
)
def test_what_is_written_trains_as_one_process_on_the_joined_batch(options, begins, tmp_path):
    if not importlib.util.find_spec("torch_npu"):
        pytest.skip("torch_npu is not installed")
    launcher = Launcher(tmp_path, TRAIN + begins, migrated=True, options=options, model="net")
    code, _, err = launcher.run(seconds=900)
    logs = [(launcher.folder / f"output_npu_{device}.log").read_text() for device in (0, 1)]
    assert code == 0, err + "\n".join(logs)
    wanted = [float(word) for word in on_the_cpu(tmp_path, TRAIN + begins).split()[1:]]
    for log in logs:
        (said,) = [line for line in log.splitlines() if line.startswith("weights ")]
        # Eight steps in float32 that sum in another order: some units in the last place of numbers near 1.
        assert [float(word) for word in said.split()[1:]] == pytest.approx(wanted, rel=0, abs=2e-6)


def stand_in(folder):
    """A torch_npu with nothing in it: the check is of gloo, on the CPU."""
    (folder / "modules").mkdir()
    (folder / "modules/torch_npu.py").write_text("")
    return str(folder / "modules")


def test_the_first_that_fails_ends_the_others(tmp_path):
    text = LIVES + "if os.environ['RANK'] == '1':\n    child.kill()\n    sys.exit(3)\ntime.sleep(60)\n"
    launcher = Launcher(tmp_path, text)
    start = time.monotonic()
    code, out, err = launcher.run(NPU_DEVICES="0 4 2")
    assert (code, out, err) == (3, "", "rank 1 on NPU 4 ended with 3; its log is output_npu_4.log\n")
    assert time.monotonic() - start < 9 and not living(launcher.pids(1))
    assert not living(int(pid) for file in launcher.folder.glob("pids.?") for pid in file.read_text().split())


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_all(number, code, tmp_path):
    launcher = Launcher(tmp_path, LIVES + "time.sleep(60)\n")
    process = launcher.start()
    pids = launcher.pids(0, 1)
    assert len(living(pids)) == 4
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err, living(pids)) == (code, "", [])


def test_a_process_that_will_not_end_is_killed(tmp_path):
    text = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + LIVES + "time.sleep(60)\n"
    launcher = Launcher(tmp_path, text)
    process = launcher.start(NPU_DEVICES="0", STOP_SECONDS="1")
    pids = launcher.pids(0)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143 and not living(pids)


def test_no_npu(tmp_path):
    launcher = Launcher(tmp_path, SEEN)
    code, _, err = launcher.run(NPU_DEVICES=" ")
    assert code == 2 and err == "no NPU: set NPU_DEVICES, as in NPU_DEVICES='0 1'\n"
    assert launcher.run(NPU_DEVICES="", PYTHON="/no/such/python")[0] == 2
