# SPDX-License-Identifier: Apache-2.0
"""The symbol table looks names up where CPython does: every name of real files, compared with its `symtable`."""

import ast
import collections
import random
import subprocess
import symtable
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROBE = next(iter(sorted(ROOT.glob("build*/**/migrate_probe"))), None)
KINDS = {
    ast.FunctionDef: "function",
    ast.AsyncFunctionDef: "function",
    ast.Lambda: "lambda",
    ast.ClassDef: "class",
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
pytestmark = pytest.mark.skipif(PROBE is None, reason="migrate_probe is not built (ninja migrate_probe)")


class Scope:
    """A node of the syntax tree that is a scope, with its table and the scope around it."""

    def __init__(self, node, table, around):
        self.node, self.table, self.around = node, table, around

    def told(self):
        if self.around is None:
            return "module", 0
        kind = "comprehension" if isinstance(self.node, COMPREHENSIONS) else KINDS[type(self.node)]
        return kind, self.node.lineno

    def holder(self, name):
        """Where CPython looks for a name that this scope uses."""
        symbol = self.table.lookup(name)
        if not (symbol.is_free() or symbol.is_global()) and (symbol.is_local() or symbol.is_parameter()):
            return self
        scope = self.around
        while scope is not None and symbol.is_free():
            if not isinstance(scope.node, ast.ClassDef) and name in scope.table.get_identifiers():
                outer = scope.table.lookup(name)
                if (outer.is_local() or outer.is_parameter()) and not outer.is_free():
                    return scope
            scope = scope.around
        scope = self
        while scope.around is not None:
            scope = scope.around
        return scope


class Uses(ast.NodeVisitor):
    """Line, column and holder of every name, walking the tree with the tables of the same scopes."""

    def __init__(self, text):
        self.found = {}
        module = symtable.symtable(text, "file", "exec")
        self.scope = Scope(None, module, None)
        self.waiting = {}

    def enter(self, node, inside):
        kind = KINDS[type(node)]
        children = self.waiting.get(id(self.scope.table))
        if children is None:
            children = self.waiting[id(self.scope.table)] = collections.defaultdict(collections.deque)
            for child in self.scope.table.get_children():
                children[child.get_name(), child.get_lineno()].append(child)
        name = getattr(node, "name", kind)
        table = children[name, node.lineno].popleft()
        self.scope = Scope(node, table, self.scope)
        for each in inside:
            self.visit(each)
        self.scope = self.scope.around

    def all(self, nodes):
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_FunctionDef(self, node):
        arguments = node.args
        self.all([*arguments.defaults, *arguments.kw_defaults])
        every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        self.all([each.annotation for each in every if each is not None])
        self.all([node.returns, *node.decorator_list])
        self.enter(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.all([*node.args.defaults, *node.args.kw_defaults])
        self.enter(node, [node.body])

    def visit_ClassDef(self, node):
        self.all([*node.bases, *node.keywords, *node.decorator_list])
        self.enter(node, node.body)

    def comprehension(self, node):
        first, *others = node.generators
        self.visit(first.iter)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.enter(node, [first.target, *first.ifs, *others, *parts])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_Name(self, node):
        walrus = self.scope
        name = node.id
        if name.startswith("__") and not name.endswith("__"):
            return  # mangled in classes
        self.found[node.lineno, node.col_offset] = (name, *walrus.holder(name).told())


def expected(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        uses = Uses(text)
        uses.visit(ast.parse(text))
    return uses.found


def told(paths):
    out, found = {}, None
    text = subprocess.run([PROBE, "names", *paths], capture_output=True, check=True, timeout=300).stdout.decode()
    for line in text.split("\n"):
        part = line.split("\t")
        if part[0] == "FILE":
            found = out[part[1]] = {}
        elif len(part) == 6:
            found[int(part[0]), int(part[1])] = (part[2], part[3], int(part[4]))
    return out


def differences(paths):
    """(file, place, name, what CPython says, what the table says), and how many names were compared."""
    wrong, count = [], 0
    for path, found in told([str(path) for path in paths]).items():
        try:
            want = expected(Path(path).read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError, IndexError, KeyError):
            continue
        count += len(want)
        for place, answer in want.items():
            if place in found and found[place] != answer:
                wrong.append((path, place, answer, found[place]))
            elif place not in found and "\t" not in answer[0]:
                wrong.append((path, place, answer, None))
    return wrong, count


def corpus(count):
    import site

    folder = Path(site.getsitepackages()[0] if "site-packages" in sys.prefix else sys.prefix)
    folders = [next(folder.glob(f"**/site-packages/{name}"), None) for name in ("torch", "keras", "sklearn")]
    paths = sorted(path for each in folders if each for path in each.rglob("*.py") if path.stat().st_size < 100_000)
    return random.Random(5).sample(paths, min(count, len(paths)))


def test_real_files():
    wrong, count = differences(corpus(300))
    assert count > 50_000
    assert not wrong, f"{len(wrong)} of {count} names, first {wrong[:5]}"


ODD = """
import a.b.c, d . e as f
from . import (g, h as i)
x = [x for x in x if (y := x) for z in y]
def outer(p, q=x, *r: q, s, t=lambda x, q=q: (x, q, p), **u) -> p:
    global x, later
    def inner():
        nonlocal p, after
        p = after = x
        later = [later for later in p if p]
        class C(p):
            p = p
            v: int
            w = [p for _ in p for _ in w]
            def m(self, v=v): return v, w, p, C, m
        return C, inner
    after = 0
    x = later = 1
    for i, (j, *k) in enumerate(p): del i
    else: j
    with open(p) as (l, n), q as n.o: pass
    try: pass
    except (KeyError, OSError) as error: error
    async def one():
        async for aa in p: yield aa
        async with p as bb: await bb
        return {cc: dd async for cc, dd in p}, {cc for cc in dd}, (ee for ee in ee)
    match p:
        case [first, *rest] if first: first, rest
        case {"k": value, **more}: value, more
        case C(attr, key=word) | D.e: attr, key, word
        case (1 | 2) as number: number
        case None | True | "s": pass
        case other: other
    ff: int = 3
    ff += 1
    gg.hh = ii[jj] = kk = ll
    mm, (nn, [oo]) = pp
    print(f"{ff!r:>{kk}} {mm=} {(lambda x: x + nn)(1)}")
    return (qq := 3), qq, [rr := ss for ss in range(3)], rr
@outer
@a.b
class E(outer, metaclass=x):
    @property
    def y(self): return __class__
    try:
        import zz
    except ImportError:
        zz = None
if x: import yy
else: yy = 1
lambda *args, **more: (args, more)
later, after
"""


def test_odd_places(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(ODD)
    wrong, count = differences([path])
    assert count > 120
    assert not wrong
