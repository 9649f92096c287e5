# SPDX-License-Identifier: Apache-2.0
"""The simulation of every message bears out the model of hosts_model.py, and both what is said of them."""

import pytest
from hosts_model import MB, SIZES, WAYS, Costs, Simulation, ours

COSTS = Costs()


@pytest.mark.parametrize("hosts", [2, 8, 13, 64])
@pytest.mark.parametrize("way", WAYS)
def test_the_simulation_agrees(way, hosts):
    # Latencies are up to a fifth longer there; a card's messages and their processor work at once.
    for size in SIZES.values():
        model = WAYS[way](hosts, 8, size).time(COSTS)
        seen = getattr(Simulation(hosts, 8, size, COSTS), way)()
        assert 0.55 * model < seen < 1.2 * model, (size, model, seen)


def test_all_beginning_with_the_first_host_takes_longer():
    simulation = Simulation(64, 8, 64 * MB, COSTS)
    assert simulation.ours(rotated=False) > 1.3 * simulation.ours()


def test_ours_is_the_cheapest_but_for_little_data_on_many_hosts():
    def best(hosts, size):
        return min(WAYS, key=lambda way: WAYS[way](hosts, 8, size).time(COSTS))

    assert {best(hosts, size) for hosts in (2, 8, 32) for size in SIZES.values()} == {"ours"}
    assert {best(hosts, 64 * MB) for hosts in (64, 256, 1024)} == {"ours"}
    assert best(1024, 1024) == "tree"


def test_every_byte_crosses_the_network_twice():
    assert ours(2, 4, 64 * MB).sent == 64 * MB  # half of it as sums, half as results
    assert ours(1024, 8, 64 * MB).sent < 2 * 64 * MB
