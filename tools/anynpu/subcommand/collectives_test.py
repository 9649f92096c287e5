# SPDX-License-Identifier: Apache-2.0
from anynpu.command_test import anynpu


def rows(text):
    return {tuple(line.split()[:3]): line.split()[3:] for line in text.splitlines()[1:]}


def test_little_goes_at_once_and_much_in_slices():
    code, out, _ = anynpu("collectives", "--ranks", "4")
    found = rows(out)
    assert code == 0 and len(found) == 7 * 9
    assert found["allreduce", "4", "B"][0] == "fullmesh" and found["allreduce", "64", "MB"][0] == "mesh"
    assert found["allgather", "64", "MB"][0] == "-"
    assert float(found["allreduce", "4", "B"][1]) < float(found["allreduce", "64", "MB"][1])
    assert all(0 <= float(share) <= 1 for _, _, share in found.values())


def test_hccl_algo_chooses():
    found = rows(anynpu("collectives", "--operation", "allreduce", HCCL_ALGO="level0:star;level1:NA")[1])
    assert len(found) == 9 and {row[0] for row in found.values()} == {"star"}


def test_what_makes_no_sense_is_told():
    code, _, error = anynpu("collectives", HCCL_ALGO="level0:tree")
    assert code == 1 and "EI0001: HCCL_ALGO is 'level0:tree'" in error and "Write level0:A" in error
    code, _, error = anynpu("collectives", "--operation", "gather")
    assert code == 1 and "there is no operation gather; there are allgather" in error
    for ranks in ("0", "-1", "1025"):
        code, _, error = anynpu("collectives", "--ranks", ranks)
        assert code == 1 and "1 to 1024" in error


def test_hosts_are_priced_with_their_network():
    def of(*arguments):
        code, out, _ = anynpu("collectives", "--ranks", "8", *arguments)
        assert code == 0
        return rows(out)

    two, slow, eight = of("--hosts", "2"), of("--hosts", "2", "--rate", "100"), of("--hosts", "8")
    assert len(two) == len(of()) and {row[0] for row in two.values()} == {"hosts"}
    large, small = ("allreduce", "64", "MB"), ("allreduce", "4", "B")
    # 64 MB go out of a host, half of them as sums and half as results, and as many come in.
    assert (64 << 20) / 100 < float(slow[large][1]) < 1.1 * (64 << 20) / 100 and float(slow[large][2]) > 0.9
    assert 25 < float(two[small][1]) < float(eight[small][1]) and float(two[large][1]) < float(slow[large][1])
    code, out, _ = anynpu("collectives", "--ranks", "8", "--hosts", "2", HCCL_ALGO="level0:NA;level1:flat")
    assert code == 0 and float(rows(out)[large][1]) > float(two[large][1])


def test_a_network_without_sense_is_told():
    for wrong in (("--rate", "0"), ("--latency", "-1"), ("--message", "nan"), ("--hosts", "9"), ("--hosts", "0")):
        code, _, error = anynpu(
            "collectives", "--ranks", "8", *wrong, *(() if "--hosts" in wrong else ("--hosts", "2"))
        )
        assert code == 1 and ("EI0003: " in error or "1 host or more" in error), error
