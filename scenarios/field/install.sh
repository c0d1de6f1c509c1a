#!/usr/bin/env bash
# Private environments for the scenarios, from PyPI, each once: torch, jax-before, jax-after, tables-before and
# tables-after, of the versions in requirements-*.txt. What cannot be installed is told, and its scenarios are
# then skipped.
#
#   scenarios/field/install.sh FOLDER
#
# PyTorch comes from its index of wheels for CPUs (200 MB) where that can be reached, else from PyPI, whose
# wheels for x86-64 bring CUDA along (5.4 GB installed); RHARNESS_FIELD_TORCH=none leaves it out. pip's own
# variables (PIP_INDEX_URL and others) are heeded. Exit code 2: usage; else 0.
set -euo pipefail
[ $# = 1 ] || { echo "usage: scenarios/field/install.sh FOLDER" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
say() { printf 'scenarios: %s\n' "$*" >&2; }

# environment NAME: one that is whole has a copy of its requirements, written last.
environment() {
  local name=$1 wanted=$here/requirements-$1.txt venv=$folder/$1 options=() log=$folder/$1.log
  ! cmp -s "$wanted" "$venv/installed" || return 0
  if [ "$name" = torch ]; then
    [ "${RHARNESS_FIELD_TORCH:-}" != none ] || { say "leaving out PyTorch, as RHARNESS_FIELD_TORCH says"; return 0; }
    if curl -fsSI --max-time 15 https://download.pytorch.org/whl/cpu/ >/dev/null 2>&1; then
      options=(--index-url https://download.pytorch.org/whl/cpu --extra-index-url https://pypi.org/simple)
    else
      say "download.pytorch.org cannot be reached; PyTorch comes from PyPI with CUDA, 5.4 GB"
    fi
  fi
  say "installing $(grep -v '^#' "$wanted" | tr '\n' ' ')into $venv"
  rm -rf "$venv"
  if ! { python3 -m venv "$venv" &&
         "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "${options[@]}" -r "$wanted" &&
         cp "$wanted" "$venv/installed"; } >"$log" 2>&1; then
    tail -n 4 "$log" >&2
    say "$name could not be installed (whole log: $log)"
    rm -rf "$venv"
  fi
}

for name in torch jax-before jax-after tables-before tables-after; do environment "$name"; done
