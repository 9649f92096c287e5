# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess

import pytest

from anynpu import place
from anynpu.command_test import anynpu

PROGRAM = """
#include <stdio.h>
#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
int main(void) {
  uint32_t count = 0;
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  if (aclInit(NULL) != 0 || aclrtGetDeviceCount(&count) != 0) return 1;
  int refused = aclnnAddGetWorkspaceSize(NULL, NULL, NULL, NULL, &size, &executor);
  printf("%u NPUs, a null tensor gives %d\\n", count, refused);
  return aclFinalize();
}
"""


def shell(script, tmp_path, **environment):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **environment}
    return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, cwd=tmp_path, env=environment)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs a C compiler")
def test_a_c_program_builds_and_runs_with_the_printed_environment(tmp_path):
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "env.sh").write_text(anynpu("env")[1])
    done = shell("source ./env.sh; gcc -std=c11 -Wall -Werror main.c -lascendcl -lopapi -o main; ./main", tmp_path)
    assert (done.returncode, done.stdout) == (0, "8 NPUs, a null tensor gives 161001\n"), done.stderr


def test_the_script_keeps_what_was_there_and_can_be_taken_back(tmp_path):
    (tmp_path / "env.sh").write_text(anynpu("env")[1])
    (tmp_path / "back.sh").write_text(anynpu("env", "--unset")[1])
    script = 'source ./env.sh; echo "$LD_LIBRARY_PATH"; source ./back.sh; echo "$LD_LIBRARY_PATH|${CPATH-none}"'
    done = shell(script, tmp_path, LD_LIBRARY_PATH="/opt/mine")
    assert done.stdout.splitlines() == [f"{place.libraries()}:/opt/mine", "/opt/mine|none"], done.stderr
