# SPDX-License-Identifier: Apache-2.0
"""Writes tensorflow.tsv: what becomes of each of TensorFlow's public names on the NPU. See README.md."""

import argparse
import collections
import csv
import fnmatch
import os
import pathlib
import re
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import names
import registry
import sample
import worker

HERE = pathlib.Path(__file__).parent
CLASSES = ["native", "host", "migrated", "no_effect", "unsupported", "removed", "unknown"]
RAW = "tensorflow.raw_ops."


def table(file):
    """Rows of a table with comments."""
    with open(HERE / file, encoding="utf-8") as opened:
        lines = (line for line in opened if not line.startswith("#") and line.strip())
        return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def read():
    """{name: (class, note)} of the list as it stands."""
    return {name: (support, note) for name, support, note in table("tensorflow.tsv")}


def expand(pattern):
    """`tf.` stands for both generations of TensorFlow, `v1.` for the first."""
    if pattern.startswith("tf."):
        return ["tensorflow." + pattern[3:], "tensorflow.compat.v1." + pattern[3:]]
    return ["tensorflow.compat.v1." + pattern[3:]] if pattern.startswith("v1.") else [pattern]


class Rules:
    """rule.tsv: names that a probe cannot judge. The first line that fits counts."""

    def __init__(self):
        self.rows = [(expand(pattern), (support, note)) for pattern, support, note in table("rule.tsv")]

    def of(self, name):
        for patterns, verdict in self.rows:
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                return verdict
        return None


def gone(wheels, present):
    """Names of an older TensorFlow that are not there any more."""
    old = set().union(*(names.of_wheel(path) for path in wheels)) if wheels else set()
    return {name for name in old - present if not any(other.startswith(name + ".") for other in old | present)}


SIZE = re.compile(r"(Tiny|X?Large|Small|Base|Mobile|\d{2,3}|B\d|[SML])(?=(V2)?$)")
SMALLEST = re.compile(r".*(Tiny|Small|Mobile|B0|50)(V2)?$")


def family(name, value):
    """What names one probe is enough for: those of an object, and the sizes of a network."""
    network = ".applications." in name and name.rsplit(".", 1)[1][0].isupper()
    return SIZE.sub("", name.rsplit(".", 1)[1]) if network else id(value)


def shortest_first(name):
    return not SMALLEST.match(name) if ".applications." in name else False, len(name), name


def jobs(found, rules):
    """{names: arguments of a probe}."""
    groups = collections.defaultdict(list)
    for name, value in found.items():
        if not name.startswith(RAW) and rules.of(name) is None:
            groups[family(name, value)].append(name)
    out = {}
    for group in groups.values():
        group.sort(key=shortest_first)
        old = any(".compat.v1." in name for name in group)
        out[tuple(group)] = (group[0], found[group[0]], old, sample.expression(group))
    return out


def verdicts(results):
    """{name: (class, note)} from the results of probes."""
    out = {}
    for group, result in results.items():
        verdict = ("unknown", "") if "error" in result else registry.of_operators(result["operators"], result["first"])
        out |= dict.fromkeys(group, verdict)
    return out


def ruled(found, rules):
    """{name: (class, note)} of what needs no probe."""
    out = {name: (support, note) for name, support, note in table("given.tsv")}
    for name in found:
        verdict = rules.of(name)
        if name.startswith(RAW):
            verdict = verdict or registry.of_operator(name.removeprefix(RAW))
        if verdict:
            out[name] = verdict
    return out


HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# What becomes of TensorFlow's names on the NPU. Made by probe.py from TensorFlow {version}; do not edit.
# api, support (label.tsv says what it means to users), note: for `host` the operators that run there.
"""


def write(rows):
    import tensorflow as tf

    with open(HERE / "tensorflow.tsv", "w", encoding="utf-8") as out:
        out.write(HEADER.format(version=tf.__version__))
        for alias, name in names.ALIASES.items():
            out.write(f"# alias\t{alias}\t{name}\n")
        out.writelines(f"{name}\t{support}\t{note}\n" for name, (support, note) in sorted(rows.items()))


def progress(total):
    count, start = 0, time.monotonic()

    def done(key, result):
        nonlocal count
        count += 1
        if count % 100 == 0 or count == total:
            print(f"{count} of {total} probes, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)

    return done


def totals(rows):
    counts = collections.Counter(support for support, _ in rows.values())
    return "\n".join(f"{c:12}{counts[c]:6}{100 * counts[c] / len(rows):6.1f} %" for c in CLASSES)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", nargs="*", default=[], metavar="WHEEL", help="wheels of TensorFlow 2.6 and its Keras")
    parser.add_argument("--only", metavar="PATTERN", help="probe these names, print the results and write nothing")
    parser.add_argument("--at-once", type=int, default=os.cpu_count())
    parser.add_argument("--failed", metavar="FILE", help="writes there why names could not be called")
    options = parser.parse_args()
    rules, found = Rules(), names.present()
    todo = jobs(found, rules)
    if options.only:
        todo = {k: v for k, v in todo.items() if any(fnmatch.fnmatchcase(name, options.only) for name in k)}
    results = worker.probe_all(todo, options.at_once, progress(len(todo)))
    if options.failed:
        failed = [f"{k[0]}\t{r['error']!r}\n" for k, r in results.items() if "error" in r]
        pathlib.Path(options.failed).write_text("".join(sorted(failed)), encoding="utf-8")
    if options.only:
        for names_of_one, result in sorted(results.items()):
            verdict = next(iter(verdicts({names_of_one: result}).values()))
            print(names_of_one[0], *verdict, result.get("how") or result["error"], sep="\t")
        return
    # Without the old wheels, what they said last time stands.
    removed = gone(options.old, set(found)) or {n for n, (_, note) in read().items() if note.startswith("removed in")}
    rows = {name: rules.of(name) or ("removed", "removed in TensorFlow 2.15 or earlier") for name in removed}
    rows |= verdicts(results) | ruled(found, rules)
    write(rows)
    print(totals(rows))


if __name__ == "__main__":
    main()
