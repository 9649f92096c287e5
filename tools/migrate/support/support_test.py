# SPDX-License-Identifier: Apache-2.0
"""The committed support lists: their form, the registry they come from, and some of the probes again."""

import csv
import importlib.util
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
SUPPORTS = {"native", "host", "migrated", "no_effect", "unsupported", "removed", "unknown"}
PROBED = 40

# Probes fork from a process that has imported TensorFlow and nothing else.
PROBE = """
import sys
sys.path.insert(0, {here!r})
import probe, names, worker
rules, wanted = probe.Rules(), set(sys.stdin.read().split())
todo = {{k: v for k, v in probe.jobs(names.present(), rules).items() if wanted & set(k)}}
for name, (support, note) in probe.verdicts(worker.probe_all(todo, 2)).items():
    if name in wanted:
        print(name, support, note, sep="\\t")
"""


def rows(file):
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return list(csv.reader((line for line in lines if line[0] != "#"), delimiter="\t", quoting=csv.QUOTE_NONE))


def run(code, text=""):
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_list_is_sorted_and_says_one_thing_of_each_name():
    found = [row[0] for row in rows("tensorflow.tsv")]
    assert found == sorted(set(found))
    assert len(found) > 7000


def test_every_row_has_a_support_that_has_a_label():
    assert {row[1] for row in rows("tensorflow.tsv")} <= SUPPORTS
    assert all(len(row) == 3 for row in rows("tensorflow.tsv"))
    assert {row[0] for row in rows("label.tsv")} - {"-"} == SUPPORTS


def test_names_are_written_in_full():
    wrong = [n for n, _, _ in rows("tensorflow.tsv") if not re.fullmatch(r"(tensorflow|horovod)(\.[A-Za-z]\w*)+", n)]
    assert wrong == []


def test_at_most_a_quarter_is_unknown():
    found = [row[1] for row in rows("tensorflow.tsv")]
    assert found.count("unknown") <= len(found) / 4


def test_hand_written_tables_reach_the_list():
    listed = {name: [support, note] for name, support, note in rows("tensorflow.tsv")}
    for name, *verdict in rows("given.tsv"):
        assert listed[name] == verdict


@pytest.mark.parametrize(
    ("name", "support"),
    [
        ("tensorflow.keras.layers.Dense", "native"),
        ("tensorflow.raw_ops.MatMul", "native"),
        ("tensorflow.strings.lower", "host"),
        ("tensorflow.compat.v1.Session", "migrated"),
        ("tensorflow.config.experimental.set_memory_growth", "migrated"),
        ("tensorflow.config.optimizer.set_jit", "no_effect"),
        ("tensorflow.distribute.TPUStrategy", "unsupported"),
        ("tensorflow.keras.wrappers.scikit_learn.KerasClassifier", "removed"),
        ("horovod.tensorflow.rank", "migrated"),
    ],
)
def test_well_known_names(name, support):
    assert {row[0]: row[1] for row in rows("tensorflow.tsv")}[name] == support


def test_raw_operators_are_those_of_the_registry():
    """The engine has got a node: the list is to be made anew (README.md)."""
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import registry; print(*registry.native())"
    listed = {row[0]: row[1] for row in rows("tensorflow.tsv")}
    native = {f"tensorflow.raw_ops.{op}" for op in run(code).split()} & set(listed)
    assert len(native) > 300
    assert {name for name in native if listed[name] != "native"} == set()


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs TensorFlow")
def test_some_probes_again():
    listed = {name: [support, note] for name, support, note in rows("tensorflow.tsv")}
    given = {row[0] for row in rows("given.tsv")}
    probed = [name for name, (support, _) in listed.items() if support in ("native", "host") and name not in given]
    quick = sorted(name for name in probed if ".raw_ops." not in name and ".applications." not in name)
    wanted = random.Random(5).sample(quick, PROBED)
    lines = run(PROBE.format(here=str(HERE)), "\n".join(wanted)).splitlines()
    again = {name: verdict for name, *verdict in (line.split("\t") for line in lines)}
    assert len(again) > PROBED / 2  # the others are ruled, not probed
    assert {name: verdict for name, verdict in again.items() if listed[name] != verdict} == {}
