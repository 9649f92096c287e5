# SPDX-License-Identifier: Apache-2.0
import json

import limit
import pytest
import result

BOUND = {"limit": "fp32", "rate": 1.0, "seconds": 0.5}


def row(name, group, cpu, npu, bound=BOUND):
    return result.case(name, group, [(cpu, npu)] * 3, bound)


def test_a_case_has_quartiles_of_pairs_and_shares_of_the_limit():
    found = result.case("a", "rows", [(2.0, 1.0), (4.0, 1.0), (6.0, 1.0)], BOUND)
    assert found["ratio"] == [2.0, 4.0, 6.0]
    assert found["seconds"] == {"cpu": 4.0, "npu": 1.0}
    assert found["share"] == {"cpu": 0.125, "npu": 0.5}
    assert "of fp32: CPU   12 %, NPU   50 %" in result.line(found)


def test_a_case_without_a_limit_has_no_share():
    found = row("a", "steps", 1.0, 1.0, None)
    assert "share" not in found and "bound" not in found
    assert "%" not in result.line(found)


def test_a_case_may_say_what_memory_it_took():
    found = result.case("a", "steps", [(1.0, 1.0)] * 2, BOUND, 3 * 2**20)
    assert found["peak"] == 3 * 2**20
    assert result.line(found).endswith("of fp32: CPU   50 %, NPU   50 %  at most 3 MiB")
    assert "MiB" not in result.line(row("a", "steps", 1.0, 1.0))


def test_groups_have_geometric_means():
    rows = [row("a", "rows", 1.0, 1.0), row("b", "steps", 3.0, 1.0, None), row("c", "rows", 4.0, 1.0)]
    found = result.groups(rows)
    assert list(found) == ["rows", "steps"]
    assert found["rows"]["cases"] == 2 and found["rows"]["lowest"] == 1.0
    assert found["rows"]["ratio"] == pytest.approx(2.0)
    assert found["rows"]["share"] == pytest.approx({"cpu": 0.25, "npu": 0.5})
    assert "share" not in found["steps"]
    assert "geometric mean 2.00x, lowest 1.00x" in result.group_line("rows", found["rows"])


def test_results_are_written_as_they_were_printed(tmp_path, monkeypatch, capsys):
    rates = {"operations": {"fp32": 1e9}, "bytes": {}}
    monkeypatch.setattr(limit, "measure", lambda cpu, threads: rates | {"threads": threads})
    results = result.Results("torch", 2)
    results.add("product", "GEMM fp32", [(2.0, 1.0)] * 3, limit.Arithmetic("fp32", 5e8))
    results.close(tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["bench"] == "torch" and found["cpu"]["threads"] == 2
    assert [rates["threads"] for rates in found["limits"]] == [1, 2]
    assert found["cases"][0]["share"] == {"cpu": 0.25, "npu": 0.5}
    assert found["groups"]["GEMM fp32"]["ratio"] == pytest.approx(2.0)
    printed = capsys.readouterr().out
    assert printed.startswith(found["cpu"]["class"]) and "GEMM fp32     1 cases" in printed
