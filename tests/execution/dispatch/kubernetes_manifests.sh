#!/usr/bin/env bash
# Holds manifests to published schemas, in a private Python environment: those of scenarios/ci/kubernetes, and
# the Jobs that rharness makes (JOBS/*.json).
#   kubernetes_manifests.sh JOBS
set -euo pipefail
jobs=$(realpath "${1:?a folder of Jobs}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
if ! "$place/venv/bin/pip" --quiet install 'kubernetes-validate>=1.30' 'hera>=5' >"$place/log" 2>&1; then
  echo "kubernetes_manifests.sh: skipped: PyPI has not given kubernetes-validate and hera: $(tail -n 1 "$place/log")" >&2
  exit 0
fi
"$place/venv/bin/python" tests/execution/dispatch/kubernetes_manifests.py "$jobs"
