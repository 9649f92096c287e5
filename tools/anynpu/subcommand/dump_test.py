# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import numpy as np
import pytest


def dump(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", "dump", *map(str, arguments)], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def array(tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    values[1, 2], values[2, 0] = np.nan, -np.inf
    np.save(tmp_path / "a.npy", values)
    return tmp_path / "a.npy", values[np.isfinite(values)]


def test_show_tells_extremes_and_the_first_element_that_is_not_finite(array):
    path, finite = array
    code, out, _ = dump("show", path)
    assert code == 0
    assert "float32[3x4]" in out
    assert f"least 0, most 11, mean {finite.mean():.7g}, norm {np.linalg.norm(finite):.7g}; zeros 1 of 12" in out
    assert "not finite: 1 NaN, 0 +Inf, 1 -Inf; the first at [1, 2]" in out
    # Ten bins, each finite element in one of them.
    counts = [int(line.split()[3]) for line in out.splitlines() if " .. " in line]
    assert counts == np.histogram(finite, bins=10)[0].tolist()


def test_list_names_what_is_wrong(tmp_path):
    assert dump("list", tmp_path / "nowhere")[0] == 3
    code, _, told = dump("list", tmp_path)
    assert code == 2 and "holds no dump file" in told
    (tmp_path / "Relu.relu.1.0.1700000000000000").write_bytes(b"\x08\0\0\0\0\0\0\0half")
    code, out, _ = dump("list", tmp_path)
    assert code == 0 and out.startswith(".  Relu relu  ")


@pytest.mark.parametrize("words", [["show"], ["list"], ["show", "nothing.npy"], ["look"]])
def test_wrong_words_are_refused(words):
    code, out, told = dump(*words)
    assert code != 0 and told and not out
