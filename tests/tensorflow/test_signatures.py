# SPDX-License-Identifier: Apache-2.0
"""The table by which models are read without TensorFlow says what TensorFlow says."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "graph/import/tensorflow/signatures.tsv"


def generator():
    spec = importlib.util.spec_from_file_location("signatures", TABLE.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_tensorflows():
    text = TABLE.read_text()
    names = [line.split("\t")[0] for line in text.splitlines()[1:]]
    assert len(names) > 300
    assert generator().table(names) == text
