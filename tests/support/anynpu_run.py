# SPDX-License-Identifier: Apache-2.0
"""`anynpu run` for tests of what it observes: the process of the script, which the command would become, may be a fork.
Tests of the command itself start it."""

import argparse
import os
import subprocess
from unittest import mock

from anynpu.subcommand import run as command

PARSER = argparse.ArgumentParser()
command.add_arguments(PARSER)


def run(*words, env=None, **options):
    """subprocess.run of `anynpu run WORDS…`, for options that run the script once."""
    environment = dict(os.environ if env is None else env)
    given = PARSER.parse_args(command.spelled_out([str(word) for word in words]))
    assert not given.repeat and not given.bisect, "these run the script several times"
    with mock.patch.dict(os.environ, environment, clear=True):
        process, more = command.script_process(given)
    return subprocess.run(process, env=environment | more, **options)
