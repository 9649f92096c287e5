# SPDX-License-Identifier: Apache-2.0
"""Properties of the migration over thousands of real files: `make corpus` prints the figures, and how many promises
broke.

Every file comes out; it compiles if it did before; lines no row of the report names are byte-equal; every row names
lines that changed; a second run changes nothing. Rules that meet too few files are tried with an example put at the end
of real ones.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import difflib
import functools
import json
import random
import re
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
PAGE = ROOT / "docs/migrate_corpus.md"
KEPT = ROOT / "build/corpus/figures"
PACKAGES = ("torch", "keras", "tensorflow", "sklearn")
WHEEL = "tf-models-official==2.6.0"
# As the command lines put them together.
MODES = {
    "TF2": "tf2",
    "TF2 -d tf_strategy": "tf2,tf_strategy",
    "TF2 -c": "compat",
    "TF2 -c -d horovod": "compat,horovod",
    "TF2 -c -d tf_strategy": "compat,tf_strategy",
    "TF1": "compat,tf1",
    "TF1 -d horovod": "compat,tf1,horovod",
    "TF1 -d tf_strategy": "compat,tf1,tf_strategy",
    "PyTorch": "torch",
    "PyTorch -s": "torch,specify-device",
    "PyTorch --similar": "torch,similar",
    "PyTorch distributed": "torch,distributed",
}
LEAST = 20  # files each rule is to be met in


def packages():
    for folder in site.getsitepackages():
        for name in PACKAGES:
            if (Path(folder) / name).is_dir():
                yield name, Path(folder) / name


def official(folder):
    """The package `official` of the wheel, fetched once into the build folder."""
    if not (folder / "official").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*fetch, "-d", folder, WHEEL], check=True, timeout=600)
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


def migrate(root, paths, features, out="", main=""):
    command = [PROBE, "run", root, features, "2", out, main]
    done = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True)
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


def compiles(path):
    return parses(Path(path).read_bytes())


def lines_of(text):
    return re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def differences(old, new):
    """Numbers of old lines that changed or went, numbers of those behind which lines came in, and of both and their
    neighbours: of lines that came in beside one that changed nobody can say which side they are on."""
    changed, gaps, near = set(), set(), set()
    for what, begin, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what in ("replace", "delete"):
            changed.update(range(begin + 1, end + 1))
            near.update(range(begin, end + 2) if what == "replace" else range(begin + 1, end + 1))
        if what == "insert":
            gaps.add(same_gaps(old, begin, new[first:last]))
            near.update(line for at in same_gaps(old, begin, new[first:last]) for line in (at, at + 1))
    return changed, gaps, near


def same_gaps(old, at, fresh):
    """All gaps where these lines may as well have come in: `a` into `a a` has no place of its own."""
    out, up, down = {at}, list(fresh), list(fresh)
    for i in range(at, len(old)):
        if old[i] != down[0]:
            break
        down = [*down[1:], old[i]]
        out.add(i + 1)
    for i in range(at - 1, -1, -1):
        if old[i] != up[-1]:
            break
        up = [old[i], *up[:-1]]
        out.add(i)
    return frozenset(out)


def troubles(before, after, rows):
    """What of the promises does not hold for one changed file."""
    out = []
    if parses(before) and not parses(after):
        out.append("no longer compiles")
    changed, gaps, near = differences(lines_of(before), lines_of(after))
    named = {line for row in rows if not row["insert"] for line in range(row["line"], row["last_line"] + 1)}
    # A row that inserts names the statement that its lines stand before or behind.
    places = {line for row in rows if row["insert"] for line in (row["line"], row["last_line"])}
    if changed - named - places:
        out.append(f"lines changed that no row names: {sorted(changed - named - places)[:5]}")
    beside = places | {line - 1 for line in places} | named | {line - 1 for line in named}
    out += [f"lines came in behind {min(gap)} that no row names" for gap in gaps if not gap & beside]
    for row in rows:
        ends = {row["line"], row["last_line"]}
        if not (near & ends if row["insert"] else changed & set(range(row["line"], row["last_line"] + 1))):
            out.append(f"row of {row['rule']} names line {row['line']}, which did not change")
    return out


def one_file(root, out, path, rows):
    return path, troubles((root / path).read_bytes(), (out / path).read_bytes(), rows)


def read_lines(path):
    *results, last = [json.loads(line) for line in path.read_text().splitlines()]
    return {each["path"]: each for each in results}, last["seconds"]


def checked(root, paths, features, pool, work, main=""):
    """Migrates twice; the results, the seconds of the first run and what was wrong."""
    out = Path(tempfile.mkdtemp(dir=work))
    results, seconds = migrate(root, paths, features, out, main)
    for path in paths:
        if path not in results or not results[path]["changed"]:
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).symlink_to((root / path).resolve())
    again, _ = migrate(out, paths, features, "", main)
    wrong = wrong_with(root, out, paths, results, again, pool)
    shutil.rmtree(out)
    return results, seconds, wrong


def checked_modes(root, paths, modes, pool, work):
    """The same for several modes, all files read once: name, results, seconds, what was wrong."""
    out = Path(tempfile.mkdtemp(dir=work))
    listed = Path(out) / "paths"
    listed.write_text("\n".join(paths))
    command = [PROBE, "modes", root, "2", out, *(MODES[name] for name in modes)]
    with listed.open() as stdin, subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True) as probe:
        for number, name in enumerate(modes):
            probe.stdout.readline()
            try:
                results, seconds = read_lines(out / f"{number}.jsonl")
                again, _ = read_lines(out / f"{number}_again.jsonl")
            except (OSError, ValueError):
                yield name, {}, 0, ["the tool broke down"]
                continue
            yield name, results, seconds, wrong_with(root, out / str(number), paths, results, again, pool)
            shutil.rmtree(out / str(number))


def wrong_with(root, out, paths, results, again, pool):
    wrong = [f"{path}: {result['failure']}" for path, result in results.items() if result["failure"]]
    wrong += [f"{path}: no result" for path in paths if path not in results]
    changed = [path for path, result in results.items() if result["changed"]]
    rows = [[row for row in results[path]["rows"] if not row["report"]] for path in changed]
    count = len(changed)
    for path, told in pool.map(one_file, [root] * count, [out] * count, changed, rows, chunksize=8):
        wrong += [f"{path}: {each}" for each in told]
    return wrong + [f"{path}: a second run changes it again" for path, result in again.items() if result["changed"]]


@functools.cache
def rules():
    paths = sorted((ROOT / "tools/migrate/rules").glob("*.yaml"))
    return [rule for path in paths for rule in yaml.safe_load(path.read_text()).get("rules") or []]


def words(value):
    return {value} if isinstance(value, str) else set(value or [])


def modes_of(rule, example):
    """The modes that the rule is on in, with what its example asks for."""
    wanted, not_wanted = words(rule.get("when")) | words(example.get("features")), words(rule.get("unless"))
    sets = [features for features in MODES.values() if wanted <= set(features.split(","))]
    return [features for features in sets if not not_wanted & set(features.split(","))]


def telling(rule):
    """The first of its examples in which the rule changes or lists something."""
    for example in rule.get("examples", []):
        if example.get("notes") or example.get("after", example["before"]) != example["before"]:
            return example
    raise LookupError(f"no example of rule {rule['id']} shows it at work")


def spliced(rule, example, hosts, root, target):
    """Files with the example at their end."""
    for host in hosts:
        path = f"{rule['id']}/{host.replace('/', '_')[:-3]}/{example.get('path', 'train.py')}"
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes((root / host).read_bytes() + b"\n" + example["before"].encode())
        yield path


def mode_at_work(rule, example, path, target):
    """The first of its modes in which the rule meets this file: in one, another rule may be the first to."""
    for features in modes_of(rule, example):
        results, _ = migrate(target, [path], features, "", path if "main" in example else "")
        if any(row["rule"] == rule["id"] for row in results[path]["rows"]):
            return features
    return modes_of(rule, example)[0]


def hosts(root, paths):
    """Files that examples are put behind: short ones that compile, and that no program begins in."""
    for path in paths:
        text = (root / path).read_bytes()
        if 200 < len(text) < 8000 and b"__main__" not in text and parses(text):
            yield path


def splice_all(few, paths, root, pool, work):
    """How many files with its example a rule met, by rule, and what was wrong."""
    rng = random.Random(7)
    target = Path(tempfile.mkdtemp(dir=work))
    usable = list(hosts(root, paths))
    together, alone = collections.defaultdict(list), {}
    for rule in rules():
        if rule["id"] not in few:
            continue
        example = telling(rule)
        # Some rules are for files that do not import PyTorch: others take their places where it is imported.
        fit = [path for path in usable if "torch" in example["before"] or b"torch" not in (root / path).read_bytes()]
        own = list(spliced(rule, example, rng.sample(fit, min(LEAST, len(fit))), root, target))
        features = mode_at_work(rule, example, own[0], target)
        for path in own:
            together[features, path if "main" in example else ""].append(path)
        if "main" not in example:
            alone[rule["id"]] = features, own
    met, wrong = collections.Counter(dict.fromkeys(few, 0)), []

    def count(features, main, own):
        results, _, told = checked(target, own, features, pool, work, main)
        wrong.extend(f"spliced, {features}: {each}" for each in told)
        for path, result in results.items():
            name = path.split("/")[0]
            met[name] += any(row["rule"] == name for row in result["rows"])

    for (features, main), own in together.items():
        count(features, main, own)
    for name, (features, own) in alone.items():
        if met[name] < LEAST:  # among files that open the NPU another rule may have been the first
            met[name] = 0
            count(features, "", own)
    wrong += [f"{name}: met {met[name]} of {LEAST} files with its example" for name in few if met[name] < LEAST]
    shutil.rmtree(target)
    return met, wrong


@dataclasses.dataclass
class Figures:
    """What was found, kept in the build folder mode by mode, so that one can be run again."""

    paths: list
    sizes: dict
    compile_before: set
    modes: dict = dataclasses.field(default_factory=dict)  # what figures_of() gives
    met: dict = dataclasses.field(default_factory=dict)  # files with its example, by rule
    wrong: list = dataclasses.field(default_factory=list)  # of those

    def files(self, rule, kind):
        return {path for mode in self.modes.values() for path in mode[kind].get(rule, [])}

    def few(self):
        """Rules met in too few files; with fewer modes than all, those of the others have nothing to meet."""
        ran = {MODES[mode] for mode in self.modes}
        own = [rule for rule in rules() if ran.intersection(modes_of(rule, telling(rule)))]
        return [
            rule["id"] for rule in own if len(self.files(rule["id"], "made") | self.files(rule["id"], "listed")) < LEAST
        ]

    def all_wrong(self):
        return [f"{name}: {each}" for name, mode in self.modes.items() for each in mode["wrong"]] + self.wrong


def figures_of(results, seconds, wrong):
    made, listed, rows = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
    for path, result in results.items():
        for rule, told in sorted({(row["rule"], bool(row["report"])) for row in result["rows"]}):
            (listed if told else made)[rule].append(path)
        rows.update("listed" if row["report"] else "made" for row in result["rows"])
    changed = [path for path, result in results.items() if result["changed"]]
    return {
        "seconds": seconds,
        "changed": changed,
        "made": made,
        "listed": listed,
        "rows": rows,
        "wrong": wrong,
    }


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)


def package_table(figures):
    groups = collections.defaultdict(list)
    for path in figures.paths:
        groups[path.split("/")[0]].append(path)
    changed = {path for mode in figures.modes.values() for path in mode["changed"]}
    rows = [
        [
            name,
            len(own),
            f"{sum(figures.sizes[path] for path in own) / 1e6:.1f}",
            len(figures.compile_before.intersection(own)),
            len(changed.intersection(own)),
        ]
        for name, own in [*sorted(groups.items()), ("all", figures.paths)]
    ]
    return table(["package", "files", "MB", "compile before", "changed in some mode"], rows)


def mode_table(figures):
    size = sum(figures.sizes.values()) / 1e6
    rows = [
        [
            name,
            len(mode["changed"]),
            mode["rows"].get("made", 0),
            mode["rows"].get("listed", 0),
            f"{mode['seconds']:.0f}",
            f"{size / mode['seconds'] / 2:.1f}",
            len(mode["wrong"]),
        ]
        for name, mode in figures.modes.items()
    ]
    return table(
        ["mode", "files changed", "places changed", "places listed", "seconds", "MB/s a thread", "broken"], rows
    )


def rule_table(figures):
    rows = []
    for rule in rules():
        made, listed = figures.files(rule["id"], "made"), figures.files(rule["id"], "listed")
        rows.append([f"`{rule['id']}`", len(made), len(listed), figures.met.get(rule["id"], "")])
    return table(["rule", "files it changed", "files it listed something in", "files with its example"], rows)


def summary(figures):
    rows = sum(mode["rows"].get("made", 0) for mode in figures.modes.values())
    changed = sum(len(mode["changed"]) for mode in figures.modes.values())
    return (
        f"corpus: {len(figures.paths)} files in {len(figures.modes)} modes, {changed} times a file changed, in {rows} "
        f"places, by {len(rules())} rules; {len(figures.all_wrong())} promises broken"
    )


def page(figures):
    text = (ROOT / "tests/migrate/corpus.md").read_text()
    parts = {"packages": package_table, "modes": mode_table, "rules": rule_table, "summary": summary}
    return text.format(**{name: made(figures) for name, made in parts.items()})


def kept(name, count, made=None):
    """The figures of a mode over so many files: `made`, which is kept, or those kept before, or none."""
    path = KEPT / str(count) / f"{name.replace(' ', '_')}.json"
    if made is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(made))
    return json.loads(path.read_text()) if path.is_file() else None


def measured(modes, root, paths, pool, work):
    good = pool.map(compiles, [root / path for path in paths], chunksize=50)
    compiled = {path for path, each in zip(paths, good, strict=True) if each}
    figures = Figures(paths, {path: (root / path).stat().st_size for path in paths}, compiled)
    print(f"{len(paths)} files, {len(compiled)} compile", flush=True)
    for name, *found in checked_modes(root, paths, modes, pool, work):
        made = kept(name, len(paths), figures_of(*found))
        print(f"{name}: {len(made['changed'])} changed, {made['seconds']:.0f} s, {len(made['wrong'])} broken")
        print(*made["wrong"][:30], sep="\n", flush=True)
    figures.modes = {name: kept(name, len(paths)) for name in MODES if kept(name, len(paths))}
    figures.met, figures.wrong = splice_all(figures.few(), paths, root, pool, work)
    return figures


def show(count, mode, root, paths, work):
    """Diffs of so many changed files, drawn at random, for the eye."""
    out = Path(work) / "shown"
    results, _ = migrate(root, paths, MODES[mode], out)
    changed = sorted(path for path, result in results.items() if result["changed"])
    for path in sorted(random.Random(11).sample(changed, min(count, len(changed)))):
        old, new = ((folder / path).read_text(errors="replace").splitlines() for folder in (root, out))
        print(*difflib.unified_diff(old, new, path, path, n=1, lineterm=""), sep="\n")
        for row in results[path]["rows"]:
            if row["report"]:
                print(f"! {row['line']}: {row['report']}: {row['message']} [{row['rule']}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", action="append", help="only this one; of the others, the figures of their last run")
    parser.add_argument("--files", type=int, help="a sample of so many files")
    parser.add_argument("--show", type=int, help="print diffs of so many files instead")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if PROBE is None:
        sys.exit("migrate_probe is not built: ninja -C build migrate_probe")
    modes = arguments.mode or list(MODES)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ProcessPoolExecutor(2) as pool:
        root = Path(work) / "files"
        paths = sorted(gathered([*packages(), ("official", official(ROOT / "build/corpus"))], root))
        if arguments.files:
            paths = sorted(random.Random(5).sample(paths, arguments.files))
        if arguments.show:
            return show(arguments.show, modes[0], root, paths, work)
        figures = measured(modes, root, paths, pool, work)
    if arguments.write:
        PAGE.write_text(page(figures))
    print("", package_table(figures), mode_table(figures), rule_table(figures), sep="\n\n")
    print("", *figures.all_wrong()[:200], summary(figures), sep="\n")
    return 1 if figures.all_wrong() else 0


if __name__ == "__main__":
    sys.exit(main())
