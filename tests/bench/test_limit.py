# SPDX-License-Identifier: Apache-2.0
import limit
import pytest

CACHES = {"L1": {"bytes": 1000, "shared_by": 1}, "L2": {"bytes": 8000, "shared_by": 2}}
CPU = {"caches": CACHES, "threads": 4}
RATES = {
    "threads": 4,
    "operations": {"fp32": 100.0, "bf16 dot": 60.0},
    "bytes": {"L1": {"read": 90.0, "copy": 40.0, "triad": 50.0}, "memory": {"read": 9.0, "copy": 5.0, "triad": 4.0}},
}


def test_private_caches_add_up_and_shared_ones_count_once():
    assert limit.held(CACHES, 4) == {"L1": 4000, "L2": 16000}
    assert limit.held(CACHES, 1) == {"L1": 1000, "L2": 8000}
    assert limit.held(CACHES, 3) == {"L1": 3000, "L2": 16000}


def test_a_thread_measures_a_level_with_half_of_its_part():
    sets = limit.working_sets(CACHES, 4)
    assert sets["L1"] == 500 and sets["L2"] == 2000
    assert sets["memory"] * 4 >= 4 * 16000


@pytest.mark.parametrize(("resident", "level"), [(1, "L1"), (4000, "L1"), (4001, "L2"), (16001, "memory")])
def test_data_lie_in_the_nearest_level_that_holds_them(resident, level):
    assert limit.level_of(resident, CPU) == level


def test_products_are_bound_by_the_fastest_way_that_their_type_has():
    assert limit.bound(limit.Arithmetic("fp32", 200), CPU, RATES) == {"limit": "fp32", "rate": 100.0, "seconds": 2.0}
    assert limit.bound(limit.Arithmetic("bf16", 200), CPU, RATES)["limit"] == "fp32"  # widened, where dots are slow
    faster = RATES | {"operations": {"fp32": 100.0, "bf16 dot": 200.0, "bf16 tiles": 900.0}}
    assert limit.bound(limit.Arithmetic("bf16", 1800), CPU, faster)["seconds"] == 2.0
    assert limit.bound(limit.Arithmetic("fp16", 200), CPU, faster)["limit"] == "fp32"


def test_traffic_is_bound_by_the_level_it_fits_in():
    assert limit.bound(limit.Traffic(100, 10), CPU, RATES) == {"limit": "L1", "rate": 50.0, "seconds": 2.0}
    assert limit.bound(limit.Traffic(100, 1e9), CPU, RATES) == {"limit": "memory", "rate": 5.0, "seconds": 20.0}


def test_what_is_not_known_has_no_limit(tmp_path):
    assert limit.bound(None, CPU, RATES) is None
    assert limit.bound(limit.Traffic(1, 1), CPU, None) is None
    assert limit.measure(CPU, 4, tmp_path / "not_built") is None
    assert "ANYNPU_BENCHES" in next(limit.sentences(None))


def test_the_program_is_asked_for_every_level_and_its_words_are_read(tmp_path):
    program = tmp_path / "machine_limit"
    program.write_text('#!/bin/sh\necho "{\\"threads\\": $1, \\"bytes\\": \\"$*\\"}"\n')
    program.chmod(0o755)
    found = limit.measure(CPU, 4, program)
    assert found["threads"] == 4
    assert found["bytes"].startswith("4 L1:500 L2:2000 memory:")
    assert any("L1 GB/s: read" in line for line in limit.sentences(RATES))
