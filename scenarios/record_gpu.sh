#!/usr/bin/env bash
# What a machine with a GPU can show, in one command: records histories of digits_cnn_cuda, drills them as
# recorded and under each switch, takes the catalogue of probes, times a step, and runs the sanitizers.
# `record_gpu.sh --help` lists the steps. Run it after ./dev build. Each step has a time limit; one that
# fails is written down and the rest goes on.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=$root/build/gpu
bin=$root/build/bin
budget=570
only=
step=
device=cuda:0
extra=()

# NAME LIMIT_SECONDS WHAT, in the order in which they run when time is short.
steps() {
  cat <<'EOT'
machine 15 driver, libraries, GPUs and tools of this machine
agreement 40 the first step of the GPU against the CPU in double precision, by tensor
record 90 histories: deterministic with 3 seeds, each switch with 2; bitwise where equal runs must be equal
drill 240 every recorded run rerun as it was recorded: twice, or six times where it is statistical
switches 90 the deterministic run rerun under each switch: a table of verdicts
timings 60 seconds a step: deterministic, each switch, and the floor
probes 200 all probes on the GPU twice, compared; once more beside a second process
sanitizers 90 memcheck, racecheck, initcheck and synccheck of the trainer
torch 60 the PyTorch trainer on the GPU, deterministic and not
EOT
}

usage() {
  cat <<EOT
usage: $0 [--out DIR] [--bin DIR] [--only STEP] [--budget SECONDS] [--device cuda:N] [-- OPTION...]

  --out DIR     everything is written below it (default build/gpu); histories go to
                DIR/scenarios/NAME/history, to be copied over the tree's when they are to be shipped
  --bin DIR     where rharness, rharness-probe and digits_cnn_cuda are (default build/bin)
  --only STEP   one step alone; the summary keeps what earlier calls have left in DIR
  --budget N    seconds for all steps together (default 570)
  --device D    the GPU that the probes run on (default cuda:0)
  -- OPTION...  more options for every run of the trainer, such as --channels 64

Exit codes: 0 every step done; 1 a step failed or was cut short; 2 usage; 3 no GPU here.
Steps, each with its limit in seconds:
$(steps | sed 's/^/  /')
EOT
}

die() { printf '%s: %s\n' "$0" "$1" >&2; exit "$2"; }

parse() {
  while [ $# -gt 0 ]; do
    case $1 in
      --help|-h) usage; exit 0 ;;
      --) shift; extra=("$@"); return ;;
      --out|--bin|--only|--budget|--device|--step)
        [ $# -gt 1 ] || die "$1: expected a value" 2
        printf -v "${1#--}" %s "$2"
        shift 2 ;;
      *) die "unknown option '$1'; --help lists them" 2 ;;
    esac
  done
}

has_gpu() {
  if command -v nvidia-smi >/dev/null; then nvidia-smi -L 2>/dev/null | grep -q '^GPU '; return; fi
  compgen -G '/dev/nvidia[0-9]*' >/dev/null
}

# Runs see the same few variables whatever this shell holds; libraries may lie where only it knows.
clean() {
  local keep=(PATH="${wrapped:+$wrapped:}$bin:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8) name
  for name in LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES HOME; do
    [ -z "${!name:-}" ] || keep+=("$name=${!name}")
  done
  env -i "${keep[@]}" "$@"
}

trainer=(digits_cnn_cuda --data scenarios/data/digits.csv --lr 0.02)
# The switches, each away from --deterministic.
switches=("--conv-algo nondeterministic" "--autotune on" "--reduction atomic" "--tf32 on"
  "--cublas-workspace none" "--cublas-workspace 16:8" "--streams 2")

# What a run under that switch promises of its own reruns.
promise() {
  case $1 in
    '--conv-algo nondeterministic'|'--autotune on'|'--reduction atomic') echo statistical ;;
    *) echo bitwise ;;
  esac
}

