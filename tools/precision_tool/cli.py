# SPDX-License-Identifier: Apache-2.0
"""The precision tool: python3 precision_tool/cli.py [command], else a line for each command."""

import cmd
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where tf_config is imported from, too
from precision_tool.lib.command import COMMANDS, execute  # noqa: E402


class Prompt(cmd.Cmd):
    """Reads commands; a line that is none goes to the shell."""

    prompt = "PrecisionTool > "

    def onecmd(self, line):
        line = line.strip()
        if line in ("EOF", "exit", "quit"):
            return True
        if line.split(" ")[0] in ("help", "?"):
            print(usage())
        elif line:
            name, _, rest = line.partition(" ")
            known = name in COMMANDS and name != "run"
            execute(name if known else "run", split(rest) if known else [rest if name == "run" else line])
        return False


def split(text):
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is open
        return text.split()


def usage():
    return "\n".join(f"  {one.__doc__}" for one in dict.fromkeys(COMMANDS.values()))


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        print(f"{__doc__}\n\n{usage()}")
        return 0
    if arguments and arguments[0] not in COMMANDS:
        print(f"{arguments[0]} is no command; there are:\n{usage()}", file=sys.stderr)
        return 2
    if arguments:
        return execute(arguments[0], arguments[1:])
    try:
        Prompt().cmdloop("help tells the commands.")
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
