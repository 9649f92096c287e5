# SPDX-License-Identifier: Apache-2.0
"""The loss of a run, as the script prints it, and how far two of them are apart."""

import math
import re
from pathlib import Path

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
USUAL = rf"(?i)\bloss\b['\"]?\s*[:=]?\s*({NUMBER})"
MOST = 2.0  # of numbers with different signs; that of what cannot be compared, too


def pattern(text):
    """ValueError for a regular expression that is none, or that takes no number out of a line."""
    try:
        made = re.compile(text)
    except re.error as error:
        raise ValueError(f"--watch {text!r} is no regular expression: {error}") from None
    if made.groups != 1:
        raise ValueError(f"--watch {text!r} has {made.groups} groups; put ( ) around the number, as in 'loss: (\\S+)'")
    return made


def number(text):
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--watch took {text!r} for the loss, which is no number; write a narrower one") from None


def losses(output, watch, series):
    """All numbers that `watch` finds, in a series, or the last alone."""
    found = [number(one) for one in watch.findall(output)]
    return tuple(found if series else found[-1:])


def golden(text):
    """A number, or a file of numbers with blanks, commas or lines between them."""
    path = Path(text)
    words = path.read_text().replace(",", " ").split() if path.is_file() else [text]
    try:
        return tuple(float(word) for word in words)
    except ValueError as error:
        raise ValueError(f"--golden {text}: {error}; give a number, or a file of numbers") from None


def apart(one, other):
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return MOST
    return abs(one - other) / max(abs(one), abs(other))


def distance(one, other):
    """The relative difference of two losses, of series the largest."""
    if len(one) != len(other):
        return MOST
    return max(map(apart, one, other))


def shown(numbers):
    if len(numbers) <= 4:
        return " ".join(f"{one!r}" for one in numbers)
    return f"{numbers[0]!r} … {numbers[-1]!r} ({len(numbers)} numbers)"
