# SPDX-License-Identifier: Apache-2.0
"""The module acl (pyACL) for a Python in which AnyNPU is not installed: `anynpu env` sets PYTHONPATH to this folder."""

import importlib.util
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]  # site-packages, or the build folder of a checkout
_PATHS = [path for path in (_ROOT / "acl.abi3.so", _ROOT / "pyacl/acl.abi3.so") if path.exists()]
if not _PATHS:
    raise ImportError(f"acl.abi3.so is not in {_ROOT}; install AnyNPU with: pip install .", name="acl")
_SPEC = importlib.util.spec_from_file_location("acl", _PATHS[0])
sys.modules["acl"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sys.modules["acl"])
