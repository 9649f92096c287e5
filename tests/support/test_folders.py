# SPDX-License-Identifier: Apache-2.0
"""pytest over several folders, in a small project with this one's folders.py."""

import subprocess
import sys

import pytest

CONFTEST = """
import sys
sys.path.insert(0, {support!r})
import folders
def pytest_cmdline_main(config):
    return folders.run(config)
"""
TEST = """
import sys
seen = sys.__dict__.setdefault("folders_of_this_process", set())
seen.add({own!r})
def test_alone(): assert seen == {{{own!r}}}
def test_result(): assert {passes}
"""


@pytest.fixture
def project(tmp_path, request):
    support = str(request.path.parent)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["tests", "tools"]')
    (tmp_path / "conftest.py").write_text(CONFTEST.format(support=support))
    for own, passes in {"tests/one": True, "tests/two": True, "tools/three": False}.items():
        (tmp_path / own).mkdir(parents=True)
        (tmp_path / own / "test_same_name.py").write_text(TEST.format(own=own, passes=passes))

    def run(*words):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout

    return run


def test_each_folder_has_a_process(project):
    code, said = project("-q")
    assert code == 1 and said.count("2 passed") == 2 and "1 failed, 1 passed" in said, said
    assert [line for line in said.splitlines() if line.startswith("==") and "/" in line] == [
        "== tests/one", "== tests/two", "== tools/three"]  # fmt: skip


def test_words_of_one_folder_need_no_other_process(project):
    code, said = project("-q", "tests/one", "tests/one/test_same_name.py::test_alone")
    assert code == 0 and "== tests" not in said, said


def test_options_are_those_of_each(project):
    for words in (["-q", "-k", "alone", "tests", "tools"], ["tests", "-q", "tools", "-k", "alone"]):
        code, said = project(*words)
        assert code == 0 and said.count("1 passed, 1 deselected") == 3, said
    code, said = project("-q", "-k", "alone", "tests/one::nothing", "tests/two/test_same_name.py::test_alone")
    assert code == 4 and "1 passed" in said, said
    code, said = project("-q", "-k", "no_such_test")
    assert code == 5 and said.count("2 deselected in") == 3, said


def test_it_ends_at_the_first_failure_where_that_is_asked(project):
    code, said = project("-q", "-x", "tools", "tests")
    assert code == 1 and "tests/one" not in said, said


def test_help_is_for_all(project):
    code, said = project("--help")
    assert code == 0 and said.count("usage:") == 1
