# SPDX-License-Identifier: Apache-2.0
"""Lines of functions.tsv, and the functions of the module that they are."""

from pathlib import Path

import table

import acl

ROOT = Path(__file__).resolve().parents[2]
ROWS = {row.name: row for row in table.read(ROOT / "adapters/pyacl/functions.tsv")}


def function(name):
    """The function, or None where the library has not got it."""
    module, _, base = name.rpartition(".")
    return getattr(getattr(acl, module) if module else acl, base, None)


def there():
    return [name for name in ROWS if function(name)]
