# SPDX-License-Identifier: Apache-2.0
"""The command `anynpu`."""

import importlib
import sys
from types import SimpleNamespace

from anynpu.output import pipe

COMMANDS = {
    "run": "run a Python script written for a GPU on the software NPU",
    "launch": "run a script as several ranks, each on an NPU of its own",
    "migrate": "turn scripts written for a GPU into scripts for the NPU (TensorFlow, PyTorch)",
    "env": "print what a C program needs in its environment, as a shell script",
    "doctor": "check this machine and installation; every finding comes with its cure",
    "ops": "list the operators and the aclnn functions that reach them",
    "precision": "show what a precision mode of TensorFlow makes of each operator",
    "dump": "look at data dumps of operators: list, show, convert, compare (also installed as msaccucmp)",
    "logs": "show what processes logged, or export the log files (also as msnpureport)",
    "compare": "name the first operator of a run that computes something else than a golden one's",
    "profile": "run a script and say what makes it slow, what that costs and what helps",
    "infer": "run a model file (.om) and tell how long it takes",
    "tune": "run a script and keep which of the ways to compute it are the fastest (as AOE)",
    "cache": "show, check or remove compiled functions that are kept on disk",
    "settings": "list every environment variable with its default and the value in force",
    "collectives": "show how collectives share their work, and how long they should take",
    "smi": "show the NPUs and the processes that use them (also installed as npu-smi)",
}
PROGRAMS = ("migrate", "dump", "compare")  # their options are the programs' own, -h too
EXAMPLES = """examples:
  anynpu run train.py --epochs 3     a script that says .cuda() trains on the NPU, unchanged
  eval "$(anynpu env)"               then: g++ main.cpp -lascendcl && ./a.out
  anynpu run --report step.py        what became of its functions (TensorFlow), what ran on the host (PyTorch)
  anynpu launch -n 4 train.py        four ranks, as torchrun would start them
  anynpu profile train.py            where the time goes, and what makes it slow
  anynpu tune train.py               measure kernels on this machine; later runs use what won
  anynpu migrate project/            a copy for the NPU; --diff only shows what would change
  anynpu doctor                      first thing to try when something does not work
"""


def parser():
    import argparse  # slow, as the modules of all commands are; programs start without

    from anynpu.library import version

    top = argparse.ArgumentParser(
        prog="anynpu",
        description="AnyNPU, a software Ascend NPU: programs for the NPU run on an ordinary CPU.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"anynpu {version.anynpu()}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, sentence in COMMANDS.items():
        module = importlib.import_module(f"anynpu.subcommand.{name}")
        sub = commands.add_parser(name, help=sentence, description=module.__doc__)
        module.add_arguments(sub)
        sub.set_defaults(execute=module.execute)
    return top


def main(arguments=None):
    return pipe.until_the_reader_leaves(lambda: command(arguments))


def command(arguments):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["run"]:
        from anynpu.subcommand import run

        arguments = ["run", *run.spelled_out(arguments[1:])]
    if arguments and arguments[0] in PROGRAMS:
        module = importlib.import_module(f"anynpu.subcommand.{arguments[0]}")
        options = SimpleNamespace(command=arguments[0], execute=module.execute, arguments=arguments[1:])
    else:
        options = parser().parse_args(arguments)
    try:
        return options.execute(options)
    except BrokenPipeError:
        raise
    except (FileNotFoundError, ValueError) as error:
        print(f"anynpu {options.command}: {error}", file=sys.stderr)
        return 1
    except OSError as error:  # of the loader: it names a file, no cure
        print(f"anynpu {options.command}: {error}; anynpu doctor tells what to do", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
