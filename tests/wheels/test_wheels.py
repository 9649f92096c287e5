# SPDX-License-Identifier: Apache-2.0
"""What docs/wheels.md says holds for the sources as they are; `make wheels` looks at the wheels themselves."""

import json

import run
from anynpu.doctor import frameworks

SEEN = json.loads(run.KEPT.read_text())


def test_the_page_says_what_was_seen():
    fresh = run.page(SEEN, run.own_symbols(), run.own_types())
    assert fresh == run.PAGE.read_text(), "docs/wheels.md is edited by hand or stale; run: make docs"


def test_no_wheel_lacks_a_symbol():
    ours = run.own_symbols()
    assert {version: set(one["missing"]) - ours for version, one in SEEN.items() if set(one["missing"]) - ours} == {}


def test_the_decoder_puts_texts_together():
    text = run.operator_names.Text(None)
    for line in (
        "mov $0x6241,%edx",
        "mov %dx,0xd0(%rsp)",
        "movb $0x73,0xd2(%rsp)",
        "movq $0x3,0xc8(%rsp)",
        "movb $0x0,0xd3(%rsp)",
    ):
        text.follow(line)
    assert text.name() == "Abs"


def test_the_doctor_knows_which_wheels_were_looked_at():
    numbers = [tuple(int(part) for part in version.partition("-")[0].split(".")[:2]) for version in run.VERSIONS]
    assert (min(numbers), max(numbers)) == frameworks.WHEELS
