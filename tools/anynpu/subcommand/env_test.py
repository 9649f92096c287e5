# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import sys

import pytest

from anynpu.command_test import TOOLS, anynpu
from anynpu.library import place

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


def test_a_python_without_anynpu_has_the_module_acl(tmp_path):
    (tmp_path / "env.sh").write_text(anynpu("env")[1])
    (tmp_path / "back.sh").write_text(anynpu("env", "--unset")[1])
    code = "import acl; print(acl.init(), acl.rt.get_device_count(), acl.finalize())"
    # -S: nothing that is installed, as in another environment.
    script = f"""source ./env.sh; '{sys.executable}' -SsB -c '{code}'; source ./back.sh; echo "${{PYTHONPATH-none}}" """
    done = shell(script, tmp_path, ANYNPU_DEVICES="3")
    assert done.stdout.splitlines() == ["0 (3, 0) 0", "none"], done.stderr


@pytest.fixture
def guides_folder(tmp_path):
    """What `anynpu env --install` writes below a folder."""
    folder = tmp_path / "my Ascend"
    code, out, err = anynpu("env", "--install", str(folder))
    assert code == 0, err
    scripts = [f"{folder}/{name}/set_env.sh" for name in ("ascend-toolkit", "nnae", "tfplugin")]
    assert out.split("\n")[:3] == scripts and all(path.startswith(f"{folder}/") for path in out.split("\n")[:-1])
    return folder


def test_the_folders_of_a_toolkit_lead_to_ours(guides_folder):
    for name in ("ascend-toolkit", "nnae"):
        assert (guides_folder / name / "latest").resolve() == place.home().resolve()
        assert (guides_folder / name / "latest/opp").is_dir()
    for name in ("npu_device", "npu_bridge"):
        package = guides_folder / "tfplugin/latest/python/site-packages" / name
        assert not place.package_folder(name) or package.resolve() == place.package_folder(name).resolve()


def test_the_first_lines_of_the_guides_run(guides_folder, tmp_path):
    lines = [f". '{guides_folder}/{name}/set_env.sh'" for name in ("ascend-toolkit", "nnae", "tfplugin")]
    show = 'echo "$ASCEND_HOME_PATH $ASCEND_OPP_PATH"; echo "$LD_LIBRARY_PATH"'
    for interpreter in ("bash", "sh"):
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(TOOLS), "LD_LIBRARY_PATH": "/opt/mine"}
        environment |= {k: v for k, v in os.environ.items() if k == "ANYNPU_LIBRARY"}
        done = subprocess.run([interpreter, "-euc", "\n".join([*lines, show])], capture_output=True, text=True,
                              cwd=tmp_path, env=environment)  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert done.stdout.splitlines() == [" ".join(place.toolkit().values()), f"{place.libraries()}:/opt/mine"]


def test_they_are_taken_back_and_nothing_else(guides_folder):
    (guides_folder / "nnae/8.0").mkdir()
    assert anynpu("env", "--install", str(guides_folder))[0] == 0, "again is no mistake"
    assert anynpu("env", "--uninstall", str(guides_folder))[0] == 0
    assert [path.name for path in guides_folder.rglob("*")] == ["nnae", "8.0"]
    assert anynpu("env", "--uninstall", str(guides_folder)) == (0, "", "")
    assert place.home().is_dir()


def test_a_toolkit_that_is_there_stays(tmp_path):
    theirs = tmp_path / "nnae/set_env.sh"
    theirs.parent.mkdir()
    theirs.write_text("export ASCEND_HOME_PATH=/usr/local/Ascend/nnae/latest\n")
    for option in ("--install", "--uninstall"):
        code, out, err = anynpu("env", option, str(tmp_path))
        assert (code, out) == (1, "") and f"{theirs} is not ours: a toolkit is there; give another folder" in err
    assert theirs.read_text().startswith("export") and not (tmp_path / "ascend-toolkit").exists()


def test_a_folder_that_is_there_in_the_place_of_a_link_stays(tmp_path):
    theirs = tmp_path / "ascend-toolkit/latest/bin"
    theirs.mkdir(parents=True)
    code, _, err = anynpu("env", "--install", str(tmp_path))
    assert code == 1 and f"{theirs.parent} is not ours" in err and theirs.is_dir()
    assert not (tmp_path / "nnae").exists()


@pytest.mark.parametrize("name", ["set_env.sh", "bin/setenv.bash", "ascend-toolkit/set_env.sh", "nnae/set_env.sh"])
def test_the_toolkit_folder_has_them_too(name, tmp_path):
    (tmp_path / "anynpu").write_text("#!/bin/sh\necho export FROM_ANYNPU=$1\n")
    (tmp_path / "anynpu").chmod(0o755)
    script = f'. "{place.home() / name}"; echo "${{FROM_ANYNPU-none}}"'
    assert shell(script, tmp_path, PATH=f"{tmp_path}:/usr/bin:/bin").stdout == "env\n"
    without = shell(script, tmp_path)
    assert without.stdout == "none\n" and "activate the Python environment" in without.stderr
