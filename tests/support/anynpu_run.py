# SPDX-License-Identifier: Apache-2.0
"""`anynpu run` for tests of what it observes: its options are handled in the test's process, and the process of each
run of the script may be a fork (python_process.py). Tests of the command line itself start the command."""

import argparse
import os
import subprocess
from unittest import mock

import python_process
from anynpu.command import main
from anynpu.ranks.assignment import free_port
from anynpu.subcommand import run as command

PARSER = argparse.ArgumentParser()
command.add_arguments(PARSER)


def process_of(words, env):
    """The command of the script's process, and its environment."""
    environment = dict(os.environ if env is None else env)
    given = PARSER.parse_args(command.spelled_out([str(word) for word in words]))
    assert not given.repeat and not given.bisect, "these run the script several times"
    with mock.patch.dict(os.environ, environment, clear=True):
        process, more = command.script_process(given)
    return process, environment | more


def run(*words, env=None, **options):
    """subprocess.run of `anynpu run WORDS…`, for options that run the script once."""
    process, environment = process_of(words, env)
    return subprocess.run(process, env=environment, **options)


def run_ranks(size, *words, env=None):
    """`anynpu run WORDS…` as `size` ranks on this machine, with the variables that torchrun sets.

    Returns the (status, stderr) of each rank."""
    common = (os.environ if env is None else env) | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    common |= {"WORLD_SIZE": str(size), "OMP_NUM_THREADS": "1"}
    ranks = []
    for rank in range(size):
        process, environment = process_of(words, common | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
        ranks.append(python_process.start(process, env=environment, stderr=subprocess.PIPE, text=True))
    errors = [rank.communicate()[1] for rank in ranks]
    return [(rank.returncode, text) for rank, text in zip(ranks, errors, strict=True)]


def run_repeatedly(capfd, *words, env=None):
    """`anynpu run WORDS…` for options that run the script several times; `capfd` is pytest's fixture.

    Returns what subprocess.run returns, with the output of the command and of the runs as texts."""
    with mock.patch.dict(os.environ, {} if env is None else env):
        code = main(["run", *map(str, words)])
    return subprocess.CompletedProcess(words, code, *capfd.readouterr())
