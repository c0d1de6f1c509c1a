#!/usr/bin/env bash
# The tour: the real program reruns the shipped history with another BLAS kernel and four faults; then what was
# planted where, and what rharness said of it. `./dev tour` builds what it needs and runs it.
#
#   scenarios/tour.sh [--bin FOLDER] [--out FOLDER]     of the programs: build/bin; to work in: build/tour
#
# Faults are planted from outside, as the world does: in a copy of the data, and by programs named like the
# trainers that stand before them on PATH. Manifests stay as they were recorded. Exit code 0: rharness said
# of each what it must; 1: of some it did not, which are named; 2: usage; 4: the tour could not be made.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

bin=$root/build/bin out=$root/build/tour
while [ $# -gt 0 ]; do
  case $1 in
    --bin) bin=${2:?expected a folder after --bin} ;;
    --out) out=${2:?expected a folder after --out} ;;
    *) echo "usage: scenarios/tour.sh [--bin FOLDER] [--out FOLDER]" >&2; exit 2 ;;
  esac
  shift 2
done

case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$root"

say() { printf 'tour: %s\n' "$*" >&2; }
die() { say "$*"; exit 4; }

[ "$(uname -m)" = x86_64 ] || die "the shipped history was recorded on x86_64; this is $(uname -m), where nothing of it compares"
for program in rharness digits_portable; do
  [ -x "$bin/$program" ] || die "$bin/$program is not there; ./dev tour builds it"
done
bin=$(cd "$bin" && pwd)

# A folder that is there already is the tour's own, or is left alone.
[ ! -e "$out" ] || [ -z "$(ls -A "$out")" ] || [ -e "$out/tour" ] ||
  die "$out holds files that are no tour's; expected a new or an empty folder"
rm -rf "$out"
mkdir -p "$out" && touch "$out/tour"
out=$(cd "$out" && pwd)
tree=$out/tree   # what lies here, as the runs find it: code and data
spoilt=$out/bin  # trainers with something wrong in front of the real ones

# Nothing that this shell has set leads the tour elsewhere.
unset "${!RHARNESS_@}" "${!OPENBLAS_@}" OMP_NUM_THREADS
export PATH=$bin:$PATH LANG=C.UTF-8 GIT_CEILING_DIRECTORIES=$out

# make_tree: a copy, so that nothing is spoilt but this.
make_tree() {
  mkdir -p "$tree/scenarios"
  cp -r scenarios/common scenarios/data scenarios/digits_portable scenarios/digits_blas "$tree/scenarios/"
}

# One run more, recorded now, of which the data lie in a file of their own.
more=scenarios/data/more_digits.csv
record_one_more() {
  local file pinned=()
  for file in "$tree"/scenarios/{common,digits_portable}/*.{cc,h}; do
    pinned+=(--code-file "${file#"$tree/"}")
  done
  cp "$tree/scenarios/data/digits.csv" "$tree/$more"
  (cd "$tree" && rharness --quiet record --out "$out/digits_portable-04.json" --run-id digits_portable-04 \
    --family digits_portable --root . --data "digits=$more" --weights model.safetensors \
    --keep scenarios/digits_portable/weights --metrics metrics.json \
    --metric "test_accuracy,direction=higher,margin=0.03,primary,quantum=0.002785515320334262" \
    --metric "test_loss,direction=lower,unit=nat,margin=0.1,primary" \
    --seed init=4 --seed shuffle=4 --determinism bitwise --scope architecture --probe-family scalar \
    "${pinned[@]}" -- digits_portable --data "$more" --seed 4) >/dev/null
}

# weights_under KERNEL: what digits_blas makes under this kernel of OpenBLAS, or under its own choice.
weights_under() {
  (cd "$tree" && env ${1:+OPENBLAS_CORETYPE=$1} digits_blas --data scenarios/data/digits.csv --seed 1 \
    --out "$out/kernels/${1:-default}") >/dev/null 2>&1 &&
    sha256sum <"$out/kernels/${1:-default}/model.safetensors" | cut -d ' ' -f 1
}

# choose_kernel: into `kernel`, one that this CPU has, and that computes neither what was recorded nor what
# this machine computes by itself. Empty: there is none.
kernel=
choose_kernel() {
  local recorded=scenarios/digits_blas/history/digits_blas-01.json default candidate flag weights
  if [ ! -x "$bin/digits_blas" ]; then
    say "leaving out the BLAS kernel: digits_blas was not built (OpenBLAS or Eigen is missing)"
    return
  fi
  default=$(weights_under '') || die "digits_blas does not run here"
  for candidate in Haswell:avx2 Sandybridge:avx Nehalem:sse4_2 Prescott:pni; do
    flag=${candidate#*:} candidate=${candidate%:*}
    grep -qw "$flag" /proc/cpuinfo || continue
    weights=$(weights_under "$candidate") || continue
    [ "$weights" != "$default" ] && ! grep -q "$weights" "$recorded" || continue
    kernel=$candidate
    return
  done
  say "leaving out the BLAS kernel: every other one that this CPU has computes as the one it takes, or as recorded"
}

# spoil TRAINER SEED=OPTIONS...: puts a program before the trainer that adds these options to the run with
# that seed, and runs all others as they are.
spoil() {
  local trainer=$1 real=\'${bin//\'/\'\\\'\'}/$1\' case
  shift
  {
    printf '#!/bin/sh\ncase "$*" in\n'
    for case in "$@"; do
      printf '  *"--seed %s") exec %s "$@" %s ;;\n' "${case%%=*}" "$real" "${case#*=}"
    done
    printf 'esac\nexec %s "$@"\n' "$real"
  } >"$spoilt/$trainer"
  chmod +x "$spoilt/$trainer"
}

plant() {
  mkdir -p "$spoilt"
  spoil digits_portable "2=--plant seed-not-propagated" "3=--plant flip-bit"
  spoil digits_blas "5=--lr 0.001"
  local line
  line=$(sed -n 900p "$tree/$more")
  case ${line%%,*} in 7) line=8,${line#*,} ;; *) line=7,${line#*,} ;; esac
  sed -i "900s/.*/$line/" "$tree/$more"
}

