# SPDX-License-Identifier: Apache-2.0
"""unity_groups.py --root ROOT --below FOLDER --apart FOLDER <SOURCES: which C++ sources may be compiled as one unit.

Reads source paths (relative to ROOT), one a line, and prints `group source…` for each unit of several sources. Sources
are grouped within one folder below FOLDER, first fit in sorted order, so an edit moves few of them. Kernels that
Highway compiles once for each instruction set have units of their own, whose names end in `_kernels`.

Joining sources must not change what any of them means. Two sources stay apart if

- one declares a name for itself (in an unnamed namespace, as a static or an alias, as a macro) that the other one
  declares too, or that a header declares which the other one includes: a redefinition or a wider overload set;
- one calls a function of the C library (`read`, `close`) whose name the other one, or a header that only the other one
  includes, declares: the call would find the wrong function.

The names are found by pattern: clang-format puts declarations of a namespace at the start of a line. What the patterns
miss is a compile error of the unit, not a change of meaning, except for an overload that converts its arguments.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

MOST_SOURCES = 12  # of a unit: an edit compiles all of them anew
MOST_LINES = 2000  # of a unit: the longest unit must not be what the build waits for
TARGETS = 3  # instruction sets that a kernel is compiled for: it counts as that number of sources
LITERAL = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TYPE = re.compile(
    r"(?:struct|class|union|enum class|enum|concept|using)\s+(?:\[\[[\w:]+\]\]\s*|alignas\(\w+\)\s*)*(\w+)"
)
NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:\(|=(?!=)|\{|;)")
CONSTANTS = re.compile(r"^(?:inline |static |thread_local )*const(?:expr|init)?\b[^;]*;", re.MULTILINE)
CONSTANT = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=(?!=)|\b(k[A-Z]\w*)\s*[({]")
NO_NAME = {"constexpr", "alignas", "decltype", "noexcept", "requires", "static_assert", "if", "for", "return", "switch"}
LIBRARY = re.compile(  # a call of the C library, or of what argument-dependent look-up may find in the standard library
    r"(?<![\w.>:])(read|write|open|close|creat|mkdir|rmdir|unlink|umask|chmod|l?stat|fstat|flock|fsync|send|recv|time|bind|"
    r"accept|connect|listen|poll|select|remove|rename|signal|kill|exit|pause|link|index|truncate|access|pipe|fork|wait|"
    r"sleep|dup|mmap|free|malloc|abs|floor|ceil|round|trunc|sqrt|cbrt|pow|exp2?|expm1|log2?|log10|log1p|a?sinh?|a?cosh?|"
    r"a?tanh?|atan2|erfc?|fmod|fabs|isnan|isinf|signbit|ldexp|frexp|[lt]gamma|min|max|swap|begin|end|size|data|get|find|"
    r"sort|copy|fill|move|clamp)\s*\("
)


def declared(line):
    """The name that a line at the start of a declaration introduces, or None."""
    line = re.sub(r"^template\s*<[^()]*?>\s*", "", line)
    if line.startswith(("template", "using namespace", "extern")):
        return None
    if line.startswith("namespace"):  # an alias; those two are the same everywhere
        alias = re.match(r"namespace (\w+) = (?!std::filesystem;|hwy::)", line)
        return alias[1] if alias else None
    if match := TYPE.match(line):
        if line.startswith("using") and "=" not in line:
            return re.split(r"::|\s", line.rstrip("; "))[-1]
        return match[1]
    for match in NAME.finditer(line):
        if line[: match.start()].endswith(("::", "::~")):
            return None  # the body of a member or of what a header declares
        if match[1] not in NO_NAME and not match[1].isupper():  # not a macro that registers something
            return match[1]
    return None


@dataclass
class Facts:
    """Of a source, or of all sources of a unit."""

    lines: int = 0
    own: set = field(default_factory=set)  # names that the source declares and its headers do not
    visible: set = field(default_factory=set)  # these, and what its headers declare
    called: set = field(default_factory=set)  # functions of the C library

    def clashes(self, other):
        return bool(self.own & other.visible or other.own & self.visible
                    or self.called & other.visible or other.called & self.visible)  # fmt: skip

    def __iadd__(self, other):
        self.lines += other.lines
        self.own |= other.own
        self.visible |= other.visible
        self.called |= other.called
        return self


class Tree:
    def __init__(self, root):
        self.root = root
        self.text, self.names, self.included = cache(self.text), cache(self.names), cache(self.included)

    def text(self, path):
        text = (self.root / path).read_text(encoding="utf-8")
        return COMMENT.sub("", LITERAL.sub('""', text)), re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)

    def names(self, path):
        text = self.text(path)[0]
        found = set(re.findall(r"^\s*#\s*define (?!HWY_TARGET_INCLUDE)(\w+)", text, re.MULTILINE))
        for names in re.findall(r"^enum (?!class)[^{;]*\{([^}]*)\}", text, re.MULTILINE):
            found |= set(re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", names.strip()))
        for constants in CONSTANTS.findall(text):  # perhaps several in one declaration
            found |= {a or b for a, b in CONSTANT.findall(constants)}
        starts = (line for line in text.split("\n") if line[:1].isalpha() or line[:1] == "_")
        return found | {declared(line) for line in starts} - {None}

    def included(self, path):
        folders = (Path(), Path("acl/include"), path.parent)
        found = (
            next((f / name for f in folders if (self.root / f / name).is_file()), None) for name in self.text(path)[1]
        )
        return [header for header in found if header]

    def headers(self, path):
        """All headers of the tree that `path` includes, directly or not."""
        found, left = set(), [path]
        while left:
            new = [header for header in self.included(left.pop()) if header not in found]
            found.update(new)
            left += new
        return found

    def facts(self, path):
        text, public = self.text(path)[0], set().union(*map(self.names, self.headers(path)))
        visible = public | self.names(path)
        return Facts(text.count("\n"), self.names(path) - public, visible, set(LIBRARY.findall(text)) - visible)

    def is_kernel(self, path):
        """Whether Highway includes the source once for each instruction set."""
        return "<hwy/foreach_target.h>" in self.text(path)[0]


class Unit:
    def __init__(self, weight):
        self.sources, self.facts, self.weight = [], Facts(), weight

    def takes(self, facts):
        many = (len(self.sources) + 1) * self.weight > MOST_SOURCES
        long = (self.facts.lines + facts.lines) * self.weight > MOST_LINES
        return not many and not long and not self.facts.clashes(facts)

    def add(self, source, facts):
        self.sources.append(source)
        self.facts += facts


def units(tree, sources, weight):
    """`sources`, first fit: each goes into the first unit that takes it."""
    found = []
    for source in sources:
        facts = tree.facts(source)
        unit = next((unit for unit in found if unit.takes(facts)), None)
        if unit is None:
            found.append(unit := Unit(weight))
        unit.add(source, facts)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--below", type=Path, required=True, help="folder of the target; its folders are not mixed")
    parser.add_argument("--apart", type=Path, required=True, help="folder at any depth that is not mixed with others")
    given = parser.parse_args()
    tree, folders = Tree(given.root), {}
    for source in sorted(map(Path, sys.stdin.read().split())):
        part = source.relative_to(given.below).parts[0] if source.parent != given.below else ""
        if source.is_relative_to(given.apart):
            part = given.apart.relative_to(given.below).as_posix().replace("/", "_")
        folders.setdefault((part, tree.is_kernel(source)), []).append(source)
    for (part, kernels), sources in folders.items():
        for number, unit in enumerate(units(tree, sources, TARGETS if kernels else 1)):
            if len(unit.sources) > 1:
                name = "_".join([*given.below.parts, *part.split(), str(number), *["kernels"] * kernels])
                print(name, *unit.sources)


if __name__ == "__main__":
    main()
