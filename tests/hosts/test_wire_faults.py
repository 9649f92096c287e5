# SPDX-License-Identifier: Apache-2.0
"""Ranks, hosts and wires that fail: the others hear of it in time, by name, or work goes on where the wire heals."""

import re
import selectors
import signal
import time

import pytest
from cluster import HERE
from hccl_c import outputs
from placed import by_root, left_behind, places

BUSY = HERE / "busy.py"
LAYOUT = (2, 2)
KILLED, SILENT = 2.0, 10.0  # seconds until every survivor has its error: of a killed process, of what cannot be heard


def busy(cluster, folder, seconds=600, count=100_000, layout=LAYOUT, **environment):
    """The ranks once all of them work."""
    processes = by_root(cluster, layout, folder, BUSY, seconds, count, environment=environment)
    for process in processes:
        line = process.stdout.readline()
        assert line == "BUSY\n", line + process.stdout.read()
    return processes


def heard(processes, begin, limit):
    """What each has heard, none later than `limit` seconds after `begin`."""
    selector, found = selectors.DefaultSelector(), {}
    for process in processes:
        selector.register(process.stdout, selectors.EVENT_READ, process)
    while len(found) < len(processes) and time.monotonic() < begin + limit + 20:
        for key, _ in selector.select(0.1):
            line = key.data.stdout.readline()
            found[key.data] = (time.monotonic() - begin, line)
            selector.unregister(key.fileobj)
    silent = [number for number, process in enumerate(processes) if process not in found]
    assert not silent, f"these of the survivors have heard nothing: {silent}"
    times = [found[process][0] for process in processes]
    print(f"heard after {min(times):.2f} to {max(times):.2f} s")
    assert max(times) < limit, found.values()
    return [found[process][1] for process in processes]


def names(texts, ranks):
    """Each names one of these ranks with its host, and its last call."""
    for text in texts:
        assert text.startswith("HEARD ") and "EI0002" in text, text
        rank, host = re.search(r"EI0002: [^\n]*?rank (\d) \(host (\w+)", text).groups()
        assert int(rank) in ranks and host == f"node{int(rank) // 2}" and "all_reduce" in text, text


@pytest.mark.few
@pytest.mark.promise(
    "between hosts a killed rank is named within 2 s; a lost host, a cut wire, a stopped rank within 10 s"
)
def test_a_killed_rank_is_named(hosts, tmp_path):
    ranks = busy(hosts(2), tmp_path)
    begin = time.monotonic()
    ranks[3].kill()
    names(heard(ranks[:3], begin, KILLED), {3})
    assert [code for code, _ in outputs(ranks, seconds=20)] == [0, 0, 0, -signal.SIGKILL]


def test_a_stopped_rank_is_named(hosts, tmp_path):
    ranks = busy(hosts(2), tmp_path)
    begin = time.monotonic()
    ranks[2].send_signal(signal.SIGSTOP)
    names(heard([ranks[0], ranks[1], ranks[3]], begin, SILENT), {2})


@pytest.mark.parametrize("quietly", [True, False], ids=["without_power", "killed"])
def test_a_lost_host_is_named(quietly, hosts, tmp_path):
    three = hosts(3)
    ranks = busy(three, tmp_path, layout=(2, 2, 1))
    begin = time.monotonic()
    if quietly:
        three.power_off(three[1])
    else:
        three[1].kill()
    names(heard([*ranks[:2], ranks[4]], begin, SILENT if quietly else KILLED), {2, 3})
    outputs(ranks, seconds=20)
    assert all(left_behind(host) == [] for host in (three[0], three[2]))


def test_a_cut_wire_is_heard_on_both_sides(hosts, tmp_path):
    two = hosts(2)
    ranks = busy(two, tmp_path)
    begin = time.monotonic()
    two.cut(two[1])
    texts = heard(ranks, begin, SILENT)
    names(texts[:2], {2, 3}), names(texts[2:], {0, 1})
    assert [code for code, _ in outputs(ranks, seconds=20)] == [0] * 4


