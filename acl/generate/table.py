# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of the door: aclnn rows (acl/aclnn/functions/*.tsv), the element types they take (acl/types.tsv) and
plain symbols (acl/symbols.tsv)."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

# word in the table -> (C type, acl::Word)
WORDS = {
    "tensor": ("const aclTensor*", "kTensor"),
    "packed": ("const aclTensor*", "kTensor"),  # whose elements may be smaller than a byte
    "blocked": ("const aclTensor*", "kTensor"),  # that may lie in ACL_FORMAT_FRACTAL_NZ
    "tensor[]": ("const aclTensorList*", "kTensorList"),
    "blocked[]": ("const aclTensorList*", "kTensorList"),
    "scalar": ("const aclScalar*", "kScalar"),
    "scalar[]": ("const aclScalarList*", "kScalarList"),
    "int[]": ("const aclIntArray*", "kIntArray"),
    "bool[]": ("const aclBoolArray*", "kBoolArray"),
    "float[]": ("const aclFloatArray*", "kFloatArray"),
    "dtype": ("aclDataType", "kDType"),
    "i64": ("int64_t", "kInteger"),
    "i32": ("int32_t", "kInteger"),
    "i8": ("int8_t", "kInteger"),
    "u64": ("uint64_t", "kInteger"),
    "bool": ("bool", "kBool"),
    "double": ("double", "kReal"),
    "float": ("float", "kReal"),
    "real": ("double", "kReal"),  # or the float that the vendor's documentation declares: aclnn/real_argument.h
    "str": ("const char*", "kString"),
}
MARKS = {"": "kRead", ">": "kWritten", "<>": "kBoth"}
# Element type in acl/types.tsv -> its number in aclDataType.
TYPES = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9,
    "uint64": 10, "float64": 11, "bool": 12, "complex64": 16, "complex128": 17, "bfloat16": 27,
}  # fmt: skip
GROUPS = {
    "floats": ("float32", "float16", "bfloat16"),
    "ints": ("int8", "int16", "int32", "int64", "uint8"),
    "complexes": ("complex64", "complex128"),
}
# Names that cannot stand in a C++ parameter list.
RESERVED = {"default", "new", "delete", "class", "template", "operator", "register", "auto", "bool", "int", "float"}


class TableError(Exception):
    """A table line that makes no sense; the text names file, line and cure."""


@dataclass(frozen=True)
class Parameter:
    name: str
    word: str
    mark: str
    optional: bool
    ignored: bool

    @property
    def c_type(self):
        return WORDS[self.word][0]

    @property
    def kind(self):
        return WORDS[self.word][1]


@dataclass(frozen=True)
class Rule:
    """What one argument may be: the documented types and those that torch-npu passes besides, or a number's range."""

    documented: tuple = ()
    also: tuple = ()
    same: str = ""  # a dtype argument that must name this tensor's type
    low: int = 0
    high: int = 0
    beyond: int = 0  # a number that torch-npu passes besides: how far the range reaches for it

    @property
    def end(self):
        return max(self.high, self.beyond)

    @property
    def types(self):
        return self.documented + self.also

    @property
    def bits(self):
        return sum(1 << TYPES[name] for name in self.types)


@dataclass(frozen=True)
class Row:
    name: str
    family: str
    arguments: str
    parameters: tuple
    operator: str
    bind: str
    header: str
    rules: dict = field(default_factory=dict, compare=False)  # argument -> Rule
    page: str = ""  # where the types are documented
    asks_most: bool = False  # clients that capture a graph ask for the workspace of its largest call

    @property
    def sizes(self):
        """The names of phase 1."""
        return [self.name + f"Get{word}WorkspaceSize" for word in ["", *(["Max"] if self.asks_most else [])]]


@dataclass(frozen=True)
class Header:
    """A header whose name its functions do not tell: whose it is, and the hand-written headers it shows besides."""

    functions: tuple
    includes: tuple


@dataclass(frozen=True)
class Family:
    """What holds for every function of one table: shapes, element types, and whose behaviour it has."""

    name: str
    shapes: str
    types: str
    reference: str


@dataclass(frozen=True)
class Symbol:
    name: str
    returns: str
    libraries: tuple