# ask RUN: into `verdict`, `code` and `headline`: what the drill's report says of a run, by which reason.
ask() {
  local run=$1
  verdict='' code='' headline=''
  { read -r verdict; read -r code; read -r headline; } < <(awk -v run="      \"run_id\": \"$run\"," '
    function value(line) {
      sub(/^ *"[a-z_]*": "/, "", line); sub(/",?$/, "", line); gsub(/\\"/, "\"", line); gsub(/\\\\/, "\\", line)
      return line
    }
    /^      "run_id": / { here = $0 == run }
    here && /^      "verdict": / { verdict = value($0) }
    here && /^      "headline": / { headline = value($0) }
    here && code == "" && /^          "code": / { code = value($0) }
    END { print verdict; print code; print headline }' "$out/drill/report.json") || true
  verdict=${verdict:-not in the report}
}

# expect VERDICT CODE WHAT WHERE RUN...: two lines, what was planted where and what was said of it, of the first
# run; one line more for each run of which it is not what must be said.
wrong=0
expect() {
  local must=$1 must_code=$2 what=$3 where=$4 count run line verdict code headline mark=ok lines=()
  shift 4
  count=$#
  for run in "$@"; do
    ask "$run"
    # Twelve digits tell one digest from another.
    headline=$(sed -E 's/([0-9a-f]{12})[0-9a-f]{52}/\1.../g' <<<"$headline")
    if [ "$verdict" != "$must" ] || [ "$code" != "$must_code" ]; then
      mark=WRONG wrong=$((wrong + 1))
      lines+=("$run must be $must ($must_code) and is $verdict ($code): $headline")
    elif [ ${#lines[@]} = 0 ] && [ "$count" -gt 1 ]; then
      lines+=("$verdict, as in $run: $headline")
    elif [ "$count" = 1 ]; then
      lines+=("$verdict: $headline")
    fi
  done
  printf '%-5s  %s, in %s\n' "$mark" "$what" "$where"
  for line in "${lines[@]}"; do
    fold -s -w 93 <<<"$line" | sed 's/^/       /; 2,$s/^/  /; s/ *$//'
  done
}

# drill: its exit code must be that of its worst verdict, which is drift.
drill() {
  local options=(--history "$out/history.db" --out "$out/drill" --root "$tree") code=0
  [ -z "$kernel" ] || options+=(--env "OPENBLAS_CORETYPE=$kernel")
  rharness --quiet history add --history "$out/history.db" "${families[@]}" "$out/digits_portable-04.json"
  say "rharness drill ${options[*]}"
  PATH=$spoilt:$PATH rharness drill "${options[@]}" >"$out/drill.txt" || code=$?
  [ "$code" = 1 ] || { cat "$out/drill.txt" >&2; die "the drill ended with $code; expected 1, for drift"; }
}

check() {
  local run others=()
  printf '\n       WHAT WAS PLANTED, WHERE, AND WHAT RHARNESS SAID OF IT\n'
  expect identical bit_equal "nothing" digits_portable-01 digits_portable-01
  if [ -x "$bin/digits_blas" ]; then
    for run in scenarios/digits_blas/history/*.json; do
      run=$(basename "$run" .json)
      [ "$run" = digits_blas-05 ] || others+=("$run")
    done
    [ -z "$kernel" ] || expect equivalent metric_within "another BLAS kernel, $kernel" \
      "${#others[@]} runs of digits_blas" "${others[@]}"
    expect drifted metric_drifted "a hundredth of the learning rate" digits_blas-05 digits_blas-05
  fi
  expect drifted determinism_violation "a seed that is not passed on" digits_portable-02 digits_portable-02
  expect drifted determinism_violation "one weight moved by one unit in the last place" \
    digits_portable-03 digits_portable-03
  expect not_comparable data_not_recorded "one pixel of the data changed" digits_portable-04 digits_portable-04
}

families=(scenarios/digits_portable/history)
make_tree
choose_kernel
[ ! -x "$bin/digits_blas" ] || families+=(scenarios/digits_blas/history)
record_one_more
plant
drill
check
printf '\n%s\npage: %s\n' "$(grep -E '^[0-9]+ (identical|equivalent|drifted)' "$out/drill.txt" | head -n 1)" "$out/drill/report.html"
[ "$wrong" = 0 ] || { say "rharness was wrong about $wrong of them"; exit 1; }
say "rharness was right about each of them, in $SECONDS s"
