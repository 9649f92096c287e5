# SPDX-License-Identifier: Apache-2.0
"""`make lint`: clang-tidy over the C++ sources, each by itself as -DANYNPU_UNITY=OFF compiles it:

    python tests/lint.py [PATH…]

Prints each finding once, whatever else the tool says, and one line at the end. Ends non-zero when there is a finding,
or a file that the tool could not read or crashed on. PATH: only sources below it.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIGURED = ROOT / "build-lint"  # tests/run configures it and makes its headers
FOLDER = CONFIGURED / "clang"
# gcc's own options, which clang does not know, and -Werror: the compiler's warnings are for the compiler we build with.
FOREIGN = re.compile(
    r" -(?:Werror|Winvalid-pch|fno-gnu-unique|fvect-cost-model=\w+|-param=\S+|include \S+cmake_pch\S+)"
)
# One instruction set is enough: kernels are the same source for each.
EXTRA = " -DHWY_COMPILE_ONLY_STATIC"
FINDING = re.compile(r"^\S+:\d+:\d+: (?:warning|error): ", re.MULTILINE)
# What clang-tidy counts in headers that are not ours.
CHATTER = re.compile(r"^\d+ warnings? generated\.\n|^Suppressed .*\n|^Use -header-filter.*\n", re.MULTILINE)


def sources(wanted):
    """Sources of the build below `wanted`; generated ones are none of git's, and left out."""
    entries = json.loads((CONFIGURED / "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = FOREIGN.sub("", entry["command"]) + EXTRA
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "compile_commands.json").write_text(json.dumps(entries))
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    built = {os.path.relpath(entry["file"], ROOT) for entry in entries}
    return sorted(name for name in built & set(tracked) if any(name.startswith(path) for path in wanted))


def check(name):
    """(exit code, findings, other words) of one source."""
    tool = Path(sys.executable).parent / "clang-tidy"
    done = subprocess.run([tool, "-p", FOLDER, "--quiet", name], cwd=ROOT, capture_output=True, text=True)
    starts = [match.start() for match in FINDING.finditer(done.stdout)] + [len(done.stdout)]
    findings = [done.stdout[begin:end] for begin, end in zip(starts, starts[1:], strict=False)]
    other = done.stdout[: starts[0]] + CHATTER.sub("", done.stderr)
    return done.returncode, findings, other.strip()


def main(wanted):
    names = sources(wanted or [""])
    seen, failed = set(), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (code, findings, other) in zip(names, pool.map(check, names), strict=True):
            new = [text for text in dict.fromkeys(findings) if text not in seen]
            seen.update(new)
            for text in new:
                print(text.replace(f"{ROOT}/", ""), end="", flush=True)
            if code not in (0, 1) or (code == 1 and not findings):  # a crash may come after findings
                failed += 1
                print(f"{name}: clang-tidy ended with {code}\n{other}", flush=True)
    print(f"lint: {len(names)} sources, {len(seen)} findings, {failed} that could not be checked")
    return 1 if seen or failed or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
