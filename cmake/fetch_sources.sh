#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_sources.sh FOLDER PACKAGE==VERSION…: unpacks the source archives of these PyPI packages into the folder.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder"
python=${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/}python3
"$python" -m pip download -q --no-cache-dir --disable-pip-version-check --no-deps --no-binary :all: -d "$folder" "$@"
for archive in "$folder"/*.tar.gz; do tar -xzf "$archive" -C "$folder" && rm "$archive"; done
