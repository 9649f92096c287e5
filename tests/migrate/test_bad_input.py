# SPDX-License-Identifier: Apache-2.0
"""All that goes wrong: files that are no scripts, places that cannot be written, full disks, interrupts. A message
names thing, reason and cure, the exit code is right, nothing is lost, and the input never changes."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from faces import BUILT, NEW, OLD, RULE, needs_tool, put, run, start, tree

pytestmark = needs_tool


BAD = {
    "binary.py": (b"\x7fELF\0\0\1", "no text (byte 4 is NUL)"),
    "utf16.py": ("import lib\n".encode("utf-16"), "UTF-16"),
}


# How each command line is told where from and where to, and where it puts what the folder `project` becomes.
FACES = {
    "migrate": (["{input}", "-r", "rule.yaml", "-o", "{output}"], "."),
    "convert_tf2npu": (["-i", "{input}", "-o", "{output}", "-r", "{output}"], "project_npu_*"),
    "ms_fmk_transplt": (["-i", "{input}", "-r", "rule.yaml", "-o", "{output}"], "project_msft"),
}


def command(face, source, output):
    return [each.format(input=source, output=output) for each in FACES[face][0]]


def copies(face, output):
    """The project's files below `output`, without the reports."""
    (folder,) = [*output.glob(FACES[face][1])] if FACES[face][1] != "." else [output]
    reports = {"msFmkTranspltlog.txt", "change_list.csv", "unsupported_op.xlsx"}
    return {name: content for name, content in tree(folder).items() if name not in reports}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", BAD)
def test_one_bad_file_stops_nothing(name, face, project, tmp_path):
    content, reason = BAD[name]
    put(project, {name: content})
    before = tree(project)
    code, _, err = run(*command(face, project, "o"), cwd=tmp_path, face=face)
    made = copies(face, tmp_path / "o")
    assert code == 1 and f"{project}/{name}: " in err and reason in err
    assert made[name] == content and set(made) == set(before) and tree(project) == before
    assert face == "convert_tf2npu" or made["a.py"] == NEW.encode()


def test_bytes_that_are_no_utf8_stay(tmp_path):
    text = b"import lib\ns = '\xff\xfe\x80'\nlib.old('\xe9')\n"
    put(tmp_path, {"rule.yaml": RULE, "p/a.py": text})
    assert run("p", "-r", "rule.yaml", "-o", "o", "--html", "h.html", cwd=tmp_path)[0] == 0
    assert tree(tmp_path / "o")["a.py"] == text.replace(b"old", b"new")
    json.loads(run("p", "-r", "rule.yaml", "--json", cwd=tmp_path)[1])


def test_a_file_over_10_mb_is_migrated_and_one_of_50_mb_left(tmp_path):
    line = b"value = other.name  # " + b"a comment, " * 46 + b"\n"
    put(tmp_path, {"rule.yaml": RULE, "p/a.py": OLD.encode() + line * 20_000, "p/b.py": line * 100_000})
    code, _, err = run("p", "-r", "rule.yaml", "-o", "o", cwd=tmp_path)
    assert code == 1 and "b.py: has 50 MB, more than the 32 MB a file may have" in err
    assert (tmp_path / "o/a.py").read_bytes() == NEW.encode() + line * 20_000
    assert (tmp_path / "o/b.py").stat().st_size == (tmp_path / "p/b.py").stat().st_size


@pytest.mark.parametrize(
    "text", ["(" * 100_000, "(" * 100_000 + ")" * 100_000, "[" * 100_000, "-" * 100_000 + "1", "f(" * 100_000]
)
def test_deep_nesting(text, tmp_path):
    put(tmp_path, {"rule.yaml": RULE, "p/a.py": OLD + "x = " + text + "\n", "p/b.py": OLD})
    code, _, err = run("p", "-r", "rule.yaml", "-o", "o", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert (tmp_path / "o/b.py").read_text() == NEW
    assert (tmp_path / "o/a.py").read_text() == NEW + "x = " + text + "\n"


def as_nobody():
    os.setgid(65534)
    os.setuid(65534)


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write everywhere")
def test_an_output_that_cannot_be_written(project, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    for folder in [tmp_path, *tmp_path.parents]:
        if not folder.stat().st_mode & 1:
            pytest.skip("this folder is closed to other users")
    options = {"preexec_fn": as_nobody} if os.geteuid() == 0 else {}
    code, _, err = run("project", "-o", "closed/out", cwd=tmp_path, **options)
    assert code == 1 and "closed/out: cannot be written (Permission denied)" in err and "Traceback" not in err


@pytest.mark.parametrize("face", FACES)
def test_an_output_on_a_file_system_that_takes_nothing(face, project, tmp_path):
    before = tree(project)
    code, _, err = run(*command(face, "project", "/proc/self/out"), cwd=tmp_path, face=face)
    assert code == 1 and "cannot be written" in err and "choose another output" in err
    code, _, err = run(*command(face, "project", "/dev/null/out"), cwd=tmp_path, face=face)
    assert code == 1 and "Not a directory" in err
    assert tree(project) == before


@pytest.mark.parametrize("face", FACES)
def test_a_file_in_the_way(face, project, tmp_path):
    put(tmp_path, {"way": "mine"})
    code, _, err = run(*command(face, "project", "way/out"), cwd=tmp_path, face=face)
    assert code == 1 and f"{tmp_path}/way/out" in err and "Not a directory" in err
    code, _, err = run("project", "-o", "way", cwd=tmp_path)
    assert code == 2 and "is there already" in err
    assert (tmp_path / "way").read_text() == "mine"


def test_reports_and_pages_that_cannot_be_written(project, tmp_path):
    code, _, err = run("-i", "project", "-r", "/proc/self/x", cwd=tmp_path, face="convert_tf2npu")
    assert code == 1 and "/x/report_npu_" in err and "choose another output" in err
    code, _, err = run("project", "--dry-run", "--html", "/proc/self/x.html", cwd=tmp_path)
    assert code == 1 and "/x.html: cannot be written" in err


@pytest.fixture
def read_only(project):
    """The project once more, on a file system that nobody may write to."""
    mount = ["mount", "-o", "bind", project, project]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    subprocess.run(["mount", "-o", "remount,bind,ro", project], check=True)
    yield project
    subprocess.run(["umount", project], check=True)


def test_a_read_only_file_system(read_only, tmp_path):
    before = tree(read_only)
    assert run("project", "-r", "rule.yaml", "-o", "out", cwd=tmp_path)[0] == 0
    assert tree(tmp_path / "out") == {**before, "a.py": NEW.encode()}
    code, out, err = run("project", "-r", "rule.yaml", "--in-place", cwd=tmp_path)
    assert code == 1 and f"{read_only}/a.py: may not be written; " in err and "-o" in err
    (tmp_path / "other").mkdir()
    put(tmp_path / "other", {"x.py": OLD})
    code, _, err = run("other", "-r", "rule.yaml", "-o", read_only / "out", cwd=tmp_path)
    assert code == 1 and "Read-only file system" in err and tree(read_only) == before


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], capture_output=True)
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("face", FACES)
def test_a_full_disk(face, project, small_disk, tmp_path):
    put(project, {f"more/m{i}.py": OLD + "# filler\n" * 500 for i in range(100)})
    before = tree(project)
    options = {
        "migrate": [project, "-o"],
        "convert_tf2npu": ["-i", project, "-o"],
        "ms_fmk_transplt": ["-i", project, "-o"],
    }
    code, _, err = run(*options[face], small_disk / "out", cwd=tmp_path, face=face)
    assert code == 1 and "No space left on device" in err and "make room" in err
    assert tree(project) == before
    for name, content in tree(small_disk / "out").items():
        assert ".tmp" not in name
        if name.endswith(".py"):
            inside = re.sub(r"^project_(npu_\d+|msft)/", "", name)
            assert content in (before[inside], before[inside].replace(b"old", b"new"))


