# SPDX-License-Identifier: Apache-2.0
"""Declarations of C functions for Python, from the headers: python acl/generate/c_interface.py MODULE….

A module names its headers in its first lines; the rest of it is written here, so that a function's signature or a
structure's members stand in one place, the header. It gets the functions that the other files of its package name.
"""

import re
import sys
from pathlib import Path

from pycparser import c_ast, c_parser

ROOT = Path(__file__).resolve().parents[2]
FROM = "# Written by acl/generate/c_interface.py from:"

NUMBERS = {
    "char": "c_char", "int": "c_int", "float": "c_float", "double": "c_double", "size_t": "c_size_t", "bool": "c_bool",
    **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "aclError": "c_int", "aclDataType": "c_int",
}  # fmt: skip


def headers(text):
    """The headers that a module names, one a line."""
    lines = text[text.index(FROM) :].splitlines()[1:]
    return [line[4:] for line in lines[: next(i for i, line in enumerate(lines) if not line.startswith("#   "))]]


def declarations(header):
    """What a header declares. Its includes are left out: NUMBERS has their types."""
    text = (ROOT / header).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    known = "".join(f"typedef int {name};\n" for name in NUMBERS if name not in ("char", "int", "float", "double"))
    for node in c_parser.CParser().parse(known + text, header).ext:
        if not isinstance(node, c_ast.Typedef) or node.name not in NUMBERS:
            yield node


def class_name(name):
    """anynpu_rank_source -> RankSource"""
    return "".join(part.capitalize() for part in name.removeprefix("anynpu_").split("_"))


class Module:
    """The text of a module, grown by one declaration after the other."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.structures, self.callbacks, self.functions = {}, {}, {}

    def add(self, node):
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            if node.name in self.wanted:
                self.functions[node.name] = self.signature(node.type)
        elif isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.PtrDecl):
            self.callbacks[node.name] = self.type_of(node.type)
        elif isinstance(node, c_ast.Typedef) and isinstance(node.type.type, c_ast.Struct) and node.type.type.decls:
            self.structures[node.name] = self.structure(node.name, node.type.type.decls)

    def structure(self, name, members):
        fields = "".join(f'        ("{one.name}", {self.type_of(one.type)}),\n' for one in members)
        return f'class {class_name(name)}(C.Structure):\n    """{name}"""\n\n    _fields_ = [\n{fields}    ]\n'

    def signature(self, function):
        """Result, then arguments."""
        types = [one.type for one in function.args.params] if function.args else []
        arguments = [self.type_of(one) for one in types]
        return [self.type_of(function.type), *(one for one in arguments if one != "None")]

    def type_of(self, node):
        if not isinstance(node, c_ast.PtrDecl):
            name = name_of(node)
            return "None" if name == "void" else self.callbacks.get(name) or f"C.{NUMBERS.get(name, 'c_int')}"
        if isinstance(node.type, c_ast.FuncDecl):
            return f"C.CFUNCTYPE({', '.join(self.signature(node.type))})"
        if isinstance(node.type, c_ast.PtrDecl):
            return f"C.POINTER({self.type_of(node.type)})"
        name = name_of(node.type)
        if name == "char":
            return "C.c_char_p"
        if name in self.structures:
            return f"C.POINTER({class_name(name)})"
        return f"C.POINTER(C.{NUMBERS[name]})" if name in NUMBERS else "C.c_void_p"

    def text(self):
        rows = [f'"{name}": ({", ".join(types)},),' for name, types in sorted(self.functions.items())]
        table = "".join(f"    {row}\n" for row in rows)
        used = [text for name, text in self.structures.items() if f"({class_name(name)})" in table]
        return "\n\n".join([*used, f"FUNCTIONS = {{\n{table}}}\n"])


def name_of(declared):
    kind = declared.type
    return " ".join(kind.names) if isinstance(kind, c_ast.IdentifierType) else kind.name or ""


def named_beside(path):
    """The functions that the other files of a module's package name."""
    *_, package = (folder for folder in path.parents if (folder / "__init__.py").exists())
    others = [other for other in package.rglob("*.py") if other != path]
    return set(re.findall(r"\banynpu_\w+", " ".join(other.read_text(encoding="utf-8") for other in others)))


DECLARE = '''
def declare(library):
    """Tells ctypes the types of all functions that the library has; gives the library."""
    for name, (result, *arguments) in FUNCTIONS.items():
        if function := getattr(library, name, None):
            function.restype, function.argtypes = result, arguments
    return library
'''


def written(path):
    """The whole text of a module, from the headers that it names."""
    head = path.read_text(encoding="utf-8")
    named = headers(head)
    module = Module(named_beside(path))
    for header in named:
        for node in declarations(header):
            module.add(node)
    head = head[: head.index(FROM)] + "\n".join([FROM, *(f"#   {name}" for name in named)])
    return f"{head}\n# ruff: noqa\n# fmt: off\n\nimport ctypes as C\n\n\n{module.text()}\n{DECLARE}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(written(Path(name)), encoding="utf-8")
