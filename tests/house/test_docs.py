# SPDX-License-Identifier: Apache-2.0
"""Documents say what the code does."""

import re

import c_interface
import pytest
import source


@pytest.mark.parametrize("name", ["settings.md", "operators.md", "migration_rules.md", "works.md", "npu_functions.md"])
def test_a_generated_page_is_fresh(name):
    generate = pytest.importorskip("generate")
    page = source.ROOT / "docs" / name
    assert page.exists() and page.read_text(encoding="utf-8") == generate.PAGES[name](), "run: make docs"


@pytest.mark.parametrize(
    "package", ["adapters/hccl/hccl/manage", "adapters/tensorflow/npu_device/adapter", "tools/anynpu/library"]
)
def test_the_declarations_for_python_are_those_of_the_headers(package):
    module = source.ROOT / package / "c_interface.py"
    assert module.read_text(encoding="utf-8") == c_interface.written(module), "run: make docs"


def test_every_page_is_in_the_index():
    index = source.text(source.Path("docs/README.md"))
    pages = [p.name for p in source.with_suffix(".md") if p.parts[0] == "docs" and p.name != "README.md"]
    assert [name for name in pages if f"({name})" not in index] == []


def test_the_page_of_clients_names_what_make_clients_runs():
    page = source.text(source.Path("docs/clients.md"))
    part = re.search(r"^part_clients\(\) \{.*?^\}", source.text(source.Path("tests/run")), re.MULTILINE | re.DOTALL)[0]
    pin = r"[\w-]+==[\d.]+"
    assert set(re.findall(pin, part)) == set(re.findall(pin, page))
    scripts = {p.name for p in source.with_suffix(".py") if p.parts[:2] == ("tests", "clients")}
    assert scripts == set(re.findall(r"\b\w+\.py\b", page.split("**Installing.**")[0]))


def links(path):
    return re.findall(r"\]\((?!https?:|#)([^)#\s]+)", source.text(path))


def test_no_link_leads_nowhere():
    wrong = [
        f"{path}: {link}"
        for path in source.with_suffix(".md")
        for link in links(path)
        if not (source.ROOT / path.parent / link).exists()
    ]
    assert not wrong, wrong


def test_contributing_names_checks_that_exist():
    """Each rule of CONTRIBUTING.md ends in [the check that enforces it]; the file, test or target must be there."""
    rules = re.findall(r"^- (.*?)(?=^- |^#|\Z)", source.text(source.Path("CONTRIBUTING.md")), re.MULTILINE | re.DOTALL)
    assert len(rules) >= 10
    makefile = source.text(source.Path("Makefile"))
    for rule in rules:
        checks = re.findall(r"\[`([^`]+)`\]", rule)
        assert checks, f"this rule names no check: {rule}"
        for check in checks:
            target = re.fullmatch(r"make (\w+)", check)
            if target:
                assert re.search(rf"^{target[1]}:", makefile, re.MULTILINE), f"there is no {check}"
                continue
            file, _, test = check.partition("::")
            assert (source.ROOT / file).exists(), f"there is no {file}"
            assert not test or f"def {test}(" in source.text(source.Path(file)), f"there is no {check}"


def test_every_promise_has_its_line():
    """The page is made of the folders that docs/generate.py names; a promise made elsewhere would be lost."""
    page = source.text(source.Path("docs/works.md"))
    marked = [p for p in source.with_suffix(".py") if "\n@pytest.mark.promise(" in source.text(p)]
    assert len(marked) >= 20
    assert [str(p) for p in marked if f"`{p}::" not in page] == []


def test_the_readme_is_a_screen_and_a_half():
    assert source.text(source.Path("README.md")).count("\n") <= 90


def test_the_readme_names_the_pinned_versions():
    page, project = source.text(source.Path("README.md")), source.text(source.Path("pyproject.toml"))
    pin = re.search(r'"torch==([0-9.]+)"', project)[1]
    assert f'"torch-npu=={pin}"' in project and f"torch and torch-npu {pin}" in page
