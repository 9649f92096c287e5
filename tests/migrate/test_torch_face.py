# SPDX-License-Identifier: Apache-2.0
"""ms_fmk_transplt: what its options refuse, what `distributed` says where it met nothing, the vendor's rules."""

import csv
import json

import binary
import pytest

TRAIN = """import torch
from torch.utils.data import DataLoader
def main():
    net = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(3):
        for x in DataLoader(range(4), shuffle=True):
            optimizer.step()
    torch.save(net.state_dict(), "a.pt")
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def transplant(tmp_path):
    """(exit code, what it said, the folder made) of a run on one script."""
    (tmp_path / "net").mkdir()
    (tmp_path / "net/main.py").write_text(TRAIN)
    (tmp_path / "out").mkdir()

    def run(*options):
        done = binary.migrate("ms_fmk_transplt", "-i", "net", "-o", "out", *options, folder=tmp_path)
        return done.returncode, done.stdout, tmp_path / "out/net_msft_multi"

    run.folder = tmp_path
    return run


def rows(folder):
    return list(csv.reader((folder / "change_list.csv").open()))[1:]


def test_distributed_wraps_the_model_that_is_named(transplant):
    code, said, made = transplant("distributed", "-m", "net/main.py", "-t", "net")
    assert code == 0 and "no model" not in said and "no DataLoader" not in said, said
    text = (made / "main.py").read_text()
    assert "    net = DistributedDataParallel(net.npu(), device_ids=[torch_npu.npu.current_device()])\n" in text
    assert "net.module.state_dict()" in text
    kinds = {(row[0], row[1], row[3]) for row in rows(made)}
    assert {("main.py", "4", "INSERT"), ("main.py", "7", "MODIFY"), ("main.py", "11", "INSERT")} <= kinds, kinds
    log = (made / "msFmkTranspltlog.txt").read_text()
    assert "get_rank() == 0" in log and "every epoch has the same order" in log


def test_distributed_says_where_it_met_no_model(transplant):
    for version in (["-v", "2.1.0"], ["-v"], []):
        (transplant.folder / "out").rename(transplant.folder / f"out{len(list(transplant.folder.iterdir()))}")
        (transplant.folder / "out").mkdir()
        code, said, made = transplant(*version, "distributed", "-m", "net/main.py")
        assert code == 0 and "no model is wrapped" in said and "`model`" in said, said
        assert "no model is wrapped" in (made / "msFmkTranspltlog.txt").read_text()


@pytest.mark.parametrize("name", ["", "my net", "1net", "net.", ".net", "a..b", "net()", "a-b"])
def test_a_model_that_is_no_variable(name, transplant):
    code, said, made = transplant("distributed", "-m", "net/main.py", f"--target_model={name}")
    assert code == 2 and not made.exists(), said


@pytest.mark.parametrize(
    "text, words",
    [
        ("{", "is no JSON"),
        ("[]", 'has no object "rules"'),
        ('{"rules": {"NoSuchRule": []}}', "there is no class of rules NoSuchRule; there are ArgsModifyRule"),
        ('{"rules": {"FuncNameModifyRule": {}}}', "FuncNameModifyRule is no list"),
        ('{"rules": {"FuncNameModifyRule": [1]}}', "is no object"),
        ('{"rules": {"FuncNameModifyRule": [{"old_name": "a"}]}}', 'number 1 has no "new_name"'),
        ('{"rules": {"ArgsModifyRule": [{"func_name": "a", "arg_new": "b"}]}}', 'either "arg_idx" or "arg_keyword"'),
        ('{"rules": {"ArgsModifyRule": [{"func_name": "a", "arg_idx": -1, "arg_new": "b"}]}}', "no number from 0 up"),
        (
            '{"rules": {"ArgsModifyRule": [{"func_name": "a", "arg_idx": 0, "arg_new": "", "white_list": ["("]}]}}',
            "no regular expression",
        ),
        ('{"rules": {"InsertGlobalRule": [{}]}}', 'has no "insert_content"'),
        (
            '{"rules": {"ReplaceStringRule": [{"str_old": "a", "str_new": "b", "feature_switch": ["x"]}]}}',
            "feature_switch; there are normal",
        ),
    ],
)
def test_rules_that_are_none(text, words, transplant):
    (transplant.folder / "rule.json").write_text(text)
    code, said, _ = transplant("-r", "rule.json")
    assert code == 2 and "rule.json" in said and words in said, said
    assert not list((transplant.folder / "out").iterdir())


def test_rules_in_the_vendors_form_beside_the_others(transplant):
    rule = {"FuncNameModifyRule": [{"old_name": "torch.save", "new_name": "keep.save", "replace_module": True}]}
    (transplant.folder / "rule.json").write_text(json.dumps({"rules": rule}))
    code, said, _ = transplant("-r", "rule.json")
    made = transplant.folder / "out/net_msft"
    assert code == 0 and "keep.save(net.state_dict()" in (made / "main.py").read_text(), said
    assert [row for row in rows(made) if "keep.save" in row[4]][0][1:4] == ["9", "9", "MODIFY"]


@pytest.mark.parametrize(
    "options, words",
    [
        (["distributed", "-m", "net"], "net"),
        (["distributed", "-m", "out/main.py"], "there is no such file"),
        (["distributed", "-t", "net"], "--main"),
        (["-m", "net/main.py"], "-m"),
        (["-s", "-x"], "-x"),
        (["distributed", "-m", "rule.py"], "does not lie in the input"),
    ],
)
def test_usage(options, words, transplant):
    (transplant.folder / "rule.py").write_text("")
    code, said, made = transplant(*options)
    assert code == 2 and words in said and not made.exists(), said
