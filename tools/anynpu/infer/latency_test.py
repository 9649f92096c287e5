# SPDX-License-Identifier: Apache-2.0
import random

from anynpu.infer import latency
from anynpu.infer.session import Summary


def test_figures_of_a_hundred_runs():
    times = [float(value) for value in range(1, 101)]
    random.Random(5).shuffle(times)
    found = latency.figures(times)
    assert (found["min"], found["mean"], found["median"], found["max"]) == (1, 50.5, 50.5, 100)
    assert (found["p90"], found["p99"]) == (90, 99)


def test_figures_of_one_run_and_of_none():
    assert set(latency.figures([2.5]).values()) == {2.5}
    assert latency.figures([]) == {}
    assert latency.figures([1, 5, 2])["median"] == 2


def test_the_throughput_counts_samples_of_the_runs_alone():
    found = latency.report(Summary([10.0, 10.0], [4.0, 6.0], [1.0, 1.0]), batch=8)
    assert found["runs"] == 2 and found["throughput"] == 1600
    lines = latency.text(found).splitlines()
    assert lines[0].split()[:3] == ["ms", "min", "mean"] and len(lines) == 5
    assert lines[2].split()[:3] == ["run", "4.000", "5.000"]


def test_no_run_has_no_throughput():
    assert latency.report(Summary(), 1)["throughput"] == 0
