# SPDX-License-Identifier: Apache-2.0
"""The three command lines of the migration tool, driven as users do: options, files of every kind, reports."""

import csv
import json
import os
import re
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from faces import BUILT, GROWTH, NEW, OLD, RULE, needs_tool, put, run, tree

pytestmark = needs_tool


def sheet(path):
    """Rows of the first sheet, as texts."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        texts = []
        if "xl/sharedStrings.xml" in book.namelist():
            shared = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            texts = ["".join(t.text or "" for t in each.iter(f"{space}t")) for each in shared]
        page = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in page.iter(f"{space}row"):
        cells = [(cell.get("t"), cell.findtext(f"{space}v")) for cell in row]
        rows.append([texts[int(value)] if kind == "s" else value for kind, value in cells])
    return rows


# ---- anynpu migrate


def test_a_folder_becomes_a_copy(project, tmp_path):
    before = tree(project)
    code, out, err = run(project, "-r", "rule.yaml", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert tree(tmp_path / "project_npu") == {**before, "a.py": NEW.encode()}
    assert tree(project) == before
    assert "a.py:2: change lib.old(1) to lib.new(1) [test-rule]" in out and "1 of 2 files changed" in out


def test_the_copy_is_migrated_already(project, tmp_path):
    run(project, "-r", "rule.yaml", "-o", "one", cwd=tmp_path)
    assert run("one", "-r", "rule.yaml", "-o", "two", cwd=tmp_path)[0] == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_single_file(project, tmp_path):
    assert run(project / "a.py", "-r", "rule.yaml", cwd=tmp_path)[0] == 0
    assert (tmp_path / "a_npu.py").read_text() == NEW
    assert run(project / "a.py", "-r", "rule.yaml", "-o", "other.py", cwd=tmp_path)[0] == 0
    assert (tmp_path / "other.py").read_text() == NEW


@pytest.mark.parametrize("folder", ["made", "made/", "made/deep", "made.d"])
def test_a_single_file_goes_into_a_folder(folder, project, tmp_path):
    code, out, _ = run(project / "a.py", "-r", "rule.yaml", "-o", folder, cwd=tmp_path)
    assert code == 0 and (tmp_path / folder / "a.py").read_text() == NEW
    assert f"result: {tmp_path / folder}/a.py" in out
    code, _, err = run(project / "a.py", "-r", "rule.yaml", "-o", folder, cwd=tmp_path)
    assert code == 2 and "is there already" in err
    code, out, _ = run(project / "sub/b.py", "-r", "rule.yaml", "-o", folder, cwd=tmp_path)
    assert code == 0 and (tmp_path / folder / "b.py").exists() and (tmp_path / folder / "a.py").read_text() == NEW


def test_a_single_file_goes_into_a_folder_with_the_name_of_a_script(project, tmp_path):
    assert run(project / "a.py", "-r", "rule.yaml", "-o", "made.py/", cwd=tmp_path)[0] == 0
    assert (tmp_path / "made.py/a.py").read_text() == NEW
    put(tmp_path, {"taken": "mine"})
    code, _, err = run(project / "a.py", "-r", "rule.yaml", "-o", "taken", cwd=tmp_path)
    assert code == 2 and "taken" in err and (tmp_path / "taken").read_text() == "mine"


def test_equal_notes_are_one_line(tmp_path):
    put(tmp_path, {"rule.yaml": RULE})
    put(tmp_path / "p", {"a.py": "import lib\nlib.gone(1)\nlib.gone(2)\n", "b.py": "import lib\nlib.gone(3)\n"})
    out = run("p", "-r", "rule.yaml", "--dry-run", cwd=tmp_path)[1]
    line = "p/a.py:2: unsupported: =there is no such thing [test-unsupported] (3 places: also 3, b.py:2)"
    assert [each for each in out.splitlines() if "no such thing" in each] == [line]
    assert out.splitlines()[-1] == "0 of 2 files would change, 3 places to look at by hand"
    told = json.loads(run("p", "-r", "rule.yaml", "--json", cwd=tmp_path)[1])
    assert [len(file["changes"]) for file in told["files"]] == [2, 1]


HOROVOD = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\nprint(hvd.rank())\n"


@pytest.mark.parametrize("options", [[], ["-d", "horovod"]])
def test_horovod_in_scripts_of_tensorflow_2(options, tmp_path):
    put(tmp_path, {"a.py": HOROVOD})
    assert run("a.py", "-o", "b.py", *options, cwd=tmp_path)[0] == 0
    assert (tmp_path / "b.py").read_text().splitlines() == [
        "from npu_device.compat.v1.npu_init import get_npu_rank_id",
        "import npu_device as npu",
        "npu.open().as_default()",
        "import tensorflow as tf",
        "None",
        "print(get_npu_rank_id())",
    ]


def test_stdin_goes_to_stdout(project, tmp_path):
    code, out, err = run("-", "-r", "rule.yaml", cwd=tmp_path, given=OLD.encode())
    assert (code, out) == (0, NEW) and err == "<stdin>:2: change lib.old(1) to lib.new(1) [test-rule]\n"
    assert run("-", cwd=tmp_path, given=b"x = 1") == (0, "x = 1", "")
    assert run("-", "--in-place", cwd=tmp_path)[0] == 2
    code, out, err = run("-", cwd=tmp_path, given=b"\0binary")
    assert code == 1 and out == "\0binary" and "no text" in err


def test_in_place(project, tmp_path):
    (project / "a.py").chmod(0o751)
    before = tree(project)
    code, _, _ = run("project", "-r", "rule.yaml", "--in-place", cwd=tmp_path)
    assert code == 0 and tree(project) == {**before, "a.py": NEW.encode()}
    assert stat.S_IMODE((project / "a.py").stat().st_mode) == 0o751
    unchanged = (project / "sub/b.py").stat()
    assert run("project", "-r", "rule.yaml", "--in-place", cwd=tmp_path)[1].startswith("0 of 2 files changed")
    assert (project / "sub/b.py").stat().st_mtime_ns == unchanged.st_mtime_ns


def test_a_dry_run_and_a_diff_write_nothing(project, tmp_path):
    before = tree(tmp_path)
    code, out, _ = run("project", "-r", "rule.yaml", "--dry-run", cwd=tmp_path)
    assert code == 0 and "1 of 2 files would change" in out
    code, out, _ = run("project", "-r", "rule.yaml", "--diff", cwd=tmp_path)
    assert out == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n import lib\n-lib.old(1)\n+lib.new(1)\n"
    assert tree(tmp_path) == before


def test_each_script_is_migrated_as_what_it_imports(tmp_path):
    put(tmp_path / "p", {"tf.py": GROWTH, "t.py": "import torch\nx = torch.zeros(3).cuda()\n"})
    code, out, _ = run("p", "-o", "o", cwd=tmp_path)
    made = {name: text.decode() for name, text in tree(tmp_path / "o").items()}
    assert code == 0 and "set_memory_growth" not in made["tf.py"] and "torch" not in made["tf.py"]
    assert "import torch_npu\n" in made["t.py"] and ".npu()" in made["t.py"] and "npu_device" not in made["t.py"]


def test_a_named_script_of_pytorch_opens_no_npu_of_tensorflow(tmp_path):
    put(tmp_path / "p", {"main.py": "from net import run\nrun()\n", "net.py": "import torch\ndef run(): pass\n"})
    assert "npu_device" not in run("p", "-m", "p/main.py", "--diff", cwd=tmp_path)[1]
    assert "npu_device" not in run("p", "-m", "p/net.py", "--diff", cwd=tmp_path)[1]
    put(tmp_path / "p", {"net.py": "import tensorflow as tf\ndef run(): pass\n"})
    assert "+npu.open().as_default()" in run("p", "-m", "p/main.py", "--diff", cwd=tmp_path)[1]


GUARD = "if __name__ == '__main__':\n    print(1)\n"
OPENED = "import npu_device as npu\nnpu.open().as_default()\n"


@pytest.mark.parametrize(
    "files, words",
    [
        ({"a.py": GROWTH, "b.py": "x = 1\n"}, "none has a main guard (if __name__ == '__main__')"),
        ({"a.py": GROWTH, "b.py": GUARD}, "what has a main guard (b.py) imports no TensorFlow"),
        ({"a.py": GROWTH + GUARD, "b.py": "x = 1\n"}, None),
        ({"a.py": GROWTH, "b.py": OPENED + GROWTH}, None),
        ({"a.py": "import torch\n", "b.py": "import npu_device\n"}, None),
    ],
)
def test_a_run_that_opens_no_npu_says_so(files, words, tmp_path):
    put(tmp_path / "p", files)
    code, out, _ = run("p", "--dry-run", cwd=tmp_path)
    told = [line for line in out.splitlines() if "opens the NPU" in line]
    assert code == 0 and bool(told) == bool(words)
    assert not words or (words in told[0] and "by -m" in told[0] and "on the CPU" in told[0])
    assert json.loads(run("p", "--json", cwd=tmp_path)[1])["notes"] == [line[6:] for line in told]
    assert "opens the NPU" not in run("p", "--dry-run", "-m", "p/a.py", cwd=tmp_path)[1]
    assert "opens the NPU" not in run("p", "--dry-run", "-c", cwd=tmp_path)[1]


def test_a_named_script_that_cannot_open_the_npu(tmp_path):
    put(tmp_path / "p", {"a.py": "import tensorflow as tf\nnpu = 1\n"})
    code, out, _ = run("p", "--dry-run", "-m", "p/a.py", cwd=tmp_path)
    assert code == 0 and "note: a.py does not open the NPU" in out and "by hand" in out


def test_a_single_file_is_where_the_program_begins(tmp_path):
    put(tmp_path, {"a.py": GROWTH})
    assert run("a.py", "-o", "b.py", cwd=tmp_path)[0] == 0
    assert (tmp_path / "b.py").read_text() == OPENED + GROWTH.replace(
        "tf.config.experimental.set_memory_growth(g, True)\n", ""
    )
    assert run("-", cwd=tmp_path, given=GROWTH.encode())[1] == (tmp_path / "b.py").read_text()
    put(tmp_path, {"c.py": "import numpy\n"})
    assert "0 of 1 file would change" in run("c.py", "--dry-run", cwd=tmp_path)[1]


def test_one_and_many(project, tmp_path):
    out = run("project", "-r", "rule.yaml", "--dry-run", cwd=tmp_path)[1]
    assert out.splitlines()[-1] == "1 of 2 files would change, 0 places to look at by hand"
    put(project, {"a.py": "import lib\nlib.gone(1)\n"})
    out = run("project/a.py", "-r", "rule.yaml", "--dry-run", cwd=tmp_path)[1]
    assert out.splitlines()[-1] == "0 of 1 file would change, 1 place to look at by hand"


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch here")
def test_patch_takes_the_diff(tmp_path):
    text = "import lib\r\n" + "".join(f"x{i} = {i}\n" + ("lib.old(i)\n" if i % 9 == 0 else "") for i in range(60))
    put(tmp_path, {"rule.yaml": RULE, "project/a.py": text + "lib.old(lib.old(2))", "project/b.py": OLD})
    diff = run("project", "-r", "rule.yaml", "--diff", cwd=tmp_path)[1]
    run("project", "-r", "rule.yaml", "-o", "wanted", cwd=tmp_path)
    subprocess.run(["patch", "--binary", "-s", "-p1"], cwd=tmp_path / "project", input=diff, text=True, check=True)
    assert tree(tmp_path / "project") == tree(tmp_path / "wanted")


def test_json(project, tmp_path):
    put(project, {"bad.py": b"\0"})
    code, out, _ = run("project", "-r", "rule.yaml", "--json", cwd=tmp_path)
    told = json.loads(out)
    assert code == 1 and told["summary"] == {"files": 3, "changed": 1, "failed": 1}
    by_path = {file["path"]: file for file in told["files"]}
    (row,) = by_path["a.py"]["changes"]
    assert (row["rule"], row["kind"], row["line"], row["before"], row["after"]) == (
        "test-rule",
        "modify",
        2,
        "lib.old(1)",
        "lib.new(1)",
    )
    assert "no text" in by_path["bad.py"]["failure"] and not by_path["sub/b.py"]["changed"]


def test_html(project, tmp_path):
    put(project, {"a.py": OLD + "y = '<b>&'\n"})
    assert run("project", "-r", "rule.yaml", "--html", "out.html", "--dry-run", cwd=tmp_path)[0] == 0
    page = (tmp_path / "out.html").read_text()
    assert '<td class="old">lib.old(1)</td>' in page and '<td class="new">lib.new(1)</td>' in page
    # The first row is as wide as the table: without these, all columns would be a quarter of it.
    assert (
        page.count("<table>") == page.count('<table><colgroup><col class="n"><col><col class="n"><col></colgroup>') == 1
    )
    assert "col.n{width:" in page and "td.n{width" not in page
    assert "&lt;b&gt;&amp;" in page and "<b>&" not in page
    assert run("project", "--html", "project/x.html", "--dry-run", cwd=tmp_path)[0] == 2


def test_explain_and_off(project, tmp_path):
    code, out, _ = run("--explain", "all", "-r", "rule.yaml", cwd=tmp_path)
    assert code == 0 and re.search(r"^test-rule +lib.old becomes lib.new$", out, re.M)
    assert re.search(r"^tf-memory-growth +\w", out, re.M)
    code, out, _ = run("--explain", "test-rule", "-r", "rule.yaml", cwd=tmp_path)
    assert "why: for the tests" in out and "    lib.new(1)\n" in out
    code, _, err = run("--explain", "no-such", cwd=tmp_path)
    assert code == 2 and "--explain all lists them" in err
    assert "0 of 2 files" in run("-r", "rule.yaml", "--off", "test-rule", "--dry-run", project, cwd=tmp_path)[1]
    assert run("--off", "no-such", project, cwd=tmp_path)[0] == 2


CONFIGS = {
    "a.yaml": "device: cuda:0  # the first\nbackend: 'nccl'\ngpu_ids: [0, 1]\ntext: we use cuda here\ncuda: true\n",
    "b.json": '{"device": "cuda", "list": ["cuda:1", "cudax"], "cuda": 1}\n',
    "c.sh": "# cuda\nexport CUDA_VISIBLE_DEVICES=0,1\npython train.py --device=cuda --dist-backend nccl\n",
}


def test_config_files_are_reported_and_changed_only_if_asked(tmp_path):
    put(tmp_path / "p", CONFIGS)
    code, out, _ = run("p", "-o", "same", cwd=tmp_path)
    assert code == 0 and tree(tmp_path / "same") == tree(tmp_path / "p")
    assert "p/a.yaml:1: manual: change cuda:0 to npu:0 by hand, or let --configs do it" in out
    assert "p/a.yaml:3: manual: gpu_ids names GPUs" in out and "a.yaml:4" not in out
    code, out, _ = run("p", "-o", "changed", "--configs", cwd=tmp_path)
    changed = {name: text.decode() for name, text in tree(tmp_path / "changed").items()}
    assert changed == {
        "a.yaml": CONFIGS["a.yaml"].replace("cuda:0", "npu:0").replace("'nccl'", "'hccl'"),
        "b.json": '{"device": "npu", "list": ["npu:1", "cudax"], "cuda": 1}\n',
        "c.sh": "# cuda\nexport ASCEND_RT_VISIBLE_DEVICES=0,1\npython train.py --device=npu --dist-backend hccl\n",
    }
    assert tree(tmp_path / "p")["a.yaml"].decode() == CONFIGS["a.yaml"]


def test_usage(project, tmp_path):
    for wrong in (
        ["nowhere"],
        [],
        [project, "-o", project],
        [project, "-o", project / "sub/out"],
        [project, "-o", "x", "--in-place"],
        [project, "--no-such-option"],
        [project, "-m", "nowhere.py"],
        [project, "-m", tmp_path / "rule.yaml"],
        [project, "-d", "ddp"],
        [project, "-r", "nowhere.yaml"],
        ["/dev/null"],
    ):
        code, out, err = run(*wrong, cwd=tmp_path)
        assert code == 2 and out == "" and err.startswith("anynpu migrate: "), (wrong, err)
    put(tmp_path, {"there/x": "mine"})
    code, _, err = run(project, "-o", "there", cwd=tmp_path)
    assert code == 2 and "is there already" in err and tree(tmp_path / "there") == {"x": b"mine"}


def test_output_through_a_link_into_the_input_is_refused(project, tmp_path):
    (tmp_path / "link").symlink_to(project)
    code, _, err = run(project, "-o", "link/out", cwd=tmp_path)
    assert code == 2 and "lies in the input" in err


def test_a_bad_rule_file_is_named_with_its_line(project, tmp_path):
    (tmp_path / "bad.yaml").write_text("rules:\n- id: x\n  colour: red\n")
    code, _, err = run(project, "-r", "bad.yaml", cwd=tmp_path)
    assert code == 2 and "bad.yaml:3: a rule has no `colour`" in err


# ---- files of every kind


def test_links_stay_links_and_are_not_followed(project, tmp_path):
    (tmp_path / "outside").mkdir()
    put(tmp_path, {"outside/c.py": OLD})
    (project / "loop").symlink_to(".")
    (project / "out").symlink_to("../outside")
    (project / "same.py").symlink_to("a.py")
    (project / "dead").symlink_to("nowhere")
    assert run("project", "-r", "rule.yaml", "-o", "o", cwd=tmp_path)[0] == 0
    made = tree(tmp_path / "o")
    assert made["loop"] == "-> ." and made["out"] == "-> ../outside" and made["same.py"] == "-> a.py"
    assert made["dead"] == "-> nowhere" and (tmp_path / "outside/c.py").read_text() == OLD
    run("project", "-r", "rule.yaml", "--in-place", cwd=tmp_path)
    assert (project / "same.py").is_symlink() and (tmp_path / "outside/c.py").read_text() == OLD


def test_names_of_every_kind(tmp_path):
    names = [
        "模型/训练 脚本.py",
        "é.py",
        "a'b\"c.py",
        "new\nline.py",
        "x" * 252 + ".py",
        "/".join(["d" * 100] * 20) + "/e.py",
    ]
    put(tmp_path / "p", dict.fromkeys(names, OLD))
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/p/\xff.py"))).write_text(OLD)
    put(tmp_path, {"rule.yaml": RULE})
    code, out, err = run("p", "-r", "rule.yaml", "-o", "o", "--html", "h.html", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert set(tree(tmp_path / "o").values()) == {NEW.encode()} and len(tree(tmp_path / "o")) == 7
    assert json.loads(run("p", "-r", "rule.yaml", "--json", cwd=tmp_path)[1])["summary"]["changed"] == 7


def test_modes_are_kept_and_a_read_only_tree_is_copied(project, tmp_path):
    (project / "a.py").chmod(0o555)
    (project / "data.bin").chmod(0o640)
    (project / "sub/b.py").chmod(0o444)
    (project / "sub").chmod(0o555)
    project.chmod(0o555)
    try:
        assert run("project", "-r", "rule.yaml", "-o", "o", cwd=tmp_path)[0] == 0
    finally:
        project.chmod(0o755)
        (project / "sub").chmod(0o755)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "o").rglob("*")}
    assert modes == {"a.py": 0o555, "data.bin": 0o640, "b.py": 0o444, "sub": 0o755}


def test_pipes_notebooks_and_installed_packages(project, tmp_path):
    os.mkfifo(project / "pipe.py")
    put(project, {"n.ipynb": "{}", "venv/pyvenv.cfg": "", "venv/x.py": OLD, "lib/site-packages/y.py": OLD})
    put(project, {"venv/n.ipynb": "no notebook"})
    code, out, _ = run("project", "-r", "rule.yaml", "-o", "o", cwd=tmp_path)
    assert code == 0
    made = tree(tmp_path / "o")
    assert "pipe.py" not in made and made["n.ipynb"] == b"{}"
    assert made["venv/x.py"] == made["lib/site-packages/y.py"] == OLD.encode()
    assert made["venv/n.ipynb"] == b"no notebook" and "n.ipynb" not in out and "pipe.py: no regular file" in out
    assert "venv/: holds installed packages" in out


# ---- convert_tf2npu


def convert(tmp_path, *options, files=None):
    put(tmp_path / "net", files or {"train.py": GROWTH})
    code, out, err = run("-i", "net", *options, cwd=tmp_path, face="convert_tf2npu")
    (output,) = [*tmp_path.glob("output_npu_*"), None][:1]
    (report,) = [*tmp_path.glob("report_npu_*"), None][:1]
    return code, out, err, output, report


def test_the_folders_of_the_guide(tmp_path):
    code, out, err, output, report = convert(tmp_path)
    assert (code, err) == (0, "")
    assert re.fullmatch(r"output_npu_\d{14}", output.name) and report.name == output.name.replace("output", "report")
    (copy,) = output.iterdir()
    assert copy.name == output.name.replace("output", "net")
    assert "set_memory_growth" not in (copy / "train.py").read_text()
    lines = out.splitlines()
    assert lines[0] == f"Begin conver, input file: {tmp_path}/net"
    assert lines[1] == f"Begin conver file: {tmp_path}/net/train.py"
    assert lines[2] == f"Finish conver file: {tmp_path}/net/train.py"
    assert lines[-1] == f"Finish conver, output file: {output}; report file: {report}"


def test_output_and_report_elsewhere(tmp_path):
    put(tmp_path / "net", {"train.py": GROWTH})
    options = ["--input=net", "--output=there", "--report=there", "--main=net/train.py"]
    assert run(*options, cwd=tmp_path, face="convert_tf2npu")[0] == 0
    names = sorted(path.name for path in (tmp_path / "there").iterdir())
    assert len(names) == 2 and names[0].startswith("net_npu_") and names[1].startswith("report_npu_")


OF_OLD = "import tensorflow as tf\nwith tf.Session() as sess:\n    pass\n"


def test_the_tool_of_tensorflow_1_lays_scripts_beside_reports(tmp_path):
    put(tmp_path / "net", {"train.py": OF_OLD})
    face = "npu_bridge.convert_tf2npu"
    assert run("-i", "net", "-r", "there", cwd=tmp_path, face=face)[0] == 0
    (output,), (report,) = tmp_path.glob("there/output_npu_*"), tmp_path.glob("there/report_npu_*")
    assert output.name.replace("output", "report") == report.name and len(list(tmp_path.iterdir())) == 2
    made = next(output.glob("net_npu_*/train.py")).read_text()
    assert made.splitlines() == [
        "from npu_bridge.npu_init import *",
        "import tensorflow.compat.v1 as tf",
        "tf.disable_v2_behavior()",
        "with tf.Session(config=npu_config_proto()) as sess:",
        "    pass",
    ]
    assert (report / "success_report.txt").exists()


def test_the_tool_of_tensorflow_1_elsewhere(tmp_path):
    put(tmp_path / "net", {"train.py": OF_OLD})
    face = "npu_bridge.convert_tf2npu"
    assert run("-i", "net", cwd=tmp_path, face=face)[0] == 0
    assert len(list(tmp_path.glob("output_npu_*/net_npu_*/train.py"))) == 1
    assert run("-i", "net", "-o", "o", "-r", "r", "-c", cwd=tmp_path, face=face)[0] == 0
    (made,) = tmp_path.glob("o/net_npu_*/train.py")  # with -c, of tf.compat.v1
    assert "npu.compat.enable_v1()" in made.read_text() and "npu_bridge" not in made.read_text()
    assert len(list(tmp_path.glob("r/report_npu_*"))) == 1
    code, _, err = run("-i", "net", "-r", "net", cwd=tmp_path, face=face)
    assert code == 2 and err.startswith("convert_tf2npu: ") and "lies in the input" in err


def test_the_text_reports(tmp_path):
    _, _, _, _, report = convert(tmp_path)
    success = (report / "success_report.txt").read_text()
    path = f"{tmp_path}/net/train.py"
    assert re.search(rf"^{path}:2 delete tf\.config\.experimental\.set_memory_growth\(g, True\)$", success, re.M)
    assert success.endswith(f"Finish conver file: {path}\n\n")
    assert (report / "need_migration_doc.txt").exists()
    assert not (report / "failed_report.txt").exists(), "the guide reads its absence as success"
    brief = (report / "api_brief_report.txt").read_text().splitlines()
    fields = (
        r"Total API: \d+, in which Support: \d+, API support after migration: \d+, Network training support after "
        r"migration: \d+, Not support but no impact on migration: \d+, Not support or recommended: \d+, "
        r"Compatible: \d+, Deprecated: \d+, Analysing: \d+"
    )
    assert len(brief) == 2
    assert re.fullmatch(r"1\.In brief: " + fields, brief[0]), brief[0]
    assert re.fullmatch(r"2\.After eliminate duplicate: " + fields, brief[1]), brief[1]


def list_file(tmp_path):
    path = tmp_path / "list.tsv"
    path.write_text(
        "tf.config.experimental.set_memory_growth\tmigrated\tbecomes None\r\ntf.nn.relu\tnative\t\n"
        "tf.tpu.rewrite\tunsupported\tfor TPUs\n"
    )
    return path


HEADINGS = ["序号", "脚本文件名", "代码行", "模块名", "API名", "工具迁移API支持度", "说明"]
USES = GROWTH + "x = tf.nn.relu(tf.nn.relu(1.0))\ny = tf.tpu.rewrite(x)\n"


def workbook(path):
    """A support list in the vendor's form, as Excel would save it."""
    rows = [
        ["模块名", "API名", "工具迁移API支持度", "说明", "热度"],
        ["tf.config", "tf.config.experimental.set_memory_growth", "工具迁移后API功能支持", "becomes None"],
        ["tf.nn", "tf.nn.relu", "支持（无需迁移）", ""],
        ["tf.tpu", "tf.tpu.rewrite", "不支持（无迁移方案，建议用户不使用）", "for TPUs"],
    ]
    texts = sorted({cell for row in rows for cell in row})
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    cells = "".join(
        f'<row r="{i + 1}">'
        + "".join(f'<c r="{"ABCDE"[j]}{i + 1}" t="s"><v>{texts.index(c)}</v></c>' for j, c in enumerate(row) if c)
        + "</row>"
        for i, row in enumerate(rows)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
        book.writestr("xl/sharedStrings.xml", f"<sst {space}>{shared}</sst>")
        book.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{cells}</sheetData></worksheet>")
    return path


@pytest.mark.parametrize("form", [list_file, lambda folder: workbook(folder / "list.xlsx")], ids=["text", "xlsx"])
def test_the_api_report(form, tmp_path):
    code, out, err, _, report = convert(tmp_path, "-l", form(tmp_path), files={"sub/train.py": USES})
    assert code == 0, err
    rows = sheet(report / "api_analysis_report.xlsx")
    assert rows[0] == HEADINGS
    assert [row[1:6] for row in rows[1:]] == [
        ["sub/train.py", "2", "tf.config", "tf.config.experimental.set_memory_growth", "工具迁移后API功能支持"],
        ["sub/train.py", "3", "tf.nn", "tf.nn.relu", "支持（无需迁移）"],
        ["sub/train.py", "3", "tf.nn", "tf.nn.relu", "支持（无需迁移）"],
        ["sub/train.py", "4", "tf.tpu", "tf.tpu.rewrite", "不支持（无迁移方案，建议用户不使用）"],
    ]
    assert [row[0] for row in rows[1:]] == ["1", "2", "3", "4"] and rows[4][6] == "for TPUs"
    brief = (report / "api_brief_report.txt").read_text()
    assert "1.In brief: Total API: 4, in which Support: 2, API support after migration: 1" in brief
    assert "2.After eliminate duplicate: Total API: 3, in which Support: 1" in brief and brief in out
    failed = (report / "failed_report.txt").read_text()
    assert failed.startswith(f"{tmp_path}/net/sub/train.py:4, NPU Unsupport API: tf.tpu.rewrite")


def test_a_run_that_opens_no_npu_is_work_by_hand(tmp_path):
    code, out, _, _, report = convert(tmp_path, files={"a.py": GROWTH, "b.py": "x = 1\n"})
    note = "no script opens the NPU, so all would run on the CPU"
    assert code == 0 and note in out and note in (report / "need_migration_doc.txt").read_text()


def test_a_list_that_is_none(tmp_path):
    put(tmp_path, {"bad.xlsx": b"PK not a zip", "bad.tsv": "tf.x\tgreat\n"})
    code, _, err, *_ = convert(tmp_path, "-l", "bad.xlsx")
    assert code == 2 and "cannot be read as an .xlsx workbook" in err
    code, _, err, *_ = convert(tmp_path, "-l", "bad.tsv")
    assert code == 2 and "bad.tsv:1: a line is: name" in err


def test_scripts_without_tensorflow(tmp_path):
    code, out, _, _, report = convert(tmp_path, files={"plain.py": "x = 1\n"})
    assert code == 0 and "No Tensorflow module is imported in script plain.py." in out
    assert "No api data in the report" in out and sheet(report / "api_analysis_report.xlsx") == [HEADINGS]


def test_a_bad_file_is_a_row_of_the_failed_report(tmp_path):
    code, _, err, _, report = convert(tmp_path, files={"bad.py": b"\0", "train.py": GROWTH})
    assert code == 1 and "bad.py" in (report / "failed_report.txt").read_text()


def test_a_single_file_of_tensorflow(tmp_path):
    put(tmp_path, {"one.py": GROWTH})
    assert run("-i", "one.py", cwd=tmp_path, face="convert_tf2npu")[0] == 0
    (made,) = tmp_path.glob("output_npu_*/one_npu_*/one.py")
    assert "set_memory_growth" not in made.read_text()


@pytest.mark.parametrize(
    "options, words",
    [
        (["-d", "horovod"], "add -c"),
        (["-d", "mpi"], "horovod,tf_strategy"),
        (["-m", "net/none.py"], "there is no such file"),
        (["-m", "elsewhere.py"], "does not lie in the input"),
        (["-o", "net/out"], "lies in the input"),
        (["-r", "net"], "lies in the input"),
        (["-l", "none.xlsx"], "-l none.xlsx"),
        (["--what"], "-h tells the options"),
    ],
)
def test_usage_of_convert_tf2npu(options, words, tmp_path):
    put(tmp_path, {"elsewhere.py": ""})
    code, _, err, output, report = convert(tmp_path, *options)
    assert code == 2 and words in err and output is None and report is None


def test_compat_is_a_word_too(tmp_path):
    for options in (["-c"], ["--compat"], ["compat"], ["-c", "-d", "horovod"], ["-d", "tf_strategy"]):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        assert convert(folder, *options)[0] == 0, options


# ---- ms_fmk_transplt


def transplant(tmp_path, *options, files=None):
    put(tmp_path, {"rule.yaml": RULE, "out/keep": ""})
    put(tmp_path / "net", files or {"main.py": OLD, "b.py": "import lib\nlib.gone(\n  2)\n"})
    return run("-i", "net", "-o", "out", "-r", "rule.yaml", *options, cwd=tmp_path, face="ms_fmk_transplt")


def test_the_folder_of_the_torch_guide(tmp_path):
    code, out, err = transplant(tmp_path)
    assert (code, err) == (0, ""), err
    made = tree(tmp_path / "out/net_msft")
    assert set(made) == {"main.py", "b.py", "msFmkTranspltlog.txt", "change_list.csv", "unsupported_op.xlsx"}
    assert made["main.py"] == NEW.encode() and f"result: {tmp_path}/out/net_msft" in out
    rows = list(csv.reader((tmp_path / "out/net_msft/change_list.csv").open()))
    assert rows == [
        ["File", "Start Line", "End Line", "Operation Type", "Message"],
        ["main.py", "2", "2", "MODIFY", "change lib.old(1) to lib.new(1)"],
    ]
    rows = sheet(tmp_path / "out/net_msft/unsupported_op.xlsx")
    assert rows == [
        ["File", "Start Line", "End Line", "OP", "Tips"],
        ["b.py", "2", "3", "lib.gone", " =there is no such thing"],
    ]
    log = made["msFmkTranspltlog.txt"].decode()
    assert re.search(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[INFO\] main.py$", log, re.M)
    assert "line: 2 ~ 2  Operation Type: MODIFY  Message: change lib.old(1) to lib.new(1)" in log


def test_cells_that_look_like_formulas(tmp_path):
    transplant(tmp_path, files={"=a.py": OLD, "-b,c.py": OLD})
    text = (tmp_path / "out/net_msft/change_list.csv").read_text()
    assert '\n" -b,c.py",2' in text and "\n =a.py,2" in text


def test_all_options_of_torch(tmp_path):
    code, _, err = transplant(tmp_path, "-s", "-sim", "-v", "2.1.0", "distributed", "-m", "main.py", "-t", "net")
    assert code == 0, err
    assert (tmp_path / "out/net_msft_multi/main.py").read_text().count("init_process_group") == 1
    script = tmp_path / "out/net_msft_multi/run_distributed_npu.sh"
    assert os.access(script, os.X_OK) and subprocess.run(["bash", "-n", script]).returncode == 0


def test_a_model_that_is_not_there(tmp_path):
    text = "import torch\nnet = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), 0.1)\n"
    code, out, _ = transplant(tmp_path, "distributed", "-m", "main.py", "-t", "nte", files={"main.py": text})
    words = "no model is wrapped in DistributedDataParallel, so each process would train alone: no variable `nte`"
    assert code == 0 and words in out and "by -t" in out
    assert words in (tmp_path / "out/net_msft_multi/msFmkTranspltlog.txt").read_text()
    shutil.rmtree(tmp_path / "out/net_msft_multi")
    assert (
        words[:20] not in transplant(tmp_path, "distributed", "-m", "main.py", "-t", "net", files={"main.py": text})[1]
    )


@pytest.mark.parametrize(
    "options, words",
    [
        (["distributed"], "--main"),
        (["distributed", "-m", "none.py"], "there is no such file"),
        (["-t", "x"], "-t"),
        (["-r", "none.json"], "none.json"),
    ],
)
def test_usage_of_ms_fmk_transplt(options, words, tmp_path):
    code, _, err = transplant(tmp_path, *options)
    assert code == 2 and words in err and tree(tmp_path / "out") == {"keep": b""}


def test_a_second_run_does_not_overwrite(tmp_path):
    transplant(tmp_path)
    put(tmp_path, {"out/net_msft/main.py": "# mine"})
    code, _, err = transplant(tmp_path)
    assert code == 2 and "is there already" in err
    assert (tmp_path / "out/net_msft/main.py").read_text() == "# mine"


def test_a_single_file_of_torch_goes_to_the_name_of_its_folder(tmp_path):
    put(tmp_path, {"rule.yaml": RULE, "net/one.py": OLD, "net/two.py": OLD})
    code, _, err = run("-i", "net/one.py", "-o", "out", "-r", "rule.yaml", cwd=tmp_path, face="ms_fmk_transplt")
    assert code == 0, err
    made = tree(tmp_path / "out/net_msft")
    assert made["one.py"] == NEW.encode() and "two.py" not in made


@pytest.mark.parametrize("name", ["migrate", "convert_tf2npu", "ms_fmk_transplt"])
def test_the_name_chooses_the_face(name, tmp_path):
    (tmp_path / name).symlink_to(BUILT)
    done = subprocess.run([tmp_path / name, "-h"], capture_output=True, text=True)
    assert done.returncode == 0 and "Usage: " + {"migrate": "anynpu migrate"}.get(name, name) in done.stdout
