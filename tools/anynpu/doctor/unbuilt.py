# SPDX-License-Identifier: Apache-2.0
"""The features of the vendor's guides that are not built, from unbuilt.tsv: what they are called there, what to do
instead, and probes, by which a test sees that they are still missing."""

from pathlib import Path
from types import SimpleNamespace

from anynpu.doctor.finding import Finding
from anynpu.library import door

TABLE = Path(__file__).with_name("unbuilt.tsv")


def features():
    head, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [SimpleNamespace(**dict(zip(head.split("\t"), line.split("\t"), strict=True))) for line in lines]


def check_unbuilt():
    """All features of the guides that are not built, and functions of the C interface that refuse for it."""
    refusing = {}
    for entry in door.unfinished():
        refusing.setdefault(entry.feature, []).append(entry)
    for feature in features():
        entries = refusing.pop(feature.feature, [])
        more = (entry.name for entry in entries if entry.name not in feature.names)
        yield Finding("note", f"not built: {feature.feature}", feature.instead, (*feature.names.split(", "), *more))
    for feature, entries in sorted(refusing.items()):
        names = tuple(entry.name for entry in entries)
        yield Finding("note", f"not built: {feature}: these functions return 207000", entries[0].text, names)
