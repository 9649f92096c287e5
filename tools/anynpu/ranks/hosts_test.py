# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from anynpu.ranks import hosts


def places(text, number=None):
    return [(host.name, host.address, host.count) for host in hosts.parse(text, number)]


def test_ranks_are_shared_out_evenly():
    assert places("a=10.0.0.1,b=10.0.0.2", 5) == [("a", "10.0.0.1", 3), ("b", "10.0.0.2", 2)]
    assert places("a=10.0.0.1:1, b=[fd00::2]:4") == [("a", "10.0.0.1", 1), ("b", "fd00::2", 4)]
    assert places("127.0.0.1", 2) == [("127.0.0.1", "127.0.0.1", 2)]
    assert places("10.0.0.7:2,10.0.0.8:2", 4)[1] == ("10.0.0.8", "10.0.0.8", 2)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a", ["a"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-11,20]-ib,login", ["n08-ib", "n09-ib", "n10-ib", "n11-ib", "n20-ib", "login"]),
        ("r[1-2]n[3,5]", ["r1n3", "r1n5", "r2n3", "r2n5"]),
        ("a=10.0.0.1:2,b=[fd00::2]", ["a=10.0.0.1:2", "b=[fd00::2]"]),
    ],
)
def test_names_are_written_as_slurm_writes_them(text, wanted):
    assert hosts.names(text) == wanted


@pytest.mark.parametrize(
    ("text", "number", "told"),
    [
        ("", 1, "'' is no host"),
        ("a b", 1, "'a b' is no host"),
        ("n[3-1]", 2, "'3-1' is no number or range"),
        ("a=10.0.0.1,a=10.0.0.2", 2, "a twice"),
        ("a=10.0.0.1,b=10.0.0.1", 2, "10.0.0.1 twice"),
        ("a=here", 2, "'here' of host a is no IPv4 or IPv6 address"),
        ("a=10.0.0.1,b=127.0.1.1", 2, "host b has the address 127.0.1.1 here, by which others cannot reach it"),
        ("a=10.0.0.1:2,b=10.0.0.2", 4, "say it for all"),
        ("a=10.0.0.1:2,b=10.0.0.2:2", 5, "-n is 5, but --hosts has 4 ranks"),
        ("a=10.0.0.1,b=10.0.0.2", None, "how many ranks?"),
        ("a=10.0.0.1,b=10.0.0.2", 1, "host b has no rank"),
        ("no-such-host.invalid", 1, "the address of host no-such-host.invalid is not known here"),
    ],
)
def test_what_makes_no_sense_is_told(text, number, told):
    with pytest.raises(ValueError, match=".") as error:
        hosts.parse(text, number)
    assert told in str(error.value)


def test_the_table_is_one_that_the_library_reads(tmp_path):
    from anynpu.library import door

    path = tmp_path / "table.json"
    path.write_text(json.dumps(hosts.table(hosts.parse("a=10.0.0.1:2,b=10.0.0.2:1", None))), encoding="utf-8")
    ranks = door.table_ranks(path)
    assert [(rank.server, rank.device) for rank in ranks] == [("10.0.0.1", 0), ("10.0.0.1", 1), ("10.0.0.2", 0)]
