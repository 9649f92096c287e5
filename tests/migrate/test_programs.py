# SPDX-License-Identifier: Apache-2.0
"""Which scripts of a folder open the NPU: each that trains by TensorFlow gets the lines or is named, and none that does
not is made to name an NPU that it does not know."""

import json

import pytest
from faces import needs_tool, put, run, tree

pytestmark = needs_tool

OPEN = "import npu_device as npu\nnpu.open().as_default()\n"
TF = "import tensorflow as tf\n"
FIT = "import tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.fit([1], [1])\n"
ON_GPU = "import tensorflow as tf\nwith tf.device('/gpu:0'):\n    x = tf.zeros([2])\n"
LOOP = """import tensorflow as tf
class Trainer:
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = x
        self.opt.apply_gradients(zip(tape.gradient(loss, []), []))
def run_all(trainer):
    for x in range(3):
        trainer.step(x)
"""
GUARD = "if __name__ == '__main__':\n    main()\n"


def migrated(folder, files, *options):
    """({path: text} of what came out, {path: its rows}, the notes)"""
    put(folder / "p", files)
    status, out, err = run("p", "--json", "-o", "o", *options, cwd=folder)
    assert status == 0, err
    told = json.loads(out)
    rows = {file["path"]: file["changes"] for file in told["files"]}
    return {name: text.decode() for name, text in tree(folder / "o").items()}, rows, told["notes"]


def opening(made):
    return {name for name, text in made.items() if "npu.open()" in text}


@pytest.mark.parametrize(
    "files, opened",
    [
        ({"a.py": FIT, "b.py": FIT, "c.py": "x = 1\n"}, {"a.py", "b.py"}),
        ({"a.py": ON_GPU, "b.py": "x = 1\n"}, {"a.py"}),
        ({"a.py": LOOP + "run_all(Trainer())\n", "b.py": LOOP}, {"a.py"}),
        ({"a.py": LOOP + "import absl\nabsl.app.run(run_all)\n", "b.py": "x = 1\n"}, {"a.py"}),
        # What another package, of the project or not, brings along.
        ({"a.py": "from net import model\nmodel.fit(1)\n", "net/__init__.py": "import tensorflow\n"}, {"a.py"}),
        ({"a.py": "from . import net\nnet.go()\n" + GUARD, "net.py": "from deep import x\n", "deep.py": TF}, {"a.py"}),
        ({"a.py": "from bert4keras.models import build\nbuild().fit(1)\n", "b.py": "x = 1\n"}, {"a.py"}),
        ({"a.py": "from transformers import TFAutoModel as A\nA().fit(1)\n", "b.py": "x = 1\n"}, {"a.py"}),
        ({"a.py": "import keras\nkeras.Sequential().fit(1)\n", "b.py": "x = 1\n"}, {"a.py"}),
        # What only defines, and what is no TensorFlow's.
        ({"a.py": LOOP, "b.py": "from sklearn import svm\nsvm.SVC().fit(1)\n"}, set()),
        ({"a.py": "import torch\nimport tensorflow_datasets\nmodel.fit(1)\n" + GUARD, "b.py": "x = 1\n"}, set()),
        ({"a.py": "from transformers import AutoModel\nAutoModel().fit(1)\n", "b.py": TF}, set()),
    ],
)  # fmt: skip
def test_scripts_that_train_open_the_npu(files, opened, tmp_path):
    made, _, _ = migrated(tmp_path, files)
    assert opening(made) == opened
    again, _, _ = run("o", "--in-place", cwd=tmp_path)
    assert again == 0 and tree(tmp_path / "o") == {name: text.encode() for name, text in made.items()}


def test_a_named_script_opens_the_npu_however_it_reaches_tensorflow(tmp_path):
    for i, head in enumerate(("from net import go", "import official.nlp", "import tf_agents", "import anything")):
        files = {"main.py": head + "\ngo()\n", "net.py": "import tensorflow as tf\ndef go(): pass\n"}
        made, _, notes = migrated(tmp_path / str(i), files, "-m", "p/main.py")
        assert opening(made) == {"main.py"} and made["main.py"].startswith(OPEN), head
        assert not notes


def test_each_script_that_trains_is_opened_or_named(tmp_path):
    files = {
        "main.py": "from net import go\ngo()\n",
        "net.py": LOOP + "def go(): pass\n",
        "other.py": FIT,
        "lib.py": LOOP,
    }
    made, _, notes = migrated(tmp_path / "named", files, "-m", "p/main.py")
    assert opening(made) == {"main.py"}
    (note,) = notes
    assert note.startswith("lib.py, other.py: train on the CPU") and "by -m" in note
    made, _, notes = migrated(tmp_path / "all", {"a.py": LOOP, "b.py": LOOP, "c.py": "x = 1\n"})
    assert opening(made) == set() and [note.split(":")[0] for note in notes] == ["a.py, b.py"]


def test_many_names_are_cut(tmp_path):
    _, _, (note,) = migrated(tmp_path, {f"m{i:02}.py": LOOP for i in range(25)})
    assert "m00.py, " in note and "m19.py and 5 more: train" in note and "m20.py" not in note


