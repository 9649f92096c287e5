# SPDX-License-Identifier: Apache-2.0
import functools
import sys
from pathlib import Path

from anynpu.fallback import line


def run(text, name):
    """What `text`, as the file `name`, finds out about itself."""
    space = {"line": line, "sys": sys, "functools": functools, "__name__": "there"}
    exec(compile(text, name, "exec"), space)
    return space["found"]


def test_packages_and_python_are_passed_over():
    package = Path(line.PATHS["purelib"], "package/module.py")
    assert run("found = line.line_of(sys._getframe())", "/home/me/train.py") == "/home/me/train.py:1"
    space = {"line": line, "sys": sys}
    exec(compile("def ask():\n    return line.line_of(sys._getframe())", package, "exec"), space)
    caller = {"ask": space["ask"]}
    exec(compile("\n\nfound = ask()", "/home/me/train.py", "exec"), caller)
    assert caller["found"] == "/home/me/train.py:3"


def test_a_program_of_packages_alone_has_the_innermost_that_is_not_torchs():
    package = str(Path(line.PATHS["purelib"], "package/module.py"))
    assert run("found = line.outside_torch(sys._getframe())", package) == f"{package}:1"


def test_what_the_compiler_of_torch_writes_is_nobodys_line():
    assert not line.is_users(compiled("<eval_with_key>.1")) and line.is_users(compiled("<string>"))


def compiled(name):
    return run("found = sys._getframe()", name)
