# SPDX-License-Identifier: Apache-2.0
"""Which names there are: TensorFlow's public names, as users write them, and those of TensorFlow 2.6 that are gone."""

import ast
import importlib
import re
import types
import zipfile

# Names beginning with the left part are those beginning with the right part; they are listed once.
ALIASES = {
    "tensorflow.compat.v2.": "tensorflow.",
    "tensorflow.compat.v1.compat.v1.": "tensorflow.compat.v1.",
    "tensorflow.compat.v1.compat.v2.": "tensorflow.",
    "tensorflow.compat.v1.raw_ops.": "tensorflow.raw_ops.",
    "keras.": "tensorflow.keras.",
}
# Modules that are public without being part of the generated package.
EXTRA_MODULES = {
    "tensorflow.summary",
    "tensorflow.compat.v1.app.flags",
    "tensorflow.compat.v1.flags",
    "tensorflow.compat.v1.logging",
}
PUBLIC_MODULE = re.compile(r"tensorflow\._api\.v|keras\.api|tensorflow_estimator\.")


def is_alias(name):
    return any(name.startswith(alias) for alias in ALIASES)


def _walk(module, prefix, found):
    for member in sorted(dir(module)):
        name = f"{prefix}.{member}"
        if member.startswith("_") or is_alias(name + ".") or is_alias(name):
            continue
        value = getattr(module, member)
        if not isinstance(value, types.ModuleType):
            found[name] = value
        elif name in EXTRA_MODULES or PUBLIC_MODULE.match(value.__name__):
            _walk(value, name, found)


def present():
    """{name: object} of the TensorFlow that is installed."""
    tf = importlib.import_module("tensorflow")
    found = {}
    _walk(tf, "tensorflow", found)
    _walk(tf.compat.v1, "tensorflow.compat.v1", found)
    for name in ("as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types",
                 "dimension_at_index", "dimension_value", "forward_compatibility_horizon", "forward_compatible",
                 "integral_types", "path_to_str", "real_types"):  # fmt: skip
        found[f"tensorflow.compat.{name}"] = getattr(tf.compat, name)
    return found


def _imported(source):
    """Names that a generated __init__.py imports from below, and the modules among them."""
    names, modules = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            into = modules if node.level or (node.module or "").startswith(("keras.api", "tensorflow._api")) else names
            into |= {alias.asname or alias.name for alias in node.names}
    return names, modules


# Packages of a wheel that hold public names, and what users call them.
PACKAGES = [
    (re.compile(r"tensorflow/_api/v2/compat/v1/(.*)__init__\.py"), "tensorflow.compat.v1."),
    (re.compile(r"tensorflow/_api/v2/((?!compat/v2/).*)__init__\.py"), "tensorflow."),
    (re.compile(r"keras/api/_v2/keras/(.*)__init__\.py"), "tensorflow.keras."),
    (re.compile(r"keras/api/_v1/keras/(.*)__init__\.py"), "tensorflow.compat.v1.keras."),
    (re.compile(r"tensorflow_estimator/python/estimator/api/_v2/estimator/(.*)__init__\.py"), "tensorflow.estimator."),
    (
        re.compile(r"tensorflow_estimator/python/estimator/api/_v1/estimator/(.*)__init__\.py"),
        "tensorflow.compat.v1.estimator.",
    ),
]


def of_wheel(path):
    """Public names in a wheel (tensorflow-cpu, keras or tensorflow-estimator), read without installing it."""
    found = set()
    with zipfile.ZipFile(path) as wheel:
        for file in wheel.namelist():
            for pattern, prefix in PACKAGES:
                match = pattern.fullmatch(file)
                if not match:
                    continue
                names, _ = _imported(wheel.read(file).decode())
                dotted = prefix + match[1].replace("/", ".")
                found |= {dotted + name for name in names if not name.startswith("_")}
                break
    return {name for name in found if "._" not in name and not is_alias(name)}
