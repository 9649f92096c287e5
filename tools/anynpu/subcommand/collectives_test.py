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
