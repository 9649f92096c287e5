# SPDX-License-Identifier: Apache-2.0
"""The commands of the tool, with the options that the guides show."""

import argparse
import os
import subprocess
import sys

from . import check, compare, fusion, graph, node, overflow, tensor
from .config import config as cfg
from .toolkit import PrecisionError, say

SESSIONS = "{} runs checkpoints of TensorFlow 1 in sessions, which is not built; {}"


class Parser(argparse.ArgumentParser):
    """A command line that is wrong ends the command, not the tool."""

    def error(self, message):
        raise PrecisionError(f"{self.prog}: {message}; {' '.join(self.format_usage().split())}")


def parsed(name, words, declare):
    parser = Parser(prog=name, allow_abbrev=False)
    declare(parser)
    try:
        return parser.parse_args(words)
    except SystemExit:  # of -h
        return None


def named(parser, *names, **options):
    """`NAME` or `-n NAME`."""
    group = parser.add_mutually_exclusive_group(required=options.pop("required", True))
    group.add_argument("name", nargs="?")
    group.add_argument(*names, dest="given")


def ac(words):
    """ac -l [limit_num] (-c)    fusions, overflows; -c: the whole run compared"""

    def declare(p):
        p.add_argument("-c", "--vector_compare", action="store_true")
        p.add_argument("-l", "--limit", type=int)

    if o := parsed("ac", words, declare):
        check.auto(o.vector_compare, o.limit)


def ls(words):
    """ls -n [op_name] -t [op_type] -f [fusion_pass] -k [kernel_name]    operators of graphs; ls dump: of dumps"""
    if words == ["dump"]:
        return tensor.show_files()

    def declare(p):
        for short, long in (("-n", "--name"), ("-t", "--type"), ("-f", "--fusion"), ("-k", "--kernel_name")):
            p.add_argument(short, long, default="")

    if o := parsed("ls", words, declare):
        graph.list_operators(o.type, o.name, o.fusion, o.kernel_name)


def ni(words):
    """ni (-n) [op_name] -g [graph] -d -s [save sub graph deep]    all about an operator; -d: its attributes"""

    def declare(p):
        named(p, "-n", "--name")
        p.add_argument("-g", "--graph")
        p.add_argument("-d", "-a", "--attr", action="store_true")
        p.add_argument("-s", "--save", type=int, default=0)

    if o := parsed("ni", words, declare):
        node.show(o.name or o.given, o.graph, o.attr, o.save)


def pt(words):
    """pt (-n) [*.npy]    shape, type and range of an array; its elements go into a text"""
    if o := parsed("pt", words, lambda p: named(p, "-n", "--name")):
        tensor.show(o.name or o.given)


def cp(words):
    """cp (-n) [left *.npy] [right *.npy] -p [print num] -al [atol] -rl [rtol] -s    two arrays compared"""

    def declare(p):
        p.add_argument("names", nargs="*")
        p.add_argument("-n", "--name", nargs=2, dest="given")
        p.add_argument("-p", "--print", type=int, default=20, dest="count")
        p.add_argument("-s", "--save", action="store_true", help="the default")
        p.add_argument("-al", "--atol", type=float, default=0.001)
        p.add_argument("-rl", "--rtol", type=float, default=0.001)

    if o := parsed("cp", words, declare):
        names = o.given or o.names
        if len(names) != 2:
            raise PrecisionError(f"cp: {len(names)} arrays are named; it takes two")
        tensor.compare(names, o.count, o.atol, o.rtol, True)


def dc(words):
    """dc (-n) [op_name or dump file] -f [format] -o [folder]    dump files made arrays of NumPy"""

    def declare(p):
        named(p, "-n", "--name")
        p.add_argument("-f", "--format")
        p.add_argument("-o", "--output")

    if o := parsed("dc", words, declare):
        tensor.convert(o.name or o.given, o.format, o.output)


def vc(words):
    """vc -lt [left_path] -rt [right_path] -g [graph]    two dumps compared; none: the run with what is there"""

    def declare(p):
        p.add_argument("-lt", "--left", nargs="?")
        p.add_argument("-rt", "--right", nargs="*", default=[])
        p.add_argument("-g", "--graph")

    if o := parsed("vc", words, declare):
        paths = [path for path in (o.left, *o.right) if path]  # a guide has both behind -lt -rt
        if len(paths) not in (0, 2):
            raise PrecisionError(f"vc: {len(paths)} folders are named; it takes -lt and -rt, or none of them")
        left, right = paths or (None, None)
        compare.summary(compare.vector_compare(left, right, o.graph))


def vcs(words):
    """vcs -f [file_name] -c [cos_sim_threshold] -l [limit]    the first operators of results below a cosine"""

    def declare(p):
        p.add_argument("-f", "--file")
        p.add_argument("-c", "--cos_sim", type=float, default=0.98)
        p.add_argument("-l", "--limit", type=int, default=3)

    if o := parsed("vcs", words, declare):
        compare.summary(o.file, o.cos_sim, o.limit)


def fu(words):
    """fu    fusions that took effect"""
    check.told(fusion.check(), f"no {fusion.NAME} is there")


def run(words):
    """run [command]    any command of the shell"""
    sys.stdout.flush()
    return subprocess.run(" ".join(words), shell=True).returncode


def with_flag(flag, words):
    """A script that asks npu_device_dump_config(npu_device, None), with a dump."""
    if not words:
        raise PrecisionError('name the command that trains: npu_dump "python3 train.py"')
    return subprocess.run(" ".join(words), shell=True, env=os.environ | {flag: "True"}).returncode


def npu_dump(words):
    """npu_dump "[command]"    runs a script whose npu_device_dump_config has the action None, with a dump"""
    return with_flag(cfg.PRECISION_TOOL_DUMP_FLAG, words)


def npu_overflow(words):
    """npu_overflow "[command]"    the same with a dump of overflows, which are shown then"""
    code = with_flag(cfg.PRECISION_TOOL_OVERFLOW_FLAG, words)
    check.told(overflow.check(), "no operator overflowed")
    return code


def train(words):
    """train    (not built)"""
    raise PrecisionError(SESSIONS.format("train", 'use npu_dump "python3 train.py"'))


def tf_dump(words):
    """tf_dump    (not built)"""
    raise PrecisionError(SESSIONS.format(
        "tf_dump", f"import tfdbg_ascend in the CPU's script, set_dump_path to {os.path.abspath(cfg.TF_DUMP_DIR)}"
    ))  # fmt: skip


def infer(words):
    """infer, data    (not built)"""
    raise PrecisionError(
        "infer and data read results of msquickcmp, which compares offline models; none are built here"
    )


COMMANDS = {"ac": ac, "run": run, "ls": ls, "ni": ni, "pt": pt, "cp": cp, "dc": dc, "vc": vc, "vcs": vcs, "fu": fu,
            "npu_dump": npu_dump, "npu_overflow": npu_overflow, "vector_compare": vc, "compare": cp, "train": train,
            "tf_dump": tf_dump, "infer": infer, "data": infer}  # fmt: skip


def execute(name, words):
    """The exit code of a command; what ends it is told."""
    try:
        return COMMANDS[name](words) or 0
    except PrecisionError as reason:
        say("ERROR", str(reason))
    except OSError as reason:
        say("ERROR", f"{name}: {reason.filename or ''}: {reason.strerror}")
    return 1