def snake_case(name):
    """FastGeluV2 -> fast_gelu_v2, AdaptiveAvgPool2d -> adaptive_avg_pool2d, GRU -> gru, TopKV2 -> top_k_v2."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]|V\d)", "_", name).lower()


def default_header(function):
    prefix = "aclnn" if function.startswith("aclnn") else "acl"
    return f"{prefix}_" + snake_case(function.removeprefix(prefix))


def parse_parameter(text, where):
    match = re.fullmatch(r"(<>|>)?([A-Za-z_]\w*):([a-z0-9]+(?:\[\])?)(\?)?", text)
    if not match:
        raise TableError(f"{where}: '{text}' is not [<>|>]name:word[?]")
    mark, name, word, optional = match.groups()
    if word not in WORDS:
        raise TableError(f"{where}: '{word}' is no argument word; known are {', '.join(WORDS)}")
    ignored = name.startswith("_")
    name = name.lstrip("_")
    if name in RESERVED:
        raise TableError(f"{where}: '{name}' is a word of C++; rename the argument")
    return Parameter(name, word, mark or "", optional is not None, ignored)


def read_lines(path, columns):
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or lines[0].split("\t") != columns:
        raise TableError(f"{path}: the first line must be {' TAB '.join(columns)}")
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        cells += [""] * (len(columns) - len(cells))
        if len(cells) != len(columns):
            raise TableError(f"{path}:{number}: {len(cells)} columns, expected {len(columns)}")
        yield f"{path}:{number}", cells


def read_headers(path):
    """Header name without ".h" -> Header. Each function stands in one line at most."""
    headers, owner = {}, {}
    for where, (name, functions, includes) in read_lines(path, ["header", "functions", "includes"]):
        if name in headers:
            raise TableError(f"{where}: {name} stands twice; write its functions in one line")
        headers[name] = Header(tuple(functions.split()), tuple(includes.split()))
        for function in headers[name].functions:
            if owner.setdefault(function, name) != name:
                raise TableError(f"{where}: {function} stands in {owner[function]} too; it has one header")
            if headers[name] == Header((function,), ()) and name == default_header(function):
                raise TableError(f"{where}: {name} is the name {function} has anyway; take the line out")
    return headers


def read_family(path, header_of):
    rows = []
    for where, (name, arguments, operator, bind) in read_lines(path, ["name", "arguments", "operator", "bind"]):
        if not re.fullmatch(r"acl(nn)?[A-Z]\w*", name):
            raise TableError(f"{where}: '{name}' is not aclnnName, nor aclName")
        parameters = tuple(parse_parameter(a, where) for a in arguments.split(", "))
        names = [p.name for p in parameters]
        if len(set(names)) != len(names):
            raise TableError(f"{where}: two arguments share a name")
        header = header_of.get(name, default_header(name))
        rows.append(Row(name, path.stem, arguments, parameters, operator, bind, header))
    return sorted(rows, key=lambda row: row.name)


def parse_types(text, where):
    """ "floats int64" -> the four names."""
    names = [name for word in text.split() for name in GROUPS.get(word, (word,))]
    if unknown := [name for name in names if name not in TYPES]:
        raise TableError(f"{where}: '{unknown[0]}' is no element type; known are {', '.join([*TYPES, *GROUPS])}")
    return tuple(dict.fromkeys(names))


def parse_rule(text, where):
    if match := re.fullmatch(r"=(\w+)", text):
        return {"same": match[1]}
    if match := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text):
        return {"low": int(match[1]), "high": int(match[2])}
    return {"documented": parse_types(text, where)}


def parse_rules(text, where):
    """ "self, out: floats; index: int32 int64; dtype: =out" -> {argument: what parse_rule gives}."""
    rules = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        names, colon, rule = part.partition(":")
        if not colon:
            raise TableError(f"{where}: '{part}' is not argument, argument: types")
        for name in (name.strip() for name in names.split(",")):
            if name in rules:
                raise TableError(f"{where}: {name} stands twice")
            rules[name] = parse_rule(rule.strip(), where)
    return rules


def expand_rules(rules, row, where):
    """`*` means every tensor that is not named."""
    known = {p.name for p in row.parameters}
    tensors = [p.name for p in row.parameters if WORDS[p.word][1].startswith("kTensor")]
    if unknown := sorted(set(rules) - known - {"*"}):
        raise TableError(f"{where}: {row.name} has no argument {', '.join(unknown)}")
    rest = {name: rules["*"] for name in tensors if "*" in rules and name not in rules}
    return rest | {name: rule for name, rule in rules.items() if name != "*"}


def row_rules(row, takes, also, where):
    takes, also = expand_rules(takes, row, where), expand_rules(also, row, where)
    rules = {name: Rule(**rule) for name, rule in takes.items()}
    for name, more in also.items():
        if name not in rules:
            raise TableError(f"{where}: {name} takes more than the page says, but the page says nothing of it")
        if "high" in more:
            rules[name] = replace(rules[name], beyond=more["high"])
            continue
        extra = tuple(t for t in more["documented"] if t not in rules[name].documented)
        rules[name] = replace(rules[name], also=extra)
    return rules


def read_types(path, families):
    """The families again, each row with its rules."""
    owner = {row.name: (family, index) for family, rows in families.items() for index, row in enumerate(rows)}
    families = {family: list(rows) for family, rows in families.items()}
    for where, (names, takes, also, page) in read_lines(path, ["functions", "takes", "also", "page"]):
        for name in names.split():
            if name not in owner:
                raise TableError(f"{where}: no function is called {name}")
            family, index = owner[name]
            row = families[family][index]
            if row.rules:
                raise TableError(f"{where}: {name} stands twice")
            rules = row_rules(row, parse_rules(takes, where), parse_rules(also, where), where)
            families[family][index] = replace(row, rules=rules, page=page)
    return families


def read_rows(folder, headers):
    """Rows of every family file, and a check that no function stands in two of them, and none but in `headers`."""
    header_of = {function: name for name, header in headers.items() for function in header.functions}
    families = {path.stem: read_family(path, header_of) for path in sorted(Path(folder).glob("*.tsv"))}
    owner = {}
    for family, rows in families.items():
        for row in rows:
            if row.name in owner:
                raise TableError(f"{row.name} stands in {owner[row.name]}.tsv and again in {family}.tsv")
            owner[row.name] = family
    if unknown := sorted(set(header_of) - set(owner)):
        raise TableError(f"headers.tsv: {', '.join(unknown)} stands in no table of functions; take the name out")
    empty = {name for name, header in headers.items() if not header.functions}
    if filled := sorted(empty & {row.header for rows in families.values() for row in rows}):
        raise TableError(f"headers.tsv: {', '.join(filled)} has functions now; take the line out")
    return families


def mark_largest(path, families):
    """The families' rows, of which those in the table have a function GetMaxWorkspaceSize, too."""
    names = {name for _, (name,) in read_lines(path, ["function"])}
    if unknown := sorted(names - {row.name for rows in families.values() for row in rows}):
        raise TableError(f"{path.name}: {', '.join(unknown)} stands in no table of functions; take the name out")
    return {f: [replace(row, asks_most=row.name in names) for row in rows] for f, rows in families.items()}


def read_families(path, names):
    """name -> Family, for each of `names`."""
    families = {cells[0]: Family(*cells) for _, cells in read_lines(path, ["family", "shapes", "types", "reference"])}
    if missing := sorted(set(names) - set(families)):
        raise TableError(f"{path}: add a line for {', '.join(missing)}: what holds for all functions of that table")
    if stale := sorted(set(families) - set(names)):
        raise TableError(f"{path}: {', '.join(stale)} has no table in aclnn/functions any more")
    return families


def read_symbols(path):
    """Hand-written C functions. `library` lists the vendor-named libraries that show them, separated by commas."""
    symbols, seen = [], set()
    for where, (name, returns, _arguments, library) in read_lines(path, ["name", "returns", "arguments", "library"]):
        if name in seen:
            raise TableError(f"{where}: {name} stands twice")
        seen.add(name)
        symbols.append(Symbol(name, returns, tuple(part.strip() for part in library.split(",") if part.strip())))
    return symbols
