# SPDX-License-Identifier: Apache-2.0
"""torch's own tests of torch.distributed, on NPUs: results as in torch_own.tsv (docs/torch_distributed.md)."""

import torch_own


def test_the_file_lists_what_torch_has():
    assert sorted(torch_own.run([])) == sorted(torch_own.expected())


def test_every_result_but_a_pass_has_its_cause():
    causes = {test: row["cause"] for test, row in torch_own.expected().items() if row["result"] != "passed"}
    assert {test for test, cause in causes.items() if cause in ("", torch_own.OPEN)} == set()


def test_results_are_as_in_the_file():
    """Also what fails must go on to fail: a failure that passes is news for the file."""
    wanted = torch_own.expected()
    outcomes = torch_own.run_held(wanted)
    print(torch_own.printed(torch_own.table(outcomes.values())))
    text = [
        f"{test}: {outcomes.get(test, {}).get('result')}, not {wanted[test]['result']}\n"
        f"{outcomes.get(test, {}).get('reason')}\n{outcomes.get(test, {}).get('log', '')[-3000:]}"
        for test in sorted(torch_own.differences(outcomes, wanted))
    ]
    assert not text, "\n".join(text)
