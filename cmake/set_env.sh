# SPDX-License-Identifier: Apache-2.0
# Sourced as the set_env.sh of a toolkit: what `anynpu env` prints, of the anynpu in PATH.
if command -v anynpu >/dev/null 2>&1; then
  eval "$(anynpu env)"
else
  echo "set_env.sh: anynpu is not in PATH; activate the Python environment that AnyNPU is installed in" >&2
fi
