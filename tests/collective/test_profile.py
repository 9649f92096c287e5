# SPDX-License-Identifier: Apache-2.0
"""What profiles of several ranks tell of collectives: the same names on all ranks, and who waited for whom."""

import json
import sqlite3

import pytest
import torch_ranks

STEPS, SIZE, LATE_MS = 2, 2, 300


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The tables of each rank."""
    place = tmp_path_factory.mktemp("profile")
    for text in torch_ranks.ranks(SIZE, "torch_profile.py", place):
        assert "[ERROR]" not in text, text
    found = {}
    for folder in place.glob("*_ascend_pt"):
        (info,) = folder.glob("profiler_info_*.json")
        found[int(info.stem.rpartition("_")[2])] = folder / "ASCEND_PROFILER_OUTPUT"
    return [found[rank] for rank in range(SIZE)]


def collectives(folder):
    """{step: {name: times}}."""
    steps = json.loads((folder / "communication.json").read_text())
    return {
        step: {
            name: one["Communication Time Info"]
            for name, one in kinds["collective"].items()
            if name.startswith("hcom_")
        }
        for step, kinds in steps.items()
    }


@pytest.mark.promise("profiles of several ranks tell how long each collective took and waited for others")
def test_ranks_tell_who_waited(folders):
    prompt, late = map(collectives, folders)
    assert len(prompt) == STEPS
    assert [sorted(step) for step in prompt.values()] == [sorted(step) for step in late.values()]
    for step, ours in prompt.items():
        assert any(name.startswith("hcom_allReduce__") for name in ours), ours
        waited, came = (sum(one["Wait Time(ms)"] for one in times.values()) for times in (ours, late[step]))
        # Rank 1 comes so much later; what else a busy machine adds is not bounded.
        assert waited > 0.5 * LATE_MS and waited > came, (waited, came)
        for one in ours.values():
            assert one["Transit Time(ms)"] == pytest.approx(one["Elapse Time(ms)"] - one["Wait Time(ms)"], abs=1e-6)
            assert one["Transit Time(ms)"] >= 0


def test_the_database_tells_the_same_of_collectives(folders):
    query = (
        "select hccl_op_name || '@' || group_name, elapse_time, wait_time, type from CommAnalyzerTime where step = ?"
    )
    for folder in folders:
        found = sqlite3.connect(folder / "analysis.db")
        for step, ours in collectives(folder).items():
            rows = {name: times for name, *times in found.execute(query, [step]) if name.startswith("hcom_")}
            assert rows.keys() == ours.keys()
            for name, (elapsed, waited, kind) in rows.items():
                assert kind == "collective"
                assert (elapsed, waited) == (ours[name]["Elapse Time(ms)"], ours[name]["Wait Time(ms)"])
        links = found.execute(
            "select transport_type, count(*), min(transit_size) > 0 from CommAnalyzerBandwidth group by 1"
        )
        assert [link for link, count, moved in links if count and moved] == ["HCCS", "SDMA"]


def links(folder):
    """{(from, to): megabytes} of all steps."""
    sums = {}
    for step in json.loads((folder / "communication_matrix.json").read_text()).values():
        for name, ways in step["collective"].items():
            for link, one in ways.items() if "-total@" in name else ():
                ranks = tuple(map(int, link.split("-")))
                sums[ranks] = sums.get(ranks, 0) + one["Transit Size(MB)"]
                assert one["Transport Type"] == ("LOCAL" if ranks[0] == ranks[1] else "HCCS")
    return sums


@pytest.mark.promise("profiles of several ranks tell what went from one rank to another")
def test_ranks_tell_what_went_between_two(folders):
    both = [links(folder) for folder in folders]
    for rank, mine in enumerate(both):
        assert mine[rank, rank] > 0 and mine.keys() <= {(0, 1), (1, 0), (rank, rank)}, mine
    # Gradients of a 64 x 64 layer: what a rank sums it has of the other, and the other has the sum; in each step.
    megabytes = sum(one.get(way, 0) for one in both for way in ((0, 1), (1, 0)))
    assert megabytes >= STEPS * 2 * 4 * (64 * 64 + 64) / 1e6, both
    for folder, mine in zip(folders, both, strict=True):
        found = sqlite3.connect(folder / "analysis.db").execute(
            "select src_rank, dst_rank, sum(transit_size) from CommAnalyzerMatrix where hccl_op_name like '%-total' "
            "group by 1, 2"
        )
        assert {(int(a), int(b)): size for a, b, size in found} == pytest.approx(mine)


def test_records_know_their_rank(folders):
    for rank, folder in enumerate(folders):
        (info,) = folder.parent.glob("PROF_*/device_*/info.json.*")
        told = json.loads(info.read_text())
        assert (told["rank_id"], told["world_size"]) == (rank, SIZE)
        found = sqlite3.connect(folder / f"ascend_pytorch_profiler_{rank}.db")
        assert found.execute("select rankId from RANK_DEVICE_MAP").fetchall() == [(rank,)]


def test_timelines_have_a_row_of_collectives(folders):
    for folder in folders:
        events = json.loads((folder / "trace_view.json").read_text())
        rows = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
        names = {
            event["name"] for event in events if rows.get(event.get("pid")) == "Communication" and event["ph"] == "X"
        }
        assert any(name.startswith("hcom_allReduce__") for name in names), names
        assert any(event.get("name") == "Communication(Not Overlapped)" and event["ph"] == "X" for event in events)
