# SPDX-License-Identifier: Apache-2.0
"""Where a wheel is installed and used: an environment of this Python, or of Debian 13's, which is CPython 3.13."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIRROR = "http://deb.debian.org/debian"


class Here:
    """A virtual environment, there while the `with` lasts."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.make()
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def make(self):
        subprocess.run([sys.executable, "-m", "venv", self.folder], check=True)

    def python(self, *arguments, **options):
        return subprocess.run([self.folder / "bin/python", *arguments], **options)


class Debian13(Here):
    """A root made by debootstrap, in which this checkout lies at its place. Only root can make and enter one."""

    # Mounts of its own, which end with the command. Names and certificates are this machine's, for pip.
    ENTER = """
        mount -t proc proc "$0/proc"
        mount --bind /etc/resolv.conf "$0/etc/resolv.conf"
        mount --bind /etc/ssl/certs "$0/etc/ssl/certs"
        mount --bind "$PWD" "$0$PWD"
        exec chroot "$0" "$@"
    """

    def make(self):
        assert os.geteuid() == 0, "making a root of Debian 13 takes the rights of root"
        packages = "--include=python3,python3-venv,ca-certificates"
        command = ["debootstrap", "--variant=minbase", packages, "trixie", self.folder, MIRROR]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (self.folder / "etc/resolv.conf").touch()
        (self.folder / ROOT.relative_to("/")).mkdir(parents=True)
        self.enter("python3", "-m", "venv", "/opt/venv", check=True)

    def enter(self, *command, **options):
        return subprocess.run(["unshare", "-m", "sh", "-ec", self.ENTER, self.folder, *command], cwd=ROOT, **options)

    def python(self, *arguments, **options):
        return self.enter("/opt/venv/bin/python", *arguments, **options)
