# SPDX-License-Identifier: Apache-2.0
"""What a machine lacks is named in one sentence, with the command that installs it."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120)


def packages(kind):
    lines = (ROOT / "cmake/debian-packages.txt").read_text().splitlines()
    return [line.split()[0] for line in lines if line.split()[1:2] == [kind] and not line.startswith("#")]


def test_a_missing_header_is_named_by_its_debian_package(tmp_path):
    without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "HWY")]
    done = run("cmake", "-S", ".", "-B", str(tmp_path), "-DANYNPU_TESTS=OFF", *without)
    assert done.returncode != 0
    assert "  apt-get install -y libfmt-dev libhwy-dev\n" in done.stderr


def test_a_missing_compiler_names_all_that_the_build_needs(tmp_path):
    done = run("cmake", "-S", ".", "-B", str(tmp_path), CXX="/nowhere/c++")
    assert done.returncode != 0
    assert "AnyNPU needs a C++ compiler." in done.stderr
    assert f"  apt-get install -y {' '.join(packages('build'))}\n" in done.stderr


@pytest.fixture
def bare(tmp_path):
    """A folder for PATH with what every machine has, where no Debian package is installed."""
    for name in ("bash", "sh", "dirname", "grep", "id", "cat"):
        (tmp_path / name).symlink_to(shutil.which(name))
    program(tmp_path / "dpkg-query", "exit 1")
    return tmp_path


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def as_user(folder):
    """`id` of a user who is not root."""
    (folder / "id").unlink()
    program(folder / "id", "echo 1000")


SENTENCE = "AnyNPU needs these Debian packages; as root: apt-get update && apt-get install -y g++ "


def test_without_root_and_sudo_the_packages_are_named(bare):
    as_user(bare)
    done = run("cmake/setup.sh", "build", PATH=str(bare))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and SENTENCE in done.stderr


def test_a_refusal_of_sudo_ends_the_same(bare):
    as_user(bare)
    program(bare / "sudo", "echo 'sudo: a password is required' >&2; exit 1")
    done = run("cmake/setup.sh", "build", PATH=str(bare))
    assert done.returncode == 1 and SENTENCE in done.stderr


def test_only_what_is_asked_for_is_installed(bare):
    program(bare / "apt-get", 'echo "$@" >&2; case $2 in install) exit 1 ;; esac')
    done = run("cmake/setup.sh", "build", PATH=str(bare))
    wanted = packages("build") + packages("test")
    assert done.returncode == 1
    assert f"install -y --no-install-recommends {' '.join(wanted)}\n" in done.stderr
