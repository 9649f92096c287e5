# SPDX-License-Identifier: Apache-2.0
"""Properties of the migration over thousands of real files: `python tests/migrate/corpus.py` prints the figures.

Every file comes out; it parses if it did before; lines no row of the report names are byte-equal; every row names lines
that changed; a second run changes nothing. Rules that meet too few files are tried with their examples put at the end
of real ones.
"""

import argparse
import collections
import concurrent.futures
import difflib
import json
import random
import re
import resource
import shutil
import site
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROBE = next(iter(sorted(ROOT.glob("build*/**/migrate_probe"))), None)
PACKAGES = ("torch", "keras", "tensorflow", "sklearn")
WHEEL = "tf-models-official==2.6.0"
MODES = {"TF2": "tf2", "TF2 -c": "tf2,compat", "TF2 -c -d": "tf2,compat,tf_strategy,distributed", "PyTorch": "torch"}
LEAST = 20  # files each rule is to be met in


def packages():
    for folder in site.getsitepackages():
        for name in PACKAGES:
            if (Path(folder) / name).is_dir():
                yield name, Path(folder) / name


def official(folder):
    """The package `official` of the wheel, fetched once into the build folder."""
    if not (folder / "official").is_dir():
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, WHEEL], check=True, timeout=600
        )
        with zipfile.ZipFile(next(folder.glob("tf_models_official*.whl"))) as wheel:
            wheel.extractall(folder)
    return folder / "official"


def gathered(places, target):
    """Links to all Python files of these (name, folder) below `target`; their paths there."""
    for name, folder in places:
        for path in folder.rglob("*.py"):
            link = target / name / path.relative_to(folder)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
            yield str(link.relative_to(target))


def migrate(root, paths, features, out="", threads=2):
    done = subprocess.run(
        [PROBE, "run", root, features, str(threads), out], input="\n".join(paths), capture_output=True, text=True
    )
    assert done.returncode == 0, f"the tool ended with {done.returncode}: {done.stderr[-500:]}"
    *results, last = [json.loads(line) for line in done.stdout.splitlines()]
    return {each["path"]: each for each in results}, last["seconds"]


def parses(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "file", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True


def lines_of(text):
    return re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def troubles(before, after, rows):
    """What of the promises does not hold for one changed file."""
    out = []
    if parses(before) and not parses(after):
        out.append("no longer parses")
    old, new = lines_of(before), lines_of(after)
    named = {line for row in rows for line in range(row["line"], row["last_line"] + 1) if not row["insert"]}
    beside = {line for row in rows if row["insert"] for line in range(row["line"], row["last_line"] + 2)}
    changed = set()
    for what, begin, end, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what in ("replace", "delete"):
            changed.update(range(begin + 1, end + 1))
        if what == "insert" and not named & {begin, begin + 1} and not beside & {begin, begin + 1, begin + 2}:
            out.append(f"lines came in at {begin + 1} that no row names")
    if changed - named - beside:
        out.append(f"lines changed that no row names: {sorted(changed - named - beside)[:5]}")
    for row in rows:
        if not row["insert"] and not changed & set(range(row["line"], row["last_line"] + 1)):
            out.append(f"row of {row['rule']} names line {row['line']}, which did not change")
    return out


def one_file(root, out, path, rows):
    return path, troubles((root / path).read_bytes(), (out / path).read_bytes(), rows)


def checked(root, paths, features, pool, work):
    """Migrates twice; the results, the seconds of the first run and what was wrong."""
    out = Path(tempfile.mkdtemp(dir=work))
    results, seconds = migrate(root, paths, features, out)
    wrong = [f"{path}: {result['failure']}" for path, result in results.items() if result["failure"]]
    wrong += [f"{path}: no result" for path in paths if path not in results]
    changed = [path for path, result in results.items() if result["changed"]]
    rows = {path: [row for row in results[path]["rows"] if not row["report"]] for path in changed}
    for path, told in pool.map(one_file, *zip(*[(root, out, path, rows[path]) for path in changed], strict=True)):
        wrong += [f"{path}: {each}" for each in told]
    for path in paths:
        if path not in rows:
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).symlink_to((root / path).resolve())
    again, _ = migrate(out, paths, features)
    wrong += [f"{path}: a second run changes it again" for path, result in again.items() if result["changed"]]
    shutil.rmtree(out)
    return results, seconds, wrong


