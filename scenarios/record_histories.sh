#!/usr/bin/env bash
# Records the shipped histories anew: one manifest a run under scenarios/*/history. Run it from the
# repository's root after ./dev build; it writes nothing elsewhere. Recording again replaces the history, so
# say why in the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
export PATH=$root/build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# record NAME SEED COMMAND... -- OPTION...: records one run of the family NAME.
record() {
  local name=$1 seed=$2
  shift 2
  local command=()
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  shift
  local folder=$work/$name-$seed history=scenarios/$name/history
  mkdir -p "$folder" "$history"
  ln -s "$root/scenarios" "$folder/scenarios"
  (cd "$folder" && rharness record --out "$root/$history/$name-$(printf %02d "$seed").json" \
    --run-id "$name-$(printf %02d "$seed")" --family "$name" \
    --repository . --data digits=scenarios/data/digits.csv \
    --weights model.safetensors --metrics metrics.json \
    --metric test_accuracy,direction=higher,unit=1,margin=0.03,primary,quantum=0.0027855153203342618 \
    --metric test_loss,direction=lower,unit=nat,margin=0.1,primary \
    --metric train_loss,direction=lower,unit=nat \
    --seed "all=$seed" --rng all "$@" -- "${command[@]}" --data scenarios/data/digits.csv --seed "$seed")
}

only=${1:-}
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }
common=(scenarios/common/*.cc scenarios/common/*.h)
files() { printf -- '--code-file %s ' "$@"; }

if wanted digits_portable; then
  for seed in 1 2 3; do
    # shellcheck disable=SC2046
    record digits_portable "$seed" digits_portable -- --determinism bitwise --scope architecture \
      --keep "$root/scenarios/digits_portable/history/weights-$(printf %02d "$seed")" \
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
