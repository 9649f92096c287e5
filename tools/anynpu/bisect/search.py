# SPDX-License-Identifier: Apache-2.0
"""The search: the script as it is, twice; with all switched off; then with less and less of it."""

import sys
import tempfile
from pathlib import Path

from anynpu.bisect import loss
from anynpu.bisect.smallest import smallest
from anynpu.bisect.switches import KINDS
from anynpu.bisect.trial import Script, Stopped

NO_FUNCTION = "no function was compiled for the NPU (PyTorch runs operator by operator)"
SHARE, MOST = 0.1, 0.02  # how near is right again: a tenth of the way, and within 2 %


class Search:
    def __init__(self, kind, script, switches, golden=None, tolerance=None, say=None):
        self.kind, self.script, self.switches = kind, script, switches
        self.golden, self.tolerance = golden, tolerance
        self.say = say or (lambda text: print(f"anynpu run --bisect {kind}: {text}", file=sys.stderr, flush=True))

    def run(self):
        """The smallest set; empty where this is innocent."""
        on, functions = self.as_it_is()
        candidates = self.switches.candidates(functions)
        if not candidates:
            return self.innocent(self.switches.nothing if functions else NO_FUNCTION)
        off = self.script.run(**self.switches.all_off(candidates))
        self.say(f"all {len(candidates)} {self.switches.plural} off: {loss.shown(off)}")
        moved = loss.distance(on, off)
        if reason := self.unmoved(on, off, moved):
            return self.innocent(reason)
        return self.told(*self.found(candidates, off, self.limit(moved)), on)

    def as_it_is(self):
        on, functions = self.script.reported()
        self.say(f"nothing off: {loss.shown(on)}")
        again = self.script.run()
        if loss.distance(on, again) > 0:
            raise Stopped(f"run again, the same script gives {loss.shown(again)}: what is random must go first; "
                          "anynpu run --repeat 2 names the first operator that differs")  # fmt: skip
        return on, functions

    def unmoved(self, on, off, moved):
        if moved <= (self.tolerance or 0):
            return f"the loss does not move (by {moved:.3g}, relative)"
        if self.golden is None:
            return ""
        before, after = loss.distance(on, self.golden), loss.distance(off, self.golden)
        self.say(f"off the golden {loss.shown(self.golden)}: by {before:.3g}, with all off by {after:.3g}")
        return "" if after <= before / 2 else "the loss does not come nearer to the golden one"

    def limit(self, moved):
        return self.tolerance if self.tolerance is not None else min(SHARE * moved, MOST)

    def found(self, candidates, wanted, limit):
        """(the names, the loss without them)."""
        values = {}

        def without(names):
            if tuple(names) not in values:
                values[tuple(names)] = value = self.script.run(**self.switches.off(names))
                shown = ", ".join(names) if len(names) <= 4 else f"{len(names)} {self.switches.plural}"
                right = " (right)" if loss.distance(value, wanted) <= limit else ""
                self.say(f"off {shown}: {loss.shown(value)}{right}")
            return values[tuple(names)]

        def enough(names):
            return loss.distance(without(names), wanted) <= limit

        if self.switches.all_off(candidates) == self.switches.off(candidates):
            values[tuple(candidates)] = wanted
        if not enough(candidates):
            raise Stopped(f"without {', '.join(candidates)} alone the loss is not that of everything off")
        names = smallest(candidates, enough)
        return names, without(names)

    def told(self, names, without, on):
        noun = self.switches.noun if len(names) == 1 else self.switches.plural
        self.say(f"found after {self.script.runs} runs: {len(names)} {noun}: {', '.join(names)}")
        self.say(f"the loss is {loss.shown(on)} with and {loss.shown(without)} without")
        self.say(self.switches.cure(names))
        return names

    def innocent(self, reason):
        self.say(f"{self.kind} is innocent: {reason}")
        return []


def execute(kind, command, watch, series, golden, tolerance):
    """0 where the search came to an end, whatever it found."""
    watch = loss.pattern(watch or loss.USUAL)
    golden = loss.golden(golden) if golden is not None else None
    with tempfile.TemporaryDirectory(prefix="anynpu-bisect-") as name:
        folder = Path(name)
        search = Search(kind, Script(command, watch, series, folder), KINDS[kind](folder), golden, tolerance)
        try:
            search.run()
        except Stopped as stopped:
            search.say(str(stopped))
            return 1
    return 0
