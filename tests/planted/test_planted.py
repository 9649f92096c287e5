# SPDX-License-Identifier: Apache-2.0
"""Every planted fault still fits the sources, and those of a script that take seconds are found by their command; that
all are is shown by `make planted`."""

import planted
import pytest
import run

FAULTS = planted.planted()
QUICK = [fault for fault in FAULTS if fault.command == "run --nan-check"]
NOBODY = {
    "run --self-check": "anynpu run --self-check: 80 of 80 tasks checked (100.0 %), 0 kinds of operators deviated\n",
    "run --nan-check": "anynpu run --nan-check: no operator made an infinity or NaN of finite inputs\n",
    "run --repeat 3": "run 1 of 3\nanynpu run --repeat: 3 runs had equal bits in all 9 operators\n",
    "compare": "run:    a\ngolden: b\nno difference: all that was compared is equal\n",
    "dump digest": "rank0.digest: equal bits in all 50 operators\nrank1.digest: equal bits in all 50 operators\n",
}


def by_name(fault):
    return fault.name


def test_there_are_ten_kinds():
    assert len({fault.kind for fault in FAULTS}) == len(FAULTS) == 10


@pytest.mark.parametrize("fault", FAULTS, ids=by_name)
def test_a_fault_fits_the_product_or_its_script(fault):
    assert (planted.HERE.parent / fault.script).is_file()
    if fault.change is None:
        assert fault.arguments != fault.clean
    else:
        source = (planted.ROOT / fault.file).read_text(encoding="utf-8")
        assert fault.change.planted(source) != source and fault.arguments == fault.clean


@pytest.mark.parametrize("command", planted.TOLD)
def test_what_says_that_there_is_nothing_names_nobody(command):
    assert planted.nothing_told(command, NOBODY[command]) and not planted.nothing_told(command, "")


def test_only_the_first_that_is_told_counts():
    fault = next(fault for fault in FAULTS if fault.name == "wrong_kernel")
    lines = [f"anynpu run --self-check: {name} deviates: …\n" for name in ("aclnnGelu [gelu]", "aclnnAdd [add]")]
    assert fault.found("".join(lines)) and not fault.found("".join(reversed(lines))) and not fault.found("")


@pytest.mark.parametrize("fault", QUICK, ids=by_name)
@pytest.mark.promise("of a planted fault the culprit is named first, by one command")
def test_the_culprit_is_named_first(fault):
    output = run.look(fault, fault.arguments, run.overlay.FOLDER / "lib/libanynpu.so")
    assert fault.found(output), output
