# SPDX-License-Identifier: Apache-2.0
"""A thousand random calls; `make clients` makes 20,000."""

import generate
import pytest
import run
import torch


@pytest.mark.promise("1,000 random calls of PyTorch give what the CPU gives (20,000 in make clients)")
def test_a_thousand_random_calls_give_what_the_cpu_gives():
    outcomes, faults = run.run(0, 1000)
    assert faults == []
    assert outcomes["right"] >= 970


def test_a_seed_is_one_call():
    assert generate.draw(5) == generate.draw(5) != generate.draw(6)


def test_a_wrong_result_is_found_and_made_small(monkeypatch):
    """The last element of the NPU's result is off where there are two or more."""

    def off(x, y):
        out = torch.add(x, y)
        if out.device.type == "npu" and out.numel() > 1:
            out = (
                out.reshape(-1)
                .index_put((torch.tensor(out.numel() - 1).npu(),), out.new_ones(()) * 9)
                .reshape(out.shape)
            )
        return out

    monkeypatch.setitem(generate.OPS, "add", generate.Op(off, None))
    told = [{"shape": [5, 8, 3], "dtype": "float16", "layout": "sliced", "seed": 1, "low": -4.0, "high": 4.0}] * 2
    call = run.shrunk({"op": "add", "tensors": told, "args": {}})
    assert "off by" in run.wrong(call)[0]
    assert generate.count(call["tensors"][0]["shape"]) == 2
    assert (call["tensors"][0]["layout"], call["tensors"][0]["dtype"]) == ("plain", "float32")


def test_a_refusal_needs_a_reason(monkeypatch):
    def refuse(x, y):
        if x.device.type == "npu":
            raise RuntimeError("no kernel today")
        return x + y

    monkeypatch.setitem(generate.OPS, "add", generate.Op(refuse, None))
    told = [{"shape": [2], "dtype": "float32", "layout": "plain", "seed": 1, "low": -4.0, "high": 4.0}] * 2
    assert run.wrong({"op": "add", "tensors": told, "args": {}}) == ("refused: RuntimeError: no kernel today", None)
