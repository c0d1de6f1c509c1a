#!/usr/bin/env bash
# Records the shipped histories anew: one manifest a run under scenarios/NAME/history, and the kept weights
# of digits_portable. Run it from anywhere after ./dev build, with everything committed; name a scenario to
# record that one alone. It writes nothing elsewhere. Recording again replaces the history, so say why in
# the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD
only=${1:-}

if ! git diff --quiet HEAD -- scenarios ':!scenarios/*/history' ':!scenarios/*/weights'; then
  echo "$0: commit the changes below scenarios first: a history names the commit of its code" >&2
  exit 2
fi

# Runs work in a clone without the old histories, so that its tree is clean and no path of this machine is
# recorded; their environment is empty, so that no variable of this shell is either.
if ! [ -x build/bin/rharness ] || ! [ -x build/bin/digits_portable ]; then
  echo "$0: build/bin is not there; run ./dev build first" >&2
  exit 2
fi
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone -q --no-checkout . "$clone"
git -C "$clone" sparse-checkout set --no-cone '/*' '!/scenarios/*/history' '!/scenarios/*/weights'
git -C "$clone" checkout -q
clean=(env -i "PATH=$here/build/bin:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8)

# The margins are seven and six standard deviations over seeds; a test image more is one quantum.
common=(--root . --data digits=scenarios/data/digits.csv --weights model.safetensors
  --metrics metrics.json
  --metric "test_accuracy,direction=higher,margin=0.03,primary,quantum=0.002785515320334262"
  --metric "test_loss,direction=lower,unit=nat,margin=0.1,primary"
  --metric "train_loss,direction=lower,unit=nat"
  --hyper epochs=15 --hyper batch=32 --hyper hidden=64 --hyper learning_rate=0.1
  --hyper momentum=0.9 --timeout 120s)

# record NAME SEED OPTION... -- COMMAND...: records one run of the family NAME.
record() {
  local name=$1 seed=$2 run
  shift 2
  run=$name-$(printf %02d "$seed")
  (cd "$clone" && "${clean[@]}" rharness --quiet record --out "$here/scenarios/$name/history/$run.json" \
    --run-id "$run" --family "$name" "${common[@]}" --seed "init=$seed" --seed "shuffle=$seed" \
    "$@" --data scenarios/data/digits.csv --seed "$seed" >/dev/null)
  if [ -d "$clone/scenarios/$name/weights" ]; then
    mkdir -p "scenarios/$name/weights"
    mv "$clone/scenarios/$name/weights/$run" "scenarios/$name/weights/"
  fi
}

# begin NAME: empties its history; fails when another scenario was asked for.
begin() {
  [ -z "$only" ] || [ "$only" = "$1" ] || return 1
  rm -rf "scenarios/$1/history" "scenarios/$1/weights"
}

# code_of FOLDER...: the options that pin a C++ trainer's sources; into the array `code`.
code_of() {
  local file
  code=()
  while read -r file; do code+=(--code-file "$file"); done < <(git ls-files "${@/%//*.cc}" "${@/%//*.h}")
}

if begin digits_portable; then
  code_of scenarios/common scenarios/digits_portable
  for seed in $(seq 1 3); do
    record digits_portable "$seed" --determinism bitwise --scope architecture \
      --probe-family scalar \
      --keep scenarios/digits_portable/weights "${code[@]}" -- digits_portable
  done
fi
if begin digits_blas; then
  code_of scenarios/common scenarios/digits_blas
  for seed in $(seq 1 14); do
    record digits_blas "$seed" --determinism statistical --probe-family gemm \
      --probe-family math "${code[@]}" -- digits_blas
  done
fi
if begin digits_torch; then
  for seed in $(seq 1 8); do
    record digits_torch "$seed" --determinism statistical \
      --flag torch.use_deterministic_algorithms=true --probe-family gemm --probe-family math \
      --probe-family reduction \
      --code-file scenarios/digits_torch/train.py -- /usr/bin/python3 scenarios/digits_torch/train.py
  done
fi
"${clean[@]}" rharness check scenarios/*/history/*.json