# slug SWITCH: a name for files and families.
slug() { local text=${1#--}; text=${text// /_}; text=${text//:/x}; printf %s "${text//-/_}"; }

# The tree that runs work in: a clone where the sources are a checkout, so that manifests name a commit.
tree=
make_tree() {
  tree=$out/tree
  [ ! -d "$tree" ] || return 0
  if git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 &&
     git -C "$root" diff --quiet HEAD -- scenarios 2>/dev/null; then
    git clone -q --no-checkout "$root" "$tree" &&
      git -C "$tree" sparse-checkout set --no-cone '/*' '!/scenarios/*/history' '!/scenarios/*/weights' &&
      git -C "$tree" checkout -q && return 0
    rm -rf "$tree"
  fi
  mkdir -p "$tree/scenarios"
  cp -r "$root"/scenarios/{common,data,digits_cnn_cuda,digits_torch} "$tree/scenarios/"
  rm -rf "$tree"/scenarios/*/history
  if command -v git >/dev/null; then
    # Fixed dates: the same sources give the same commit in every call.
    local when='2000-01-01T00:00:00Z'
    git -C "$tree" init -q && git -C "$tree" add -A &&
      GIT_AUTHOR_DATE=$when GIT_COMMITTER_DATE=$when git -C "$tree" -c user.name=rharness \
        -c user.email=rharness@localhost commit -q -m 'The tree as it was'
  fi
  echo "The sources are no clean git checkout: the commit in these manifests was made here and is found" \
    "nowhere else; the hashes of the code files hold." >"$out/notes/tree.txt"
}

# say LINE: into the step's own notes, which the summary prints.
say() { printf '%s\n' "$1" | tee -a "$out/notes/$step.txt"; }

# metric FILE NAME: a number of metrics.json, or a dash.
metric() {
  local value
  value=$(sed -n "s/.*\"$2\": \([-0-9.e+]*\).*/\1/p" "$1" 2>/dev/null | head -n 1)
  printf %s "${value:--}"
}

# train NAME OPTION...: one run below DIR/runs; its stdout goes to run.log there.
train() {
  local folder=$out/runs/$1
  shift
  mkdir -p "$folder"
  (cd "$tree" && clean "${trainer[@]}" "$@" "${extra[@]}" --out "$folder") >"$folder/run.log" 2>&1
}

step_machine() {
  {
    uname -a
    command -v nvidia-smi >/dev/null && nvidia-smi && nvidia-smi topo -m
    cat /proc/driver/nvidia/version
    ldd "$bin/digits_cnn_cuda"
    "$bin/rharness" --version
  } >"$out/machine.txt" 2>&1
  say "$(nvidia-smi -L 2>/dev/null | head -n 4)"
  local tool
  for tool in nvidia-smi compute-sanitizer ncu nsys python3 git; do
    command -v "$tool" >/dev/null || say "not installed: $tool"
  done
}

step_agreement() {
  local bad=0 name log agreeing options
  for name in deterministic default; do
    options=(--device both --epochs 1)
    [ "$name" = default ] || options+=(--deterministic)
    train "agreement_$name" "${options[@]}" || bad=1
    log=$out/runs/agreement_$name/run.log
    agreeing=$(grep -c ' agrees$' "$log")
    say "$name: $agreeing of 8 tensors agree; worst error $(sed -n 's/.* error \([^ ]*\) .*/\1/p' "$log" |
      sort -g | tail -n 1); $(grep '^error' "$log" | head -n 1)"
    [ "$agreeing" = 8 ] || bad=1
  done
  return $bad
}

# record FAMILY SEED DETERMINISM OPTION...
record() {
  local family=$1 seed=$2 determinism=$3 run file code=()
  shift 3
  run=$family-$(printf %02d "$seed")
  while read -r file; do code+=(--code-file "$file"); done < <(cd "$tree" &&
    find scenarios/common scenarios/digits_cnn_cuda -name '*.cc' -o -name '*.h' -o -name '*.cu' | sort)
  (cd "$tree" && clean rharness --quiet record --overwrite \
    --out "$out/scenarios/$family/history/$run.json" --run-id "$run" --family "$family" --root . \
    --data digits=scenarios/data/digits.csv --weights model.safetensors --metrics metrics.json \
    --metric "test_accuracy,direction=higher,margin=0.03,primary,quantum=0.002785515320334262" \
    --metric "test_loss,direction=lower,unit=nat,margin=0.1,primary" \
    --metric "train_loss,direction=lower,unit=nat" \
    --hyper learning_rate=0.02 --hyper momentum=0.9 --hyper batch=32 --hyper epochs=15 --gpus 1 \
    --timeout 120 --seed "init=$seed" --seed "shuffle=$seed" --determinism "$determinism" \
    --flag "digits_cnn_cuda=$*" --probe-family gemm --probe-family convolution --probe-family reduction \
    --probe-family math "${code[@]}" -- "${trainer[@]}" --gpus 1 --seed "$seed" "$@" "${extra[@]}") \
    >>"$out/record.log" 2>&1
}

step_record() {
  local seed switch bad=0 words
  for seed in 1 2 3; do
    record digits_cnn_cuda "$seed" bitwise --deterministic || { bad=1; say "seed $seed was not recorded"; }
  done
  for switch in "${switches[@]}"; do
    read -r -a words <<<"$switch"
    for seed in 1 2; do
      record "digits_cnn_cuda_$(slug "$switch")" "$seed" "$(promise "$switch")" --deterministic "${words[@]}" ||
        { bad=1; say "$switch, seed $seed: not recorded: $(tail -n 1 "$out/record.log")"; }
    done
  done
  say "$(find "$out/scenarios" -name '*.json' | wc -l) manifests below scenarios/"
  return $bad
}

# drill NAME HISTORY OPTION...: into DIR/drills/NAME; the verdicts and how many, on stdout.
drill() {
  local name=$1 history=$2
  shift 2
  rm -rf "$out/drills/$name" "$out/drills/$name.db"
  mkdir -p "$out/drills"
  clean rharness --quiet history add --history "$out/drills/$name.db" "$history" >"$out/drills/$name.log" 2>&1
  (cd "$tree" && clean rharness drill --history "$out/drills/$name.db" --out "$out/drills/$name" --root . \
    --gpus 1 --jobs 1 "$@") >>"$out/drills/$name.log" 2>&1
  local status=$? verdicts
  verdicts=$(sed -n '/"counts"/,/}/s/ *"\([a-z_]*\)": \([1-9][0-9]*\),*/\1 \2/p' \
    "$out/drills/$name/report.json" 2>/dev/null | paste -sd ' ')
  printf '%s' "${verdicts:-none: $(grep -m 1 'error' "$out/drills/$name.log")}"
  return $status
}

step_drill() {
  local folder family verdicts bad=0 reruns
  { echo '| history | verdicts |'; echo '|---|---|'; } >"$out/drills.md"
  for folder in "$out"/scenarios/digits_cnn_cuda*/history; do
    [ -d "$folder" ] || { say "nothing is recorded"; return 1; }
    family=$(basename "$(dirname "$folder")")
    # With so few runs the statistics need more reruns to decide.
    reruns=2
    ! grep -q '"statistical"' "$folder"/*.json || reruns=6
    verdicts=$(drill "$family" "$folder" --reruns $reruns) || bad=1
    echo "| $family | $verdicts |" >>"$out/drills.md"
    say "$family: $verdicts"
  done
  return $bad
}

# What the rerun of a deterministic record under one switch must give; a choice where either is right.
expected() {
  case $1 in
    none) echo 'identical' ;;
    '--tf32 on') echo 'drifted' ;;
    '--streams 2') echo 'identical' ;;
    '--reduction atomic'|'--conv-algo nondeterministic') echo 'drifted' ;;
    *) echo 'identical or drifted' ;;
  esac
}

step_switches() {
  local record=$out/scenarios/digits_cnn_cuda/history/digits_cnn_cuda-01.json switch name got bad=0
  [ -f "$record" ] || { say "nothing is recorded; run --only record first"; return 1; }
  { echo '| rerun with | expected | verdict | as expected |'; echo '|---|---|---|---|'; } >"$out/switches.md"
  wrapped=$out/wrapped
  mkdir -p "$wrapped"
  for switch in none "${switches[@]}"; do
    name=switch_$(slug "$switch")
    # A wrapper of the trainer's name: the manifest's command stays as it was recorded.
    printf '#!/bin/sh\nexec "%s" "$@" %s\n' "$bin/digits_cnn_cuda" "${switch#none}" >"$wrapped/digits_cnn_cuda"
    chmod +x "$wrapped/digits_cnn_cuda"
    got=$(drill "$name" "$record" --no-confirm)
    local match=no
    [[ " $(expected "$switch") " != *" ${got%% *} "* ]] || match=yes
    [ $match = yes ] || bad=1
    echo "| \`$switch\` | $(expected "$switch") | $got | $match |" >>"$out/switches.md"
    say "$switch: $got, expected $(expected "$switch")"
  done
  return $bad
}

timing_row() {
  local file=$out/runs/$2/metrics.json
  echo "| \`$1\` | $(metric "$file" step_seconds_median) | $(metric "$file" step_seconds_min) |\
 $(metric "$file" step_seconds_floor) | $(metric "$file" steps_timed) |" >>"$out/timings.md"
}

step_timings() {
  local switch words bad=0 name
  { echo '| switches | seconds a step, median | least | floor: bytes / bandwidth | steps |'
    echo '|---|---|---|---|---|'; } >"$out/timings.md"
  for switch in "--deterministic" "" "${switches[@]}"; do
    name=timing_$(slug "${switch:-default}")
    read -r -a words <<<"$switch"
    [ "$switch" = --deterministic ] || [ -z "$switch" ] || words=(--deterministic "${words[@]}")
    train "$name" --gpus 1 "${words[@]}" || { bad=1; say "${switch:-default}: the run failed"; }
    timing_row "${words[*]:-default}" "$name"
  done
  train timing_large --gpus 1 --deterministic --channels 128 --batch 512 --epochs 40 || bad=1
  timing_row "--deterministic --channels 128 --batch 512" timing_large
  train timing_large_default --gpus 1 --channels 128 --batch 512 --epochs 40 || bad=1
  timing_row "--channels 128 --batch 512" timing_large_default
  ! grep -q '| - |' "$out/timings.md" || { bad=1; say "some runs tell no time"; }
  return $bad
}

# fingerprint NAME SECONDS
fingerprint() {
  timeout -k 5 "$2" "$bin/rharness" probe run --device "$device" --out "$out/probes/$1.json" \
    >"$out/probes/$1.log" 2>&1
  local status=$?
  grep -q '"status": *"ok"' "$out/probes/$1.json" 2>/dev/null || status=1
  say "$1: exit code $status; $(grep -o '"status": *"[a-z_]*"' "$out/probes/$1.json" 2>/dev/null |
    sed 's/.*"\([a-z_]*\)"$/\1/' | sort | uniq -c | paste -sd ' ' | tr -s ' ')"
  return $status
}

step_probes() {
  mkdir -p "$out/probes"
  local bad=0 load
  fingerprint first 75 || bad=1
  fingerprint second 60 || bad=1
  make_tree
  (cd "$tree" && exec env PATH="$bin:$PATH" "${trainer[@]}" --epochs 100000 --channels 64 --batch 1024 \
    --out "$out/runs/load") >/dev/null 2>&1 &
  load=$!
  fingerprint loaded 60 || bad=1
  kill -0 "$load" 2>/dev/null || { say "the process beside the third one ended early: no load"; bad=1; }
  kill "$load" 2>/dev/null
  wait "$load" 2>/dev/null
  local other status
  for other in second loaded; do
    "$bin/rharness" probe diff "$out/probes/first.json" "$out/probes/$other.json" \
      >"$out/probes/first_$other.txt" 2>&1
    status=$?
    say "first against $other: exit code $status (0 the same, 1 changed)"
    [ $status = 0 ] || bad=1
  done
  return $bad
}

step_sanitizers() {
  command -v compute-sanitizer >/dev/null || { say "compute-sanitizer is not installed"; return 77; }
  mkdir -p "$out/sanitizers"
  local tool bad=0 status log
  for tool in memcheck racecheck initcheck synccheck; do
    log=$out/sanitizers/$tool.log
    (cd "$tree" && timeout -k 5 45 compute-sanitizer --tool "$tool" "$bin/digits_cnn_cuda" \
      "${trainer[@]:1}" --gpus 1 --deterministic --epochs 1 --batch 256 --out "$out/runs/$tool") >"$log" 2>&1
    status=$?
    # Libraries' kernels are reported too; ours carry the namespace in their names.
    say "$tool: exit code $status; $(grep -E 'SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//');\
 $(grep -c 'rharness::scenarios' "$log") lines name our kernels"
    { [ $status = 0 ] && grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' "$log"; } || bad=1
  done
  return $bad
}

step_torch() {
  local python=
  for python in /usr/bin/python3 python3; do
    "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null && break
    python=
  done
  [ -n "$python" ] || { say "no python3 here has a PyTorch that finds the GPU"; return 77; }
  local mode again bad=0
  for mode in on off; do
    for again in 1 2; do
      mkdir -p "$out/runs/torch_$mode$again"
      "$python" "$tree/scenarios/digits_torch/train.py" --data "$tree/scenarios/data/digits.csv" \
        --device cuda --deterministic $mode --out "$out/runs/torch_$mode$again" \
        >"$out/runs/torch_$mode$again/run.log" 2>&1 || bad=1
    done
    say "--deterministic $mode: two runs give $(cmp -s "$out/runs/torch_${mode}1/model.safetensors" \
      "$out/runs/torch_${mode}2/model.safetensors" && echo equal || echo different) weights; median step \
$(metric "$out/runs/torch_${mode}1/metrics.json" step_seconds_median) s"
  done
  cmp -s "$out/runs/torch_on1/model.safetensors" "$out/runs/torch_on2/model.safetensors" || bad=1
  return $bad
}

# run NAME LIMIT: the step in a process group of its own, and what became of it.
run() {
  local name=$1 limit=$2 left=$((deadline - SECONDS)) status began=$SECONDS state
  rm -f "$out/notes/$name.txt"
  if [ $left -lt 5 ]; then
    echo "not done: the time of this call was up" >"$out/notes/$name.state"
    return 1
  fi
  [ "$limit" -le $left ] || limit=$left
  timeout -k 10 "$limit" bash "${BASH_SOURCE[0]}" --step "$name" --out "$out" --bin "$bin" --device "$device" \
    -- "${extra[@]}" >"$out/notes/$name.log" 2>&1
  status=$?
  case $status in
    0) state="done" ;;
    77) state="not done: something it needs is missing" ;;
    124|137) state="CUT SHORT at its limit of $limit s" ;;
    *) state="FAILED (status $status)" ;;
  esac
  echo "$state, $((SECONDS - began)) s" >"$out/notes/$name.state"
  printf '%-11s %s, %s s\n' "$name" "$state" $((SECONDS - began))
  [ $status = 0 ]
}

# A line of a step's log that its notes do not hold, such as an error of the shell.
stray() { grep -v -x -F -f "$out/notes/$1.txt" "$out/notes/$1.log" 2>/dev/null | tail -n 3; }

summarize() {
  local name limit what
  {
    echo '# What this machine with a GPU showed'
    echo
    date -u '+Written %Y-%m-%d %H:%M UTC by scenarios/record_gpu.sh.'
    [ ! -f "$out/notes/tree.txt" ] || { echo; cat "$out/notes/tree.txt"; }
    while read -r name limit what; do
      printf '\n## %s: %s\n\n%s (limit %s s)\n' "$name" \
        "$(cat "$out/notes/$name.state" 2>/dev/null || echo 'not run')" "$what" "$limit"
      [ ! -f "$out/notes/$name.txt" ] || { echo; sed 's/^/- /' "$out/notes/$name.txt"; }
      [ ! -f "$out/notes/$name.log" ] || stray "$name" | sed 's/^/- stderr: /'
      case $name in drill) what=drills ;; *) what=$name ;; esac
      [ ! -f "$out/$what.md" ] || { echo; cat "$out/$what.md"; }
    done < <(steps)
  } >"$out/summary.md"
}

main() {
  parse "$@"
  has_gpu || die "no GPU is visible here (nvidia-smi lists none, or there is no /dev/nvidia0)" 3
  local name limit what needed bad=0
  [ -z "$only" ] || steps | grep -q "^$only " || die "--only: there is no step '$only'; --help lists them" 2
  [[ $budget =~ ^[1-9][0-9]{0,5}$ ]] || die "--budget: expected seconds, got '$budget'" 2
  bin=$(cd "$bin" 2>/dev/null && pwd) || die "--bin: there is no such folder; run ./dev build first" 2
  for needed in rharness rharness-probe digits_cnn_cuda; do
    [ -x "$bin/$needed" ] || die "$bin/$needed is not there; ./dev build says what it needs" 2
  done
  { mkdir -p "$out/notes" && out=$(cd "$out" && pwd); } || die "--out: $out cannot be made" 2
  if [ -n "$step" ]; then
    make_tree && "step_$step"
    return
  fi
  rm -rf "$out/tree"
  deadline=$((SECONDS + budget))
  while read -r name limit what <&3; do
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    run "$name" "$limit" || bad=1
  done 3< <(steps)
  summarize
  echo "summary: $out/summary.md"
  return $bad
}

main "$@"
