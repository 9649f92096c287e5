#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh GROUP…: makes this clone able to build and test. Installs the missing Debian packages of
# cmake/debian-packages.txt, makes .venv and installs the pinned groups of pyproject.toml there. Nothing is written
# outside the clone but the Debian packages; a second run with the same pins ends at once.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package kind _; do
  case "$package" in '' | '#'*) continue ;; esac
  [[ " build test $* " == *" $kind "* ]] || continue
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done < cmake/debian-packages.txt
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing the Debian packages ${missing[*]}"
  become=()
  [ "$(id -u)" = 0 ] || become=(sudo)
  # In one shell, so that sudo asks for its password at most once.
  if ! command -v "${become[0]:-apt-get}" >/dev/null || ! "${become[@]}" sh -c '
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@" >/dev/null' setup "${missing[@]}"; then
    echo "setup: AnyNPU needs these Debian packages; as root: apt-get update && apt-get install -y ${missing[*]}" >&2
    exit 1
  fi
fi

python=.venv/bin/python
[ -x "$python" ] || { echo "setup: making .venv"; "${PYTHON:-python3}" -m venv .venv; }
sources=$("$python" cmake/requirements.py source)
if [ "$(cat .venv/src/.unpacked 2>/dev/null)" != "$sources" ]; then
  echo "setup: unpacking" $sources
  # shellcheck disable=SC2086 # one requirement a word
  VIRTUAL_ENV=$PWD/.venv cmake/fetch_sources.sh .venv/src $sources
  echo "$sources" > .venv/src/.unpacked
fi
for group in "$@"; do
  wanted=$("$python" cmake/requirements.py "$group")
  [ -z "$wanted" ] && continue
  stamp=.venv/.installed-$group
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && continue
  echo "setup: installing" $wanted
  # In order, one at a time for the pinned frameworks: a package that asks for any torch must find the pinned one.
  while read -r first; do
    case "$first" in torch=*) "$python" -m pip install -q --no-cache-dir --disable-pip-version-check "$first" ;; esac
  done <<< "$wanted"
  # shellcheck disable=SC2086 # one requirement a word
  "$python" -m pip install -q --no-cache-dir --disable-pip-version-check $wanted
  echo "$wanted" > "$stamp"
done