def test_a_wire_that_is_cut_for_3_seconds_heals(hosts, tmp_path):
    two = hosts(2)
    ranks = busy(two, tmp_path, seconds=8)
    two.cut(two[1])
    time.sleep(3)
    two.heal()
    for code, text in outputs(ranks, seconds=60):
        assert code == 0 and text.startswith("DONE "), text
    assert [left_behind(host) for host in two] == [[], []]


def test_results_are_right_where_packets_are_lost(hosts, tmp_path):
    two = hosts(2)
    two.lose(2)
    for code, text in outputs(busy(two, tmp_path, seconds=10), seconds=120):
        assert code == 0 and text.startswith("DONE "), text


def test_results_are_right_on_a_slow_wire(hosts, tmp_path):
    """4 MB at 10 Mbit/s are 3.4 s: no sign of life may be lost behind them."""
    two = hosts(2)
    two.slow_down("10mbit")
    for code, text in outputs(busy(two, tmp_path, seconds=20, count=1_000_000), seconds=300):
        assert code == 0 and text.startswith("DONE "), text


def test_data_that_is_long_on_its_way_is_a_sign_of_life(hosts, tmp_path):
    """8 MB take longer than a rank may be silent here, and what else it says waits behind them."""
    two = hosts(2)
    two.slow_down("10mbit")
    ranks = busy(two, tmp_path, seconds=1, count=2_000_000, ANYNPU_HOST_LOST_AFTER=4)
    for code, text in outputs(ranks, seconds=120):
        assert code == 0 and text.startswith("DONE "), text


def test_clocks_may_be_a_day_apart(hosts, tmp_path):
    two = hosts(2)
    two[1].set_clock("+1d")
    for code, text in outputs(busy(two, tmp_path, seconds=3), seconds=60):
        assert code == 0 and text.startswith("DONE "), text


def starting(cluster, folder, limit, **environment):
    """What ranks say that cannot begin, within `limit` seconds."""
    begin = time.monotonic()
    results = outputs(by_root(cluster, LAYOUT, folder, BUSY, 5, environment=environment), seconds=limit + 30)
    assert time.monotonic() - begin < limit, results
    return [text for _, text in results]


def test_an_interface_that_is_not_there_is_named(hosts, tmp_path):
    """Rank 0, which is to be found by it, says so; the others wait for its word on the shared disk."""
    two = hosts(2)
    first = places(two, LAYOUT)[0]
    process = first.start(BUSY, tmp_path / "root", 4, 0, 5, environment={"HCCL_SOCKET_IFNAME": "eth7"})
    [(_, text)] = outputs([process], seconds=60)
    assert "HEARD" in text and "HCCL_SOCKET_IFNAME" in text and "eth7" in text


def test_an_interface_that_leads_nowhere_is_named(hosts, tmp_path):
    """Its addresses look as if all were in one network."""
    texts = starting(
        hosts(2, second_interface=True), tmp_path, 60, HCCL_SOCKET_IFNAME="eth1", HCCL_CONNECT_TIMEOUT="10"
    )
    for text in texts:
        assert "HEARD" in text and "EI0006" in text, text
    assert any("10.0.1.1" in text for text in texts[2:]), texts


def test_the_right_one_of_two_interfaces_is_found_by_name(hosts, tmp_path):
    two = hosts(2, second_interface=True)
    for code, text in outputs(busy(two, tmp_path, seconds=2, HCCL_SOCKET_IFNAME="eth0"), seconds=60):
        assert code == 0 and text.startswith("DONE "), text


def test_a_closed_port_is_named(hosts, tmp_path):
    two = hosts(2)
    two[0].refuse("50000-50015")
    texts = starting(two, tmp_path, 60, HCCL_IF_BASE_PORT="50000", HCCL_CONNECT_TIMEOUT="10")
    for text in texts:
        assert "HEARD" in text and "EI0006" in text, text
    assert all("10.0.0.1" in text and "50000" in text for text in texts[2:]), texts
