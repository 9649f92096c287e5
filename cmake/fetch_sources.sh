#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_sources.sh FOLDER PACKAGE==VERSION…: unpacks the source archives of these PyPI packages into the folder, with the
# first Python that has pip: $PYTHON, that of $VIRTUAL_ENV, python3.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder"
# Inside an isolated build of pip, PYTHONPATH hides the pip of the environment it was started from.
unset PYTHONPATH
for python in ${PYTHON:+"$PYTHON"} ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python3"} python3; do
  "$python" -m pip --version >/dev/null 2>&1 && break
done
"$python" -m pip download -q --no-cache-dir --disable-pip-version-check --no-deps --no-binary :all: -d "$folder" "$@"
for archive in "$folder"/*.tar.gz; do tar -xzf "$archive" -C "$folder" && rm "$archive"; done
