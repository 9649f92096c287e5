# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of docs/ that come from the library's registries; `make docs` runs it. A test compares them."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import npu_functions
import yaml
from anynpu.library import door
from anynpu.output import table

DOCS = Path(__file__).resolve().parent

MADE = "<!-- Made by docs/generate.py; `make docs` makes it again. -->\n"


def settings_page():
    rows = [
        [f"`{s.variable}`", s.type, f"`{s.default_text}`" if s.default_text else "", s.sentence]
        for s in door.settings()
    ]
    head = ["variable", "type", "default", "meaning"]
    return f"""{MADE}
# Settings

Environment variables, read at their first use. `anynpu settings` lists them with the values in force. A value that
makes no sense is reported once on stderr, and the default is used.

{table.markdown(head, rows)}

Variables of the vendor's that torch-npu or the [TensorFlow adapter](tensorflow.md) reads, or nobody: the adapter says
once of each that is set and has no effect.

{table.markdown(["variable", "effect", "meaning"], client_rows())}
"""


def client_rows():
    return [[f"`{v.variable}`", "acts" if v.acts else "none", v.sentence] for v in door.client_variables()]


def family_sections():
    reached = defaultdict(list)
    for function in door.functions():
        reached[function.operator_name.split(":")[-1]].append(f"`{function.name}`")
    families = defaultdict(list)
    for op in door.operators():
        families[op.family].append([f"`{op.name}`", op.fields, op.traits, " ".join(reached[op.name])])
    for family, rows in sorted(families.items()):
        yield f"## {family}\n\n{table.markdown(['operator', 'fields', 'traits', 'reached by'], rows)}\n"


def types_section():
    """Which functions are as strict as a device about element types, and which are not yet."""
    lines = (DOCS.parent / "acl/types.tsv").read_text(encoding="utf-8").splitlines()[1:]
    strict = {name for line in lines for name in line.split("\t")[0].split()}
    others = sorted({function.name for function in door.functions()} - strict)
    return f"""## Element types

{len(strict)} aclnn functions refuse the element types that the vendor's documentation does not list, unless torch-npu
passes them (`acl/types.tsv`; their headers name the types and the page). The {len(others)} others take whatever their
operator computes, because no list was found for them yet: {" ".join(f"`{name}`" for name in others)}
"""


def operators_page():
    count = Counter(op.family for op in door.operators())
    total = (
        f"{sum(count.values())} operators in {len(count)} families, reached by {len(door.functions())} aclnn functions."
    )
    sections = "\n".join([*family_sections(), types_section()])
    return f"{MADE}\n# Operators\n\n{total} The same list: `anynpu ops`.\n\n{sections}"


RULES = DOCS.parent / "tools/migrate/rules"


def features(rule):
    """What must be on for a rule, and what off."""
    lists = [[value] if isinstance(value, str) else value for value in (rule.get("when", []), rule.get("unless", []))]
    return ", ".join([*lists[0], *(f"not {each}" for each in lists[1])])


def rule_sections():
    for path in sorted(RULES.glob("*.yaml")):
        rules = yaml.safe_load(path.read_text(encoding="utf-8"))["rules"]
        rows = [[f"`{rule['id']}`", rule["what"], rule.get("why", ""), features(rule)] for rule in rules]
        rows = [[str(cell).replace("\n", " ") for cell in row] for row in rows]
        yield f"## {path.name}\n\n{table.markdown(['rule', 'what it does', 'why', 'with'], rows)}\n"


def migration_rules_page():
    return f"""{MADE}
# Rules of migration

What the [migration tools](migrate.md) do. `anynpu migrate --explain RULE` shows a rule with an example; `--off RULE`
leaves it out. The last column says with which features a rule is on: `tf2` is the usual one for TensorFlow, `compat`
comes with `-c`, `tf1` with `--tf1`, `horovod` and `tf_strategy` with `-d`, `distributed` with `distributed` or
`-d ddp`.

""" + "\n".join(rule_sections())


# Folders of tests, by what their promises are about.
SUBJECTS = {
    "PyTorch": ["tests/end_to_end", "tests/ways_out", "tests/npu_functions", "tests/random_call", "tests/apex"],
    "TensorFlow": ["tests/tensorflow"],
    "TensorFlow 1": ["tests/tensorflow/v1", "tests/sessions"],
    "Several NPUs": ["tests/collective", "tests/hosts"],
    "Precision": ["tests/planted"],
    "Migration": ["tests/migrate"],
    "The C interface": ["tests/conformance", "tests/door", "tests/samples", "tools/anynpu"],
    "AscendCL in Python": ["tests/pyacl"],
    "Installation": ["tests/symbols", "tests/install"],
}


def promises(path):
    """(sentence, test) of each test with the marker `promise`."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for call in getattr(function, "decorator_list", []):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.promise":
                yield call.args[0].value, f"{path.relative_to(DOCS.parent)}::{function.name}"


def works_page():
    root, sections = DOCS.parent, []
    for subject, folders in SUBJECTS.items():
        files = [path for folder in folders for path in sorted((root / folder).glob("*.py"))]
        rows = [[sentence, f"`{test}`"] for path in files for sentence, test in promises(path)]
        sections.append(f"## {subject}\n\n{table.markdown(['what', 'test'], rows)}\n")
    return f"""{MADE}
# What works

Each line is the promise of a test, written there (`@pytest.mark.promise`); `make test` runs them all. What is not
built says so where it is asked for, in the C interface with error 207000 and a text; `anynpu doctor --all` lists it
all, with what to do instead. Operator by operator: [operators.md](operators.md); through torch-npu:
[op_db.md](op_db.md).

{chr(10).join(sections)}"""


def onnx_operators():
    """Those with a rule in C++ or a line of the table."""
    folder = DOCS.parent / "graph/import/onnx"
    rows = (folder / "onnx_operators.tsv").read_text(encoding="utf-8").splitlines()[1:]
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("*.cpp"))
    rules = (re.findall(r'^NPU_ONNX\("(\w+)"', text, re.M) for text in texts)
    return sorted({row.split("\t")[0] for row in rows}.union(*rules))


def onnx_page():
    names = onnx_operators()
    return f"""{MADE}
# Operators of ONNX

{len(names)} operators are read, in opsets 1 to 25; [Models](models.md) documents what each does
where its documentation leaves a choice. Functions that a file brings itself are read as the nodes they consist of.

{" ".join(f"`{name}`" for name in names)}
"""


PAGES = {
    "onnx.md": onnx_page,
    "npu_functions.md": npu_functions.page,
    "settings.md": settings_page,
    "operators.md": operators_page,
    "migration_rules.md": migration_rules_page,
    "works.md": works_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")
