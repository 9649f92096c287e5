# SPDX-License-Identifier: Apache-2.0
"""The places in rules/moved.tsv: those of TensorFlow are there, those of packages where they are installed, and the old
names are not."""

import importlib
from pathlib import Path

import pytest

TABLE = Path(__file__).resolve().parents[2] / "tools/migrate/rules/moved.tsv"
LINES = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
ROWS = [(line.split("\t") + [""] * 5)[:6] for line in LINES]


def found(dotted):
    """What a dotted name is: a module, or a name in one."""
    parts = dotted.split(".")
    thing = importlib.import_module(parts[0])
    for i, name in enumerate(parts[1:], 2):
        if not hasattr(thing, name):
            importlib.import_module(".".join(parts[:i]))
        thing = getattr(thing, name)
    return thing


@pytest.mark.parametrize("package", ["tensorflow", "tf_slim", "tensor2tensor.utils.hparam"])
def test_places_are_there(package):
    pytest.importorskip(package)
    rows = [row for row in ROWS if (row[1] + ".").startswith(package + ".")]
    assert rows
    for name, place, module, source, *_ in rows:
        if place.endswith(".*"):
            continue
        importlib.import_module(module or package)
        if "." not in place:
            continue
        parent = importlib.import_module(source or place.rpartition(".")[0])
        assert getattr(parent, place.rpartition(".")[2]) is found(place), name


def test_old_names_are_gone():
    pytest.importorskip("tensorflow")
    for name, *_ in ROWS:
        with pytest.raises((ImportError, AttributeError)):
            found(name.removesuffix(".*"))


def test_a_whole_module_has_a_row_of_its_own():
    names = {name for name, *_ in ROWS}
    assert {name.removesuffix(".*") for name in names if name.endswith(".*")} <= names
    assert len(names) == len(ROWS) and sorted(LINES) == LINES
