# SPDX-License-Identifier: Apache-2.0
"""Shows what processes on the NPU logged, in the order of time: all, of the last one (--last), of one (--pid), only
errors (--errors), as JSON. `logs export -o DIR` copies the files for somebody else to read. docs/logs.md tells more."""

import json
import shutil
import sys
import time
from pathlib import Path

from anynpu.output import plog

PAUSE = 0.2  # seconds between two looks at files that grow


def add_arguments(parser):
    parser.add_argument("what", nargs="?", choices=["show", "export"], default="show")
    parser.add_argument("--last", action="store_true", help="only the process that began to log last")
    parser.add_argument("--pid", type=int, help="only this process")
    parser.add_argument("--errors", action="store_true", help="only errors")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--follow", action="store_true", help="go on with what is logged from now on, until interrupted"
    )
    parser.add_argument("-o", dest="output", type=Path, default=Path("."), help="export: the folder of the copy")


def chosen(options):
    files = plog.files(plog.root())
    pid = options.pid
    if options.last and files:
        first = {}
        for file in files:
            first.setdefault(file.pid, file.time)
        pid = max(first, key=first.get)
    return [file for file in files if pid in (None, file.pid)]


def shown(text, options):
    found = plog.HEAD.match(text)
    if options.errors and not (found and found["level"] == "ERROR"):
        return None
    if not options.json:
        return text
    fields = found.groupdict() if found else {"text": text}
    return json.dumps({name: int(v) if name in ("pid", "line") else v for name, v in fields.items()})


def show(lines, options):
    for text in lines:
        if (line := shown(text, options)) is not None:
            print(line, flush=options.follow)


def follow(options):
    """What files grow by, in turns; rows of one line arrive together, and an error, which stands in two files, once."""
    seen, before = {file.path: file.path.stat().st_size for file in chosen(options)}, {}
    while True:
        time.sleep(PAUSE)
        fresh = []
        for file in chosen(options):
            grown = plog.read(file.path, seen.get(file.path, 0), -1)
            whole = grown[: grown.rfind(b"\n") + 1]
            seen[file.path] = seen.get(file.path, 0) + len(whole)
            fresh += plog.records(whole.decode(errors="replace").splitlines(keepends=True), file.kind)
        now = dict.fromkeys(text for _, _, text in sorted(fresh))
        show((text for text in now if text not in before), options)
        before = now


def export(files, folder):
    """DIR/{time}/slog has the files in their folders, message/errors.txt the errors of all. Returns the folder."""
    target = folder / time.strftime("%Y-%m-%d-%H-%M-%S")
    (target / "message").mkdir(parents=True)
    for file in files:
        place = target / "slog" / file.kind / file.side
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file.path, place)
    with (target / "message" / "errors.txt").open("w", encoding="utf-8") as out:
        out.writelines(f"{text}\n" for text in plog.merged(files) if text.startswith("[ERROR]"))
    return target


def execute(options):
    files = chosen(options)
    if not files and (not options.follow or options.what == "export"):
        of = f" of process {options.pid}" if options.pid is not None else ""
        print(f"anynpu logs: there is no log{of} in {plog.root()}; processes write one for errors, and for more with "
              "ASCEND_GLOBAL_LOG_LEVEL=1", file=sys.stderr)  # fmt: skip
        return 1
    if options.what == "export":
        print(f"{len(files)} log files are in {export(files, options.output)}")
        return 0
    if not options.follow:
        show(plog.merged(files), options)
        return 0
    try:
        return follow(options)
    except KeyboardInterrupt:
        return 0
