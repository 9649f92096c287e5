# SPDX-License-Identifier: Apache-2.0
"""The C programs of examples/c build with the line in their first comment and do what they say."""

import pathlib
import re
import shutil
import subprocess

import pytest

from anynpu.command_test import anynpu

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "c"
DOES = {
    "hello": r"hello from Ascend910B1: 11 22 33 44\n",
    "matmul": r"4 products of 256 x 256 in \d+\.\d\d ms, at most \d\.\de-\d\d from those in double\n",
    "allreduce": r"2 ranks, 1000 numbers each: 0 wrong, the last is 2998\n",
}


def test_every_example_is_tried():
    assert {path.stem for path in EXAMPLES.glob("*.c")} == set(DOES)


@pytest.mark.promise("C programs")
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs a C compiler")
@pytest.mark.parametrize("name", DOES)
def test_an_example_builds_and_runs_as_it_says(name, tmp_path):
    source = (EXAMPLES / f"{name}.c").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^ \*     (gcc .*{name}\.c .*) && \./{name}$", source, flags=re.M)
    (tmp_path / "env.sh").write_text(anynpu("env")[1])
    line = line.replace("gcc ", "gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE ", 1)
    script = f"source ./env.sh; cp {EXAMPLES}/{name}.c .; {line}; ./{name}"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(DOES[name], done.stdout), done.stdout