def test_a_full_disk_in_place_loses_nothing(small_disk, tmp_path):
    project = put(small_disk / "p", {f"m{i}.py": OLD + "# filler\n" * 450 for i in range(50)})
    put(tmp_path, {"rule.yaml": RULE})
    for i in range(100):  # to the last page
        try:
            (small_disk / f"fill{i}").write_bytes(b"x" * 4096)
        except OSError:
            break
    before = tree(project)
    code, _, err = run(project, "-r", tmp_path / "rule.yaml", "--in-place", cwd=tmp_path)
    after = tree(project)
    assert code == 1 and "No space left on device" in err and set(before) == set(after)
    for name, content in after.items():
        assert content in (before[name], before[name].replace(b"lib.old", b"lib.new"))


def many(tmp_path):
    lines = "".join(f"def f{i}(x):\n    return lib.old(x) + {i}\n" for i in range(500))
    put(tmp_path, {"rule.yaml": RULE})
    return put(tmp_path / "many", {f"m{i}.py": "import lib\n" + lines + f"# {i}\n" for i in range(120)})


@pytest.mark.promise(
    "scripts are migrated with the vendor's command lines; bad input, a full disk or an interrupt loses nothing"
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_no_half_file(number, tmp_path):
    project = many(tmp_path)
    before = tree(project)
    process = start(project, "-r", "rule.yaml", "-o", "o", cwd=tmp_path)
    while process.poll() is None and not list((tmp_path / "o").glob("m*.py")):
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -number
    made = tree(tmp_path / "o")
    if number != signal.SIGKILL:
        assert b"interrupted; no file is half-written" in err
        assert not [name for name in made if name.endswith(".tmp")]
    finished = {name: content for name, content in made.items() if not name.endswith(".tmp")}
    assert 0 < len(finished) < len(before)
    for name, content in finished.items():
        assert content == before[name].replace(b"lib.old", b"lib.new")
    assert tree(project) == before


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("moment", [0.01, 0.2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_at_any_moment(number, moment, face, tmp_path):
    """From the start-up to the reports; a run that was done before ends as ever."""
    project = many(tmp_path)
    before = tree(project)
    process = start(*command(face, project, "o"), cwd=tmp_path, face=face)
    time.sleep(moment)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, -number)
    said = b"interrupted; no file is half-written" in err
    assert said == (process.returncode != 0) or moment == 0.01  # before the program has begun
    assert tree(project) == before
    for path in (tmp_path / "o").rglob("*"):
        assert not path.name.endswith(".tmp")
        if re.fullmatch(r"m\d+\.py", path.name):
            whole = before[path.name]
            assert path.read_bytes() in (whole, whole.replace(b"lib.old", b"lib.new"))


def test_an_interrupted_run_in_place_changes_all_or_whole_files(tmp_path):
    project = many(tmp_path)
    before = tree(project)
    process = start(project, "-r", "rule.yaml", "--in-place", cwd=tmp_path)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    after = tree(project)
    assert set(after) == set(before)
    for name, content in after.items():
        assert content in (before[name], before[name].replace(b"lib.old", b"lib.new"))


def test_a_reader_that_goes_away(project, tmp_path):
    command = f"'{BUILT}' migrate --explain all | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", command], cwd=tmp_path).returncode in (0, 141)
    done = subprocess.run(
        ["bash", "-c", f"'{BUILT}' migrate project --json > /dev/full"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 1 and b"stdout cannot be written" in done.stderr
