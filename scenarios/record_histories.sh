#!/usr/bin/env bash
# Records the shipped histories anew: one manifest a run under scenarios/*/history. Run it from the
# repository's root after ./dev build; it writes nothing elsewhere. Recording again replaces the history, so
# say why in the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/build/bin:$PATH
quantum=0.002785515320334262  # of an accuracy: one of the 359 test images
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone -q . "$clone"

# record NAME SEED COMMAND... -- OPTION...: records one run of the family NAME, in a clean clone.
record() {
  local name=$1 seed=$2 command=() run
  shift 2
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  shift
  run=$name-$(printf %02d "$seed")
  mkdir -p "scenarios/$name/history"
  (cd "$clone" && rharness --quiet record --out "$OLDPWD/scenarios/$name/history/$run.json" \
    --run-id "$run" --family "$name" --root . --data digits=scenarios/data/digits.csv \
    --weights model.safetensors --metrics metrics.json \
    --metric "test_accuracy,direction=higher,margin=0.03,primary,quantum=$quantum" \
    --metric test_loss,direction=lower,unit=nat,margin=0.1,primary \
    --metric train_loss,direction=lower,unit=nat \
    --seed "init=$seed" --seed "shuffle=$seed" --timeout 120 "$@" \
    -- "${command[@]}" --data scenarios/data/digits.csv --seed "$seed" >/dev/null)
  if [ -d "$clone/kept/$run" ]; then
    mkdir -p "scenarios/$name/weights"
    rm -rf "scenarios/$name/weights/$run"
    mv "$clone/kept/$run" "scenarios/$name/weights/"
  fi
}

only=${1:-}
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }
common=(scenarios/common/*.cc scenarios/common/*.h)
files() { printf -- '--code-file %s ' "$@"; }

if wanted digits_portable; then
  for seed in 1 2 3; do
    # shellcheck disable=SC2046
    record digits_portable "$seed" digits_portable -- --determinism bitwise --scope architecture \
      $(files "${common[@]}" scenarios/digits_portable/*.cc scenarios/digits_portable/*.h)
  done
fi
if wanted digits_blas; then
  for seed in $(seq 1 14); do
    # shellcheck disable=SC2046
    record digits_blas "$seed" digits_blas -- --determinism statistical \
      $(files "${common[@]}" scenarios/digits_blas/*.cc scenarios/digits_blas/*.h)
  done
fi
if wanted digits_torch; then
  for seed in $(seq 1 8); do
    record digits_torch "$seed" /usr/bin/python3 scenarios/digits_torch/train.py -- \
      --determinism statistical --flag torch.use_deterministic_algorithms=true \
      --code-file scenarios/digits_torch/train.py
  done
fi
