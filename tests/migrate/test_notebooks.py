# SPDX-License-Identifier: Apache-2.0
"""Notebooks: the cells of code are migrated as one script; no other byte of the file moves."""

import json
import random

import pytest
from faces import needs_tool, put, run, tree

pytestmark = needs_tool

# The rule of the tests changes one word, so that the new bytes are known: those of the old with the word changed.
WORD = """rules:
- id: test-word
  what: lib.old becomes lib.new
  why: for the tests
  call: [lib.old]
  do:
  - callee: lib.new
"""
TORCH = "import torch\nnet = torch.nn.Linear(2, 2).cuda()"


def code(source, **more):
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": source, **more}


def text(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def notebook(*cells, language="python"):
    kernel = {"kernelspec": {"display_name": "x", "language": language, "name": "x"}}
    return {"cells": list(cells), "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def lines(source):
    return source.splitlines(keepends=True)


def migrated(folder, content, *options, name="x.ipynb"):
    """(exit code, what it said, the bytes of the notebook that came out)"""
    put(folder, {name: content if isinstance(content, str | bytes) else json.dumps(content, indent=1)})
    status, out, err = run(name, "-o", "out.ipynb", *options, cwd=folder)
    return status, out + err, (folder / "out.ipynb").read_bytes()


def sources(content):
    return ["".join(cell["source"]) for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]


def test_cells_are_one_script(tmp_path):
    book = notebook(text("# about .cuda()"), code(lines(TORCH)), code(["x = net(torch.ones(1, 2).cuda())"]))
    status, said, made = migrated(tmp_path, book)
    assert status == 0
    assert sources(made) == [
        "import torch\nimport torch_npu\nnet = torch.nn.Linear(2, 2).npu()",
        "x = net(torch.ones(1, 2).npu())",
    ]
    line = json.dumps(book, indent=1).splitlines().index('    "net = torch.nn.Linear(2, 2).cuda()"') + 1
    assert f"x.ipynb:{line}: cell 2, line 2: change torch.nn.Linear(2, 2).cuda() to torch.nn.Linear(2, 2).npu()" in said
    # A list of lines stays one, in the form that Jupyter writes.
    book["cells"][1]["source"] = lines(sources(made)[0])
    book["cells"][2]["source"] = [sources(made)[1]]
    assert made.decode() == json.dumps(book, indent=1)


def test_the_name_of_the_result(tmp_path):
    put(tmp_path, {"x.ipynb": json.dumps(notebook(code(TORCH)))})
    assert run("x.ipynb", cwd=tmp_path)[0] == 0
    assert set(tree(tmp_path)) == {"x.ipynb", "x_npu.ipynb"}
    again, _, _ = run("x_npu.ipynb", "-o", "again.ipynb", cwd=tmp_path)
    assert again == 0 and tree(tmp_path)["again.ipynb"] == tree(tmp_path)["x_npu.ipynb"]


def test_folders_stdin_and_in_place(tmp_path):
    book = json.dumps(notebook(code(lines(TORCH))), indent=1)
    wanted = tmp_path / "one"
    put(tmp_path, {"p/sub/x.ipynb": book, "p/a.py": "x = 1\n", "one/x.ipynb": book})
    status, out, _ = run("p", "-o", "o", cwd=tmp_path)
    assert status == 0 and "1 of 2 files changed" in out and "not migrated" not in out
    assert run("one/x.ipynb", "--in-place", cwd=tmp_path)[0] == 0
    made = (wanted / "x.ipynb").read_bytes()
    assert made != book.encode() and tree(tmp_path / "o")["sub/x.ipynb"] == made
    assert run("-", cwd=tmp_path, given=book.encode())[1].encode() == made
    assert run("p", "--in-place", cwd=tmp_path)[0] == 0 and tree(tmp_path / "p")["sub/x.ipynb"] == made
    assert "0 of 2 files changed" in run("p", "--in-place", cwd=tmp_path)[1]


def test_the_other_command_lines_take_notebooks(tmp_path):
    book = json.dumps(notebook(code(lines(TORCH))), indent=1)
    put(tmp_path, {"p/x.ipynb": book, "out/keep": ""})
    assert run("-i", "p", "-o", "out", cwd=tmp_path, face="ms_fmk_transplt")[0] == 0
    assert ".npu()" in (tmp_path / "out/p_msft/x.ipynb").read_text()
    assert "cell 1, line 2" in (tmp_path / "out/p_msft/change_list.csv").read_text()
    put(tmp_path, {"q/x.ipynb": json.dumps(notebook(code("import tensorflow as tf\ntf.zeros([2])")))})
    status, out, _ = run("-i", "q", "-o", "out", "-r", "out", cwd=tmp_path, face="convert_tf2npu")
    (made,) = (tmp_path / "out").rglob("q_npu_*/x.ipynb")
    assert status == 0 and sources(made.read_text())[0].startswith("import npu_device as npu\nnpu.open()"), out


def test_a_notebook_of_tensorflow_opens_the_npu_behind_its_magics(tmp_path):
    book = notebook(
        code(["%matplotlib inline\n", "!pip install -q tensorflow"]),
        code(["%%time\n", "import os\n", "import tensorflow as tf"]),
        code(["with tf.device('/gpu:0'):\n", "    files = !ls\n", "    x = tf.zeros([2])"]),
    )
    put(tmp_path, {"p/x.ipynb": json.dumps(book), "p/a.py": "x = 1\n"})
    assert run("p", "-o", "o", cwd=tmp_path)[0] == 0
    assert sources((tmp_path / "o/x.ipynb").read_text()) == [
        "%matplotlib inline\n!pip install -q tensorflow",
        "%%time\nimport npu_device as npu\nnpu.open().as_default()\nimport os\nimport tensorflow as tf",
        "with tf.device('/NPU:0'):\n    files = !ls\n    x = tf.zeros([2])",
    ]


# Lines that IPython knows, and Python that begins like them; each names what a change would be seen in.
MAGIC = [
    "%load lib.old(1)",
    "!echo lib.old(1)",
    "!echo \\\n  lib.old(1)",
    "?lib.old",
    "lib.old?",
    "lib.old??",
    "x = !echo lib.old(1)",
    "x, y = %magic lib.old(1)",
    "if x:\n    !echo lib.old(1)\n    %time lib.old(2)",
    "%%bash\npython -c 'lib.old(1)'\nlib.old(1)",
    "%%writefile a.py\nlib.old(1)",
    ",lib.old 1",
]
PYTHON = [
    "lib.old(1)",
    "x = (1 +\n  lib.old(2)\n  % 3)",
    "s = '''\n%load lib\n!ls\n'''\nlib.old(s)",
    "%%time\nlib.old(1)",
    "%timeit 1\nlib.old(2)",
    "if a:\n  for b in c:\n    lib.old('\\\\')  # é 😀 \"x\"",
    "lib.old(\"a\\tb\", '\\u00e9')",
    "x = 5 if y != 3 else lib.old(2)\nz %= 3",
    "lib.old('?')",
]


def test_what_is_no_python_stays(tmp_path):
    put(tmp_path, {"rule.yaml": WORD})
    for cell in MAGIC:
        book = json.dumps(notebook(code("import lib"), code(cell), code("lib.old(7)")))
        _, _, made = migrated(tmp_path, book, "-r", "rule.yaml")
        assert sources(made) == ["import lib", cell, "lib.new(7)"]
        (tmp_path / "out.ipynb").unlink()


def test_no_other_byte_moves(tmp_path):
    """Notebooks drawn at random, in every form that JSON has for them."""
    put(tmp_path, {"rule.yaml": WORD})
    rng = random.Random(11)
    for _ in range(60):
        cells, wanted = [], []
        for _ in range(rng.randint(1, 8)):
            kind = rng.choice(["text", "magic", "python", "python"])
            body = rng.choice(MAGIC if kind == "magic" else PYTHON) + rng.choice(["", "\n", "\n\n", "\r\n"])
            source = body if rng.random() < 0.3 else lines(body)
            if kind == "text":
                cells.append(text(source))
            else:
                cells.append(code(source, outputs=[{"text": ["lib.old(1)"], "data": "\u2028/"}]))
            changed = body.replace("lib.old(", "lib.new(") if kind == "python" else body
            wanted.append(changed if isinstance(source, str) else lines(changed))
        cells.insert(0, code("import lib"))
        book = notebook(*cells)
        form = {"indent": rng.choice([None, 1, "\t"]), "ensure_ascii": rng.random() < 0.5}
        before = json.dumps(book, **form) + rng.choice(["", "\n"])
        for cell, source in zip(cells[1:], wanted, strict=True):
            cell["source"] = source
        after = json.dumps(book, **form) + ("\n" if before.endswith("\n") else "")
        _, said, made = migrated(tmp_path, before, "-r", "rule.yaml")
        assert made.decode() == after, said
        (tmp_path / "out.ipynb").unlink()


def test_lines_come_in_at_every_place(tmp_path):
    """First and last lines of cells, of lists and of texts: the code of all cells is what the script becomes."""
    put(tmp_path, {"rule.yaml": WORD.replace("  do:", "  imports: [import one]\n  lines: [one.two()]\n  do:")})
    for form in (str, lines):
        for body in ("import lib\nlib.old(1)", "lib.old(1)\nimport lib", "'doc'\nimport lib; lib.old(2)\n"):
            book = notebook(code(form("")), code(form(body)), code([]))
            _, _, made = migrated(tmp_path, book, "-r", "rule.yaml")
            script = run("-", "-r", "rule.yaml", cwd=tmp_path, given=body.encode())[1]
            assert sources(made) == ["", script, ""], body
            (tmp_path / "out.ipynb").unlink()


def test_lines_go_at_every_place(tmp_path):
    gone = "tf.config.experimental.set_memory_growth(g, True)"
    for form in (str, lines):
        cells = [f"{gone}", f"{gone}\nx = 1", f"x = 1\n{gone}", f"x = 1\n{gone}\n", f"x\n{gone}\n{gone}\ny"]
        book = notebook(code("import tensorflow as tf"), *[code(form(cell)) for cell in cells])
        _, _, made = migrated(tmp_path, book)
        kept = [source.rstrip("\n") for source in sources(made)[1:]]
        assert kept == ["", "x = 1", "x = 1", "x = 1", "x\ny"]
        (tmp_path / "out.ipynb").unlink()


def test_lines_that_name_a_gpu_are_listed(tmp_path):
    cells = [code("import torch"), code("!nvidia-smi"), code("%env CUDA_VISIBLE_DEVICES=0"), code("!ls"), code("f((\n")]
    status, said, made = migrated(tmp_path, notebook(*cells))
    assert status == 0 and sources(made) == [cell["source"] for cell in cells]
    assert "cell 2, line 1: a line that is no Python is left as it is, and names a GPU: !nvidia-smi" in said
    assert "CUDA_VISIBLE_DEVICES" in said and "!ls" not in said
    assert "cell 5, line 1: the cell is left as it is: it is no Python" in said


@pytest.mark.parametrize(
    "content, words",
    [("", "is no JSON at its line 1"), ('{"cells": [\n}', "is no JSON at its line 2"), ('{"a": "\\x"}', "is no JSON")]
    + [("[" * 100_000, "is no JSON"), ('{"cells": []} x', "is no JSON"), ('{"a": "\\ud8"}', "is no JSON")],
)
def test_what_is_no_notebook(content, words, tmp_path):
    status, said, made = migrated(tmp_path, content)
    assert status == 1 and words in said and "x.ipynb" in said
    assert made.decode() == content


def test_a_notebook_of_another_language(tmp_path):
    book = json.dumps(notebook(code("library(torch); x$cuda()"), language="R"))
    status, said, made = migrated(tmp_path, book)
    assert status == 0 and made.decode() == book and "its cells are no Python (r)" in said


def test_notebooks_before_format_4(tmp_path):
    cells = [{"cell_type": "code", "input": TORCH, "language": "python", "outputs": []}]
    book = {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    _, _, made = migrated(tmp_path, book)
    assert json.loads(made)["worksheets"][0]["cells"][0]["input"].endswith("Linear(2, 2).npu()")


def test_half_characters_survive(tmp_path):
    """Half of a pair by itself is no character of UTF-8, and JSON can say it all the same."""
    cell = r'{"cell_type": "code", "source": ["import lib\n", "lib.old(\u0027\ud83d\u0027, \u0027\ud83d\ude00\u0027)"]}'
    book = f'{{"cells": [{cell}]}}'
    put(tmp_path, {"rule.yaml": WORD})
    _, _, made = migrated(tmp_path, book, "-r", "rule.yaml")
    assert json.loads(made) == json.loads(book.replace("lib.old(", "lib.new("))
