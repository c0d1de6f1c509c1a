#!/bin/sh
# A user's first walk, with rharness on the PATH and nothing else of ours: record, keep, drill, report.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "walk: user $(id -u) runs $(command -v rharness)"
rharness version | head -n 2
cat >train.sh <<'EOT'
read -r value <value
printf '{"metrics": {"accuracy": %s}}' "$value" >metrics.json
EOT
echo 0.75 >value
rharness --quiet record --out runs/a.json --family tiny --root . --code-file train.sh --data value \
  --metrics metrics.json --metric accuracy,direction=higher,margin=0.01,primary --seed init=1 \
  -- sh train.sh
rharness check runs/a.json
rharness history add --history runs.db runs
rharness drill --history runs.db --out first
test -s first/report.html
# What the trainer reads has changed: the drill must not be fine with that.
echo 0.5 >value
code=0
rharness drill --history runs.db --out second >/dev/null 2>&1 || code=$?
if [ "$code" = 0 ]; then
  echo "walk: the changed data went unnoticed" >&2
  exit 1
fi
rharness report second --junit junit.xml
rharness hash runs/a.json >/dev/null
rharness probe list | head -n 1
rharness help select | head -n 1
echo "walk: done"
