# SPDX-License-Identifier: Apache-2.0
"""Who includes whom inside a room, a part of one, an adapter or a tool: parts that climb, and circles."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import source

PLACES = ("base", "device", "ops", "comm", "graph", "acl", "adapters/hccl", "adapters/tensorflow", "adapters/apex/apex")
PLACES += ("adapters/pyacl",)
PLACES += ("tools/anynpu", "tools/compare", "tools/migrate", "tools/profile", "docs")


def product(*suffixes):
    python_test = ("_test.py", "conftest.py")
    return [p for p in source.with_suffix(*suffixes) if not source.is_test(p) and not p.name.endswith(python_test)]


def included(path):
    """Files of the checkout that a C++ file includes, found from the root, the door's folder or its own."""
    for name in source.includes(path):
        for folder in (Path(), Path("acl/include"), path.parent):
            if (found := folder / name) in set_of_files():
                yield found


@cache
def set_of_files():
    return set(source.files())


def module(package, name):
    """The file of module `name` (dots) as seen from folder `package`, if it is the project's own."""
    path = package.joinpath(*name.split(".")) if name else package
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p in set_of_files()), None)


def imported(path):
    """Files of the checkout that a Python file imports when it is loaded: not those that a function imports late."""
    root = path.parent
    while (root / "__init__.py") in set_of_files():
        root = root.parent
    for node in ast.parse(source.text(path)).body:
        if isinstance(node, ast.Import):
            names = [(root, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            at = root if node.level == 0 else path.parents[node.level - 1]
            stem = f"{node.module}." if node.module else ""
            names = [(at, stem + alias.name) for alias in node.names] + [(at, stem[:-1])] * bool(stem)
        else:
            continue
        for package, name in names:
            found = module(package, name)
            # `from package import module` reaches the package's own file only to pass through it.
            passed = found is not None and found.name == "__init__.py" and found.parent in path.parents
            if found not in (None, path) and not passed:
                yield found


@cache
def uses():
    """{noun: nouns it uses}: a file without its suffix, for all product files."""
    found = {}
    for path in product(".h", ".cpp"):
        found.setdefault(path.with_suffix(""), set()).update(p.with_suffix("") for p in included(path))
    for path in product(".py"):
        found.setdefault(path, set()).update(imported(path))
    return {noun: used - {noun} for noun, used in found.items()}


def inside(place):
    return sorted(noun for noun in uses() if noun.is_relative_to(place))


def part_of(noun, place):
    """The folder of `place` that a noun lies in; None beside the folders."""
    below = noun.relative_to(place).parts
    return below[0] if len(below) > 1 else None


def climbs(place, parts):
    """What goes against the order of a place's parts. Files beside them come before all, or where `.` stands."""
    rank = {None: 0} | {None if part == "." else part: i for i, part in enumerate(parts, 1)}
    wrong = []
    for noun in inside(place):
        if (own := part_of(noun, place)) not in rank:
            wrong.append(f"{noun}: {place}/{own} is not named in the map")
            continue
        targets = [u for u in uses()[noun] if u.is_relative_to(place)]
        wrong += [f"{noun} uses {u}" for u in sorted(targets) if rank.get(part_of(u, place), 99) > rank[own]]
    return wrong


def circles(nouns, edges):
    """Groups of nouns that reach each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(noun):
        index[noun] = low[noun] = len(index)
        stack.append(noun)
        for used in sorted(edges.get(noun, ())):
            if used not in index:
                visit(used)
                low[noun] = min(low[noun], low[used])
            elif used in stack:
                low[noun] = min(low[noun], index[used])
        if low[noun] == index[noun]:
            group = stack[stack.index(noun) :]
            del stack[-len(group) :]
            if len(group) > 1:
                found.append(sorted(group))

    for noun in nouns:
        if noun not in index:
            visit(noun)
    return found


@cache
def all_circles():
    return [[str(noun) for noun in group] for group in circles(sorted(uses()), uses())]


def report():
    """The map as the checks see it: a line a place."""
    for place in PLACES:
        nouns = Counter(noun.parent for noun in inside(place))
        count = sum(group[0].startswith(place + "/") for group in all_circles())
        most = max(nouns.values(), default=0)
        parts = " ".join(source.parts().get(place, ["(no parts)"]))
        yield f"{place:20} {count} circles, at most {most} nouns on one level: {parts}"
