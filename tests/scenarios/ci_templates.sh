#!/usr/bin/env bash
# Holds each template of scenarios/ci to its own system's tool, and shows of each tool that it would refuse a
# mistake. A line a template: ok, skipped (why), or FAILED. What Kubernetes says of its templates:
# tests/execution/dispatch/kubernetes_manifests.sh.
#   ci_templates.sh VENV     a folder for a Python environment with check-jsonschema, which is made where it lacks
set -euo pipefail
venv=$(realpath -m "${1:?a folder for a Python environment}")
templates=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scenarios/ci")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
failed=0

skip() { printf 'skipped %s: %s\n' "$1" "$2"; }

# hold TEMPLATE MISTAKE COMMAND...: the command is given the template, which it must take without a word, and a
# copy that sed's MISTAKE has changed, which it must not.
hold() {
  local template=$1 mistake=$2 said wrong=$place/wrong/$1
  shift 2
  if said=$("$@" "$templates/$template" 2>&1) && [ -z "$said" ]; then
    mkdir -p "$(dirname "$wrong")"
    sed "$mistake" "$templates/$template" >"$wrong"
    if cmp -s "$wrong" "$templates/$template"; then
      said="the mistake '$mistake' changes nothing"
    elif said=$("$@" "$wrong" 2>&1) && [ -z "$said" ]; then
      said="$1 takes a copy with a mistake, too ($mistake)"
    else
      printf 'ok      %s: %s\n' "$template" "$(basename "$1")"
      return
    fi
  fi
  printf 'FAILED  %s: %s\n' "$template" "$said"
  failed=1
}

# What systemd says is no error to it: any word is one here. Manual pages are there once rharness is installed.
systemd() { systemd-analyze --man=no verify "$1"; }
# It says that all is well, too.
crontab_check() { local said; said=$(crontab -n "$1" 2>&1) || { printf '%s\n' "$said"; return 1; }; }
schema() { "$venv/bin/check-jsonschema" --quiet --builtin-schema "vendor.$1" "$2"; }
yaml() {
  yamllint --strict -d '{extends: default, rules: {line-length: {max: 150}, document-start: disable,
    truthy: {check-keys: false}, braces: {max-spaces-inside: 0}}}' "$1"
}

if command -v systemd-analyze >/dev/null; then
  hold rharness-drill.service 's/^TimeoutStopSec=/TimeoutStopSecs=/' systemd
  # The unit that a timer starts must lie beside it.
  mkdir -p "$place/wrong" && cp "$templates/rharness-drill.service" "$place/wrong/"
  hold rharness-drill.timer 's/02:00:00/26:00:00/' systemd
  hold rharness-gameday.service 's/^KillMode=/KillsMode=/' systemd
  cp "$templates/rharness-gameday.service" "$place/wrong/"
  hold rharness-gameday.timer 's/Sun /Sol /' systemd
else
  skip 'rharness-drill.service, rharness-gameday.service' 'no systemd-analyze (apt install systemd)'
fi
if { crontab -h 2>&1 || true; } | grep -q 'dry run'; then
  hold crontab 's/^0 2 /0 25 /' crontab_check
else
  skip crontab 'no crontab that knows -n, a dry run (apt install cron)'
fi
if command -v yamllint >/dev/null; then
  for file in gitlab-ci.yml github-workflow.yml policy.yaml kubernetes/cronjob.yaml kubernetes/pod-template.yaml \
    kubernetes/rights.yaml kubernetes/workflow-template.yaml; do
    hold "$file" '1i twice: 1\ntwice: 2' yaml
  done
else
  skip '*.yaml' 'no yamllint (apt install yamllint)'
fi
if [ ! -x "$venv/bin/check-jsonschema" ]; then
  rm -rf "$venv"
  { python3 -m venv "$venv" && timeout 120 "$venv/bin/pip" --quiet install 'check-jsonschema>=0.29'; } \
    >"$place/log" 2>&1 || true
fi
if [ -x "$venv/bin/check-jsonschema" ]; then
  hold gitlab-ci.yml 's/exit_codes: \[3\]/exit_codes: [drift]/' schema gitlab-ci
  hold github-workflow.yml 's/runs-on:/run-on:/' schema github-workflows
else
  skip 'gitlab-ci.yml, github-workflow.yml' "PyPI has not given check-jsonschema: $(tail -n 1 "$place/log")"
fi
skip Jenkinsfile 'its linter is a Jenkins server'
exit "$failed"
