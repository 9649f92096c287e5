# SPDX-License-Identifier: Apache-2.0
"""Every planted fault still fits the sources, and those of a script that take seconds are found by their command; that
all are is shown by `make planted`."""

import planted
import pytest
import run

FAULTS = planted.planted()
QUICK = [fault for fault in FAULTS if fault.command == "run --nan-check"]
LIBRARY = run.overlay.FOLDER / "lib/libanynpu.so"
NOBODY = {
    "run --self-check": "anynpu run --self-check: 80 of 80 tasks checked (100.0 %), 0 kinds of operators deviated\n",
    "run --nan-check": "anynpu run --nan-check: no operator made an infinity or NaN of finite inputs\n",
    "run --repeat 3": "run 1 of 3\nanynpu run --repeat: 3 runs had equal bits in all 9 operators\n",
    "compare": "run:    a\ngolden: b\nno difference: all that was compared is equal\n",
    "dump digest": "rank0.digest: equal bits in all 50 operators\nrank1.digest: equal bits in all 50 operators\n",
}


def by_name(fault):
    return fault.name


def test_there_are_ten_kinds_each_at_two_operators():
    at_one, at_another = ([f.kind for f in FAULTS if f.moved == moved] for moved in (False, True))
    assert len(set(at_one)) == len(at_one) == 10 and at_another == at_one


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
    output = run.look(fault, fault.arguments, LIBRARY)
    assert fault.found(output), output


def test_without_a_fault_nobody_is_named():
    (clean,) = {fault.clean for fault in QUICK}
    output = run.look(QUICK[0], clean, LIBRARY)
    assert planted.nothing_told(QUICK[0].command, output), output
