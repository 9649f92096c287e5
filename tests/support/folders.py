# SPDX-License-Identifier: Apache-2.0
"""pytest over several folders of tests: a process for each, one after the other.

What one folder's tests load (TensorFlow, or torch with its NPU plug-in, or without it) must not be there in the next
one's process. The root conftest.py passes a run that names several folders, or a folder above them, to `run`. Options
are the same for each, so one that names a file to write writes it anew each time.
"""

import subprocess
import sys

import pytest

WITHOUT_TESTS = ("help", "version", "markers")  # options with which pytest collects nothing


def holding(root, above, patterns):
    """Folders of tests, two levels below `root`, below or at `above`."""
    files = (file for pattern in patterns for file in above.rglob(pattern))
    return sorted({root.joinpath(*file.relative_to(root).parts[:2]) for file in files})


def by_folder(config):
    """{folder: words of the command line that lie in it}."""
    found, patterns = {}, config.getini("python_files")
    for word in config.args:
        path = (config.invocation_params.dir / word.split("::")[0]).resolve()
        if not path.is_relative_to(config.rootpath):
            return {}
        if len(path.relative_to(config.rootpath).parts) >= 2:
            found.setdefault(config.rootpath.joinpath(*path.relative_to(config.rootpath).parts[:2]), []).append(word)
            continue
        tops = [path] if path != config.rootpath else [path / name for name in config.getini("testpaths")]
        for folder in (folder for top in tops for folder in holding(config.rootpath, top, patterns)):
            found.setdefault(folder, []).append(str(folder))
    return found


def options_of(config):
    """The command line without the files and folders that it names."""
    words = list(config.invocation_params.args)
    for word in reversed(config.option.file_or_dir):
        del words[len(words) - 1 - words[::-1].index(word)]
    return words


def run(config):
    """pytest's exit status over all folders; None where one process serves."""
    parts = by_folder(config)
    if len(parts) < 2 or any(getattr(config.option, name, None) for name in WITHOUT_TESTS):
        return None
    status, options = pytest.ExitCode.NO_TESTS_COLLECTED, options_of(config)
    for folder, words in parts.items():
        print(f"== {folder.relative_to(config.rootpath)}", flush=True)
        command = [sys.executable, "-m", "pytest", *options, *words]
        ended = subprocess.run(command, cwd=config.invocation_params.dir).returncode
        if ended == pytest.ExitCode.INTERRUPTED:
            return ended
        good = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        status = ended if good and ended != pytest.ExitCode.NO_TESTS_COLLECTED else status
        if config.option.maxfail and status == pytest.ExitCode.TESTS_FAILED:
            return status
    return status
