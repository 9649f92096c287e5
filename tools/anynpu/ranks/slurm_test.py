# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest

from anynpu.ranks import slurm

# As srun -N 3 -n 5 sets them for its fourth process, in a job of its own.
SET = {
    "SLURM_PROCID": "3",
    "SLURM_NTASKS": "5",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "1",
    "SLURM_JOB_ID": "29990",
    "SLURM_STEP_ID": "7",
    "SLURM_JOB_NODELIST": "cn[08-09,11]",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
}


def test_a_process_of_srun_knows_its_place():
    assert slurm.variables(SET) == {
        "RANK": "3",
        "WORLD_SIZE": "5",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "cn08",
        "MASTER_PORT": str(15000 + 29997 % 15000),
    }
    assert [slurm.tasks_of(node, "2(x2),1") for node in range(3)] == ["2", "2", "1"]
    own = {"MASTER_ADDR": "10.0.0.9", "MASTER_PORT": "999"}
    assert slurm.variables(SET | own).items() >= own.items()
    assert slurm.variables(SET | {"SLURM_STEP_NODELIST": "cn11"})["MASTER_ADDR"] == "cn11"


@pytest.mark.parametrize(
    "other", [{"RANK": "0"}, {"RANK_TABLE_FILE": "t.json"}, {"CM_CHIEF_IP": "10.0.0.1"}, {"SLURM_NTASKS": "1"}]
)
def test_what_says_it_already_stays(other):
    assert slurm.variables(SET | other) == {}


def test_without_nodes_it_is_told():
    with pytest.raises(ValueError, match="SLURM_JOB_NODELIST is not; set MASTER_ADDR"):
        slurm.variables({name: value for name, value in SET.items() if "NODELIST" not in name})


def test_run_sets_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import os; print(*[os.environ[n] for n in ('RANK', 'WORLD_SIZE', 'MASTER_ADDR')])")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RANK", "WORLD_", "CM_"))}
    environment = {**kept, **SET, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "anynpu", "run", "--no-transfer", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["3", "5", "cn08"], done.stderr