def test_no_npu_is_named_where_none_is_open(tmp_path):
    other = ON_GPU + "s = tf.distribute.MirroredStrategy()\nt = tf.distribute.OneDeviceStrategy('/gpu:0')\n"
    files = {"main.py": FIT, "other.py": other}
    made, rows, _ = migrated(tmp_path / "named", files, "-m", "p/main.py")
    assert made["other.py"] == other
    messages = [row["message"] for row in rows["other.py"] if row["kind"] == "manual"]
    assert len([text for text in messages if text.startswith("left as it is: nothing that opens the NPU")]) == 3
    assert all("by -m" in text for text in messages if text.startswith("left as it is"))
    # Of several scripts, each that is one opens it; a module may be imported by a name that is made.
    files = {
        "main.py": FIT,
        "other.py": other,
        "module.py": f"def f():\n{''.join('  ' + x for x in ON_GPU.splitlines(True))}",
    }
    made, _, _ = migrated(tmp_path / "all", files)
    assert opening(made) == {"main.py", "other.py"} and all("/NPU:0" in made[x] for x in ("other.py", "module.py"))
    made, _, _ = migrated(tmp_path / "alone", {"module.py": files["module.py"], "b.py": "x = 1\n"})
    assert made["module.py"] == files["module.py"]


def test_no_npu_is_named_where_it_cannot_be_opened(tmp_path):
    made, rows, notes = migrated(tmp_path, {"a.py": ON_GPU + "npu = 1\nmodel.fit(x)\n", "b.py": "x = 1\n"})
    assert "/gpu:0" in made["a.py"] and opening(made) == set()
    assert notes and notes[0].startswith("a.py: train on the CPU")


def test_a_tree_of_pytorch_with_one_file_of_tensorflow_raises_no_alarm(tmp_path):
    files = {
        "train.py": "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n" + GUARD,
        "convert.py": "import tensorflow as tf\ndef read(path): return tf.train.load_variable(path, 'w')\n",
        "logs.py": "import torch\nimport tensorflow as tf\ndef fit(model): model.fit(tf.zeros([2]))\n",
    }
    made, _, notes = migrated(tmp_path, files)
    assert notes == [] and opening(made) == set()


def test_a_notebook_is_a_program_of_its_own(tmp_path):
    book = {"cells": [{"cell_type": "code", "source": ON_GPU}], "nbformat": 4}
    made, _, notes = migrated(tmp_path, {"main.py": FIT, "x.ipynb": json.dumps(book)}, "-m", "p/main.py")
    assert opening(made) == {"main.py", "x.ipynb"} and "/NPU:0" in made["x.ipynb"] and not notes


V1 = "import tensorflow as tf\nx = tf.placeholder(tf.float32)\nwith tf.Session() as s:\n    s.run(x)\n"
V1_BY_COMPAT = V1.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()")
ESTIMATOR = "import tensorflow as tf\ntf.estimator.train_and_evaluate(tf.estimator.Estimator(f), a, b)\n"


@pytest.mark.parametrize(
    "text, options, rule",
    [
        (V1, [], "tf2-code-of-v1"),
        (V1_BY_COMPAT, [], "tf2-graph-mode"),
        (ESTIMATOR, [], "tf2-graph-mode"),
        (V1, ["--tf1"], None),
        (V1_BY_COMPAT, ["-c"], None),
        (FIT, [], None),
    ],
)
def test_code_of_tensorflow_1_is_told(text, options, rule, tmp_path):
    _, rows, notes = migrated(tmp_path, {"a.py": text, "b.py": "x = 1\n"}, *options)
    told = [row["rule"] for row in rows["a.py"] if row["rule"] in ("tf2-code-of-v1", "tf2-graph-mode")]
    assert told == ([rule] if rule else [])
    assert not any("cannot run yet" in note for note in notes)


def test_what_went_with_tensorflow_1_is_told(tmp_path):
    text = "import tensorflow as tf\nfrom tensorflow.contrib import slim\ntf.contrib.crf.x(3)\nslim.conv2d()\n"
    made, rows, _ = migrated(tmp_path, {"a.py": text}, "--tf1")
    assert [row["line"] for row in rows["a.py"] if row["rule"] == "tf1-contrib"] == [3]
    assert made["a.py"].splitlines()[1:4] == [
        "import tensorflow.compat.v1 as tf",
        "tf.disable_v2_behavior()",
        "import tf_slim as slim",
    ]
    rows = migrated(tmp_path / "compat", {"a.py": V1}, "-c")[1]["a.py"]
    assert [row["line"] for row in rows if row["rule"] == "compat-code-of-v1"] == [2]


@pytest.mark.parametrize("options", [["-c"], ["--tf1"], ["-c", "-d", "horovod"], ["--tf1", "-d", "tf_strategy"]])
def test_what_is_written_for_sessions_runs_in_this_release(options, tmp_path):
    put(tmp_path / "p", {"a.py": V1_BY_COMPAT if "-c" in options else V1, "b.py": "x = 1\n"})
    status, out, _ = run("-i", "p", "-o", "o", "-r", "o", *options, cwd=tmp_path, face="convert_tf2npu")
    (report,) = (tmp_path / "o").glob("report_npu_*")
    assert status == 0 and "cannot run yet" not in out and not (report / "failed_report.txt").exists()
    assert len((report / "api_brief_report.txt").read_text().splitlines()) == 2
    assert "cannot run" not in (report / "need_migration_doc.txt").read_text()
    told = json.loads(run("p", "--json", *options, cwd=tmp_path)[1])
    assert "cannot_run_without" not in told["files"][0] and not told["notes"]