def rules():
    for path in sorted((ROOT / "tools/migrate/rules").glob("*.yaml")):
        yield from yaml.safe_load(path.read_text()).get("rules") or []


def words(value):
    return set([value] if isinstance(value, str) else value or [])


def spliced(rule, hosts, root, target):
    """Files with an example of the rule at their end, by the features it needs."""
    for number, example in enumerate(rule.get("examples", [])):
        if not rule.get("report") and example.get("after") in (None, example["before"]):
            continue
        features = ",".join(sorted(words(rule.get("when")) | words(example.get("features"))))
        for host in hosts:
            text = (root / host).read_bytes()
            path = f"{rule['id']}_{number}/{host.replace('/', '_')}"
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(text + b"\n" + example["before"].encode())
            yield features, path
        return


def splice_all(few, paths, root, pool, work):
    """Rows per rule in files that got its example, and what was wrong."""
    rng = random.Random(7)
    target = Path(tempfile.mkdtemp(dir=work))
    small = [path for path in paths if 200 < (root / path).stat().st_size < 8000 and parses((root / path).read_bytes())]
    by_features = collections.defaultdict(list)
    for rule in rules():
        if rule["id"] in few:
            for features, path in spliced(rule, rng.sample(small, min(LEAST, len(small))), root, target):
                by_features[features].append(path)
    met, wrong = collections.Counter(), []
    for features, own in by_features.items():
        results, _, told = checked(target, own, features, pool, work)
        wrong += told
        for path, result in results.items():
            rule = path.split("/")[0].rsplit("_", 1)[0]
            met[rule] += any(row["rule"] == rule for row in result["rows"])
    return met, wrong


def report(modes, root, paths, pool, work):
    size = sum((root / path).stat().st_size for path in paths)
    print(f"{len(paths)} files, {size / 1e6:.1f} MB")
    rows, wrong = collections.defaultdict(collections.Counter), []
    for name, features in modes.items():
        results, seconds, told = checked(root, paths, features, pool, work)
        changed = sum(result["changed"] for result in results.values())
        print(
            f"{name}: {changed} files changed, {seconds:.1f} s on 2 threads, {size / 1e6 / seconds / 2:.1f} MB/s each"
        )
        wrong += [f"{name}: {each}" for each in told]
        for result in results.values():
            for row in result["rows"]:
                rows[row["rule"]]["listed" if row["report"] else "changed"] += 1
    few = {rule["id"] for rule in rules() if sum(rows[rule["id"]].values()) < LEAST}
    met, told = splice_all(few, paths, root, pool, work)
    print("\n| rule | changed | listed | files with its example |\n|---|---|---|---|")
    for rule in rules():
        count = rows[rule["id"]]
        print(f"| {rule['id']} | {count['changed']} | {count['listed']} | {met.get(rule['id'], '')} |")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"\nlargest memory of a run: {peak / 1024:.0f} MB; {len(wrong)} + {len(told)} promises broken")
    for each in (wrong + told)[:100]:
        print(each)
    return wrong + told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=MODES, help="only this one")
    parser.add_argument("--files", type=int, help="a sample of so many files")
    arguments = parser.parse_args()
    modes = {arguments.mode: MODES[arguments.mode]} if arguments.mode else MODES
    fetched = ROOT / "build" / "corpus"
    fetched.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ProcessPoolExecutor(2) as pool:
        root = Path(work) / "files"
        paths = sorted(gathered([*packages(), ("official", official(fetched))], root))
        if arguments.files:
            paths = sorted(random.Random(5).sample(paths, arguments.files))
        return 1 if report(modes, root, paths, pool, work) else 0


if __name__ == "__main__":
    sys.exit(main())
