# SPDX-License-Identifier: Apache-2.0
"""The features of the vendor's guides that are not built, from unbuilt.tsv: what they are called there, what to do
instead, and probes, by which a test sees that they are still missing."""

from pathlib import Path
from types import SimpleNamespace

TABLE = Path(__file__).with_name("unbuilt.tsv")


def features():
    head, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [SimpleNamespace(**dict(zip(head.split("\t"), line.split("\t"), strict=True))) for line in lines]
