# SPDX-License-Identifier: Apache-2.0
"""Versions of what is installed, read from package metadata: nothing is imported."""

import json
import re


def installed(package):
    """The version of an installed package, None if it is not there. Build suffixes (+cpu) are left out."""
    from importlib import metadata  # slow; most commands need no version

    try:
        return metadata.version(package).split("+")[0]
    except metadata.PackageNotFoundError:
        return None


def anynpu():
    return installed("anynpu") or "0 (not installed; a checkout)"


def origin():
    """What pip installed AnyNPU from: a folder, a wheel or an address; None if it is not recorded."""
    from importlib import metadata
    from urllib.parse import unquote, urlsplit

    try:
        recorded = json.loads(metadata.distribution("anynpu").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return None
    url = recorded.get("url")
    return unquote(urlsplit(url).path) if url and url.startswith("file:") else url


def pins(extra):
    """{package: pinned version} of one extra of our own package, as pyproject.toml declares it."""
    from importlib import metadata

    found = {}
    try:
        requirements = metadata.requires("anynpu") or []
    except metadata.PackageNotFoundError:
        return found
    for requirement in requirements:
        match = re.match(r"([\w.-]+)\s*==\s*([\w.]+).*extra\s*==\s*['\"](\w+)['\"]", requirement)
        if match and match[3] == extra:
            found[match[1]] = match[2]
    return found
