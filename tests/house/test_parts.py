# SPDX-License-Identifier: Apache-2.0
"""Inside a room, a part of one, an adapter or a tool: parts in the order of the map, and no circle of files."""

from pathlib import Path

import pytest
import source
import structure


@pytest.mark.parametrize("place", source.parts())
def test_a_part_sees_only_parts_before_it(place):
    parts = source.parts()[place]
    missing = [part for part in parts if not (source.ROOT / place / part).is_dir()]
    assert not missing, f"the map names parts of {place} that are not there: {missing}"
    wrong = structure.climbs(place, parts)
    assert not wrong, f"{place} has the parts {', '.join(parts)}; each sees only those before it:\n" + "\n".join(wrong)


def test_no_circle_of_files():
    circles = [" ".join(group) for group in structure.all_circles()]
    assert not circles, "files that use each other in a circle:\n" + "\n".join(circles)


def test_the_checks_see_a_climb_and_a_circle(monkeypatch):
    edges = {"a/one/x": {"a/two/y"}, "a/two/y": {"a/z"}, "a/z": {"a/two/y"}}
    edges = {Path(k): {Path(v) for v in used} for k, used in edges.items()}
    monkeypatch.setattr(structure, "uses", lambda: edges)
    assert structure.climbs("a", ["one", "two"]) == ["a/one/x uses a/two/y", "a/z uses a/two/y"]
    assert structure.climbs("a", ["two"])[0] == "a/one/x: a/one is not named in the map"
    assert structure.circles(sorted(edges), edges) == [[Path("a/two/y"), Path("a/z")]]
