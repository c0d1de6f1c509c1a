# The steps of record_gpu.sh, which reads this file: each writes below $out and says what it saw.
# shellcheck shell=bash disable=SC2154  # variables are those of record_gpu.sh
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
  local folder=$out/runs/$1; shift
  mkdir -p "$folder"
  (cd "$tree" && clean "${trainer[@]}" "$@" "${extra[@]}" --out "$folder") >"$folder/run.log" 2>&1
}

step_machine() {
  {
    uname -a
    ! command -v nvidia-smi >/dev/null || { nvidia-smi; nvidia-smi topo -m; }
    cat /proc/driver/nvidia/version
    ! command -v nvidia-smi >/dev/null || nvidia-smi -q -d CLOCK,MEMORY,ECC,COMPUTE
    echo "LD_LIBRARY_PATH of the runs: $lib"
    clean ldd "$bin/digits_cnn_cuda" "$bin/rharness"
    clean rharness --version
    clean rharness-probe --version
    ! command -v nvcc >/dev/null || nvcc --version
  } >"$out/machine.txt" 2>&1
  say "libraries by LD_LIBRARY_PATH=$lib"
  # Those that are found nowhere: the probes of them will be absent, and the trainer may not start.
  local absent
  absent=$(lacking | sort -u | paste -sd ' ')
  [ -z "$absent" ] || say "NOT FOUND: $absent"
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
    say "$name: $agreeing of 8 tensors agree; worst error $(sed -n 's/.* error \([0-9][^ ]*\) .*/\1/p' "$log" |
      sort -g | tail -n 1); $(grep -m 1 -E '^error|error while' "$log")"
    [ "$agreeing" = 8 ] || bad=1
  done
  return $bad
}

# record FAMILY SEED DETERMINISM OPTION...: with observe=kernels, what it launches is noted.
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
    --timeout 120s --seed "init=$seed" --seed "shuffle=$seed" --determinism "$determinism" \
    --flag "digits_cnn_cuda=$*" --probe-family gemm --probe-family convolution --probe-family reduction \
    --probe-family math ${observe:+--observe "$observe"} "${code[@]}" -- "${trainer[@]}" --gpus 1 --seed "$seed" "$@" "${extra[@]}") \
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
  observe=kernels record digits_cnn_cuda_kernels 1 bitwise --deterministic || { bad=1; say "kernels: not recorded"; }
  say "kernels: $(grep -ho '"launches"\|the GPU kernels[^"]*' "$out"/scenarios/*_kernels/history/*.json | sort | uniq -c)"
  say "$(find "$out/scenarios" -name '*.json' | wc -l) manifests below scenarios/"
  return $bad
}

# drill NAME HISTORY OPTION...: into DIR/drills/NAME; the verdicts and how many, on stdout.
drill() {
  local name=$1 history=$2; shift 2
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

# cost WITH WITHOUT OF: what determinism costs a step, in a sentence.
cost() {
  awk -v with="$(metric "$out/runs/$1/metrics.json" step_seconds_median)" \
    -v without="$(metric "$out/runs/$2/metrics.json" step_seconds_median)" -v of="$3" 'BEGIN {
      if (with + 0 <= 0 || without + 0 <= 0) print "what determinism costs " of ": not measured"
      else printf "deterministic mode costs %s %+.1f %% a step here: %g s against %g s\n",
                  of, (with / without - 1) * 100, with, without }'
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
  say "$(cost timing_deterministic timing_default 'this network')"
  say "$(cost timing_large timing_large_default 'the wide one')"
  ! grep -q '| - |' "$out/timings.md" || { bad=1; say "some runs tell no time"; }
  return $bad
}

# fingerprint NAME SECONDS PROCESSES OPTION...: what is not done in time has timed out, all else is written, and
# whatever failed is named. In the foreground of its group, or the end of the step would not be its end.
fingerprint() {
  local name=$1 seconds=$2 processes=$3 status line
  shift 3
  clean timeout --foreground -k 5 $((seconds + 15)) rharness probe run --device "$device" --budget "${seconds}s" \
    --processes "$processes" "$@" --out "$out/probes/$name.json" >"$out/probes/$name.log" 2>&1
  status=$?
  grep -q '"status": *"ok"' "$out/probes/$name.json" 2>/dev/null || status=1
  say "$name: exit code $status; $(grep -o '"status": *"[a-z_]*"' "$out/probes/$name.json" 2>/dev/null |
    sed 's/.*"\([a-z_]*\)"$/\1/' | sort | uniq -c | paste -sd ' ' | tr -s ' ')"
  while IFS= read -r line; do say "$name: ${line:0:300}"; done < <(grep -v 'probes done' "$out/probes/$name.log")
  return $status
}

# Names of the probes of this device, one a line.
probes_here() {
  local kind=gpu
  [ "$device" != cpu ] || kind=cpu
  clean rharness-probe list | awk -v kind="$kind" '$2 == kind { print $1 }'
}

# Which step asks a probe: the first whose pattern it matches.
probes_of() {
  local own='^(env_ident|own_|mma_|wgmma_|convert_|math_|jit_|fatbin_|atomic_|fp_|omp_)'
  local blas='^(gemm_|lt_|symv_|batch_|cub_|scan_|blas_)'
  case $1 in
    own) probes_here | grep -E "$own" ;;
    blas) probes_here | grep -E "$blas" ;;
    rest) probes_here | grep -Ev "$own|$blas" ;;
  esac
}

# alone STEP: each of its probes in a process of its own, all its cases twice, four at a time.
alone() {
  mkdir -p "$out/probes/alone"
  local name end=$((SECONDS + budget - 15)) running=0 bad=0 left state
  while IFS= read -r name; do
    left=$((end - SECONDS < 100 ? end - SECONDS : 100))
    if [ $left -lt 5 ]; then say "$name: not asked, the time was up"; bad=1; continue; fi
    clean timeout --foreground -k 5 $((left + 10)) rharness probe run --device "$device" --probe "$name" \
      --processes 1 --repeat 2 --budget "${left}s" --out "$out/probes/alone/$name.json" \
      >"$out/probes/alone/$name.log" 2>&1 &
    running=$((running + 1))
    [ $running -lt 4 ] || { wait -n; running=$((running - 1)); }
  done < <(probes_of "$1")
  wait
  for name in $(probes_of "$1"); do
    state=$(sed -n 's/.*"status": *"\([a-z_]*\)".*/\1/p' "$out/probes/alone/$name.json" 2>/dev/null | head -n 1)
    [[ ${state:-none} =~ ^(ok|absent)$ ]] || bad=1
    say "$name: ${state:-no result}$(grep -m 1 'error' "$out/probes/alone/$name.log" | cut -c 1-300 | sed 's/^/; /')"
  done
  return $bad
}
step_own() { alone own; }
step_blas() { alone blas; }
step_rest() { alone rest; }

# against NAME OTHER: 0 if the fingerprint OTHER shows of NAME's probes what NAME does, 3 if they show nothing
# that could be compared, else 1. Probes that NAME did not ask count for nothing.
against() {
  [ -f "$out/probes/$1.json" ] || { say "there is no $1.json to compare with"; return 3; }
  clean rharness probe diff "$out/probes/$1.json" "$out/probes/$2.json" >"$out/probes/against.txt" 2>&1
  local status=$? line
  line=$(grep -m 1 -E 'probes? changed|not comparable|error' "$out/probes/against.txt")
  [ $status != 3 ] || return 3
  [ $status != 0 ] && ! [[ $line =~ changed:\ [0-9]+\ appeared$ ]] || return 0
  say "$1 against $2: exit code $status; ${line:0:200}"
  { echo "== $1 against $2"; cat "$out/probes/against.txt"; } >>"$out/probes/changed.txt"
  return 1
}

step_probes() {
  mkdir -p "$out/probes"
  rm -f "$out/probes/changed.txt"
  local bad=0 file status counts=(0 0 0 0)
  # By one process, with as many repeats in it.
  fingerprint all $((budget - 40)) 1 || bad=1
  for file in "$out"/probes/alone/*.json; do
    [ -f "$file" ] || continue
    against "alone/$(basename "$file" .json)" all
    status=$? && counts[status]=$((counts[status] + 1))
  done
  say "${counts[0]} probes show what they showed alone, ${counts[1]} changed, ${counts[3]} have nothing to compare"
  [ "${counts[1]}" = 0 ] || bad=1
  return $bad
}

step_loaded() {
  mkdir -p "$out/probes" "$out/runs/load"
  local bad=0 load
  (cd "$tree" && exec env LD_LIBRARY_PATH="$lib" PATH="$bin:$PATH" "${trainer[@]}" --epochs 100000 --channels 64 \
    --batch 1024 --out "$out/runs/load") >"$out/runs/load/run.log" 2>&1 &
  load=$!
  fingerprint loaded $((budget - 25)) 1 || bad=1
  kill -0 "$load" 2>/dev/null || { say "the process beside the probes ended early: no load"; bad=1; }
  kill "$load" 2>/dev/null
  wait "$load" 2>/dev/null
  against all loaded
  [ $? != 1 ] || bad=1
  return $bad
}

# Folders of this machine with a library of that name: the toolkits', the system's, those of Python's packages.
folders_with() {
  local file
  for file in $(tr ':' '\n' <<<"$lib" | sed "s|\$|/$1|") /usr/local/cuda*/lib64/$1 /usr/lib/x86_64-linux-gnu/$1 \
    /opt/*/lib/$1 $(compgen -G "/usr/*/lib/python3*/*-packages/nvidia/*/lib/$1") \
    $(compgen -G "/usr/lib/python3*/*-packages/nvidia/*/lib/$1"); do
    [ ! -e "$file" ] || printf '%s %s\n' "$(sha256sum "$file" | cut -c 1-16)" "$(dirname "$file")"
  done | sort -u -k 1,1 | cut -d ' ' -f 2
}

# Two versions of one library are an upgrade that needs no transfer.
step_versions() {
  mkdir -p "$out/probes"
  local name probes folders bad=0 found=0 options probe
  while read -r name probes; do
    mapfile -t folders < <(folders_with "$name")
    say "$name: ${#folders[@]} versions: ${folders[*]}"
    [ ${#folders[@]} -ge 2 ] || continue
    found=1 options=()
    for probe in $probes; do options+=(--probe "$probe"); done
    fingerprint "$name.first" 15 1 "${options[@]}" --library-path "${folders[0]}" || bad=1
    fingerprint "$name.second" 15 1 "${options[@]}" --library-path "${folders[1]}" || bad=1
    clean rharness gate --baseline "$out/probes/$name.first.json" --candidate "$out/probes/$name.second.json" \
      >"$out/probes/$name.gate.txt" 2>&1
    say "$name: the gate between them ends with $?: $(head -n 1 "$out/probes/$name.gate.txt" | cut -c 1-300)"
  done <<'EOT'
libcublasLt.so.13 lt_heuristic gemm_bits_cuda gemm_tree_fp32_cuda
libcublasLt.so.12 lt_heuristic gemm_bits_cuda gemm_tree_fp32_cuda
libcudnn.so.9 cudnn_engine_list cudnn_conv_bits
libnccl.so.2 nccl_choice nccl_bits
libnvrtc.so.13 jit_toolkit_bits
libnvrtc.so.12 jit_toolkit_bits
EOT
  [ $found = 1 ] || { say "no library is here in two versions"; return 77; }
  return $bad
}

step_bench() {
  local program=$bin/rharness-gpu-bench status
  [ -x "$program" ] || program=$root/build-bench/bin/rharness-gpu-bench
  [ -x "$program" ] || { say "there is no rharness-gpu-bench in $bin"; return 77; }
  clean timeout --foreground -k 5 $((budget - 10)) "$program" --device "$device" --limit-seconds 15 --json "$out/bench.json" \
    >"$out/bench.txt" 2>&1
  status=$?
  say "exit code $status; $(grep -c '^G' "$out/bench.txt") rows"
  { echo '```'; cat "$out/bench.txt"; echo '```'; } >"$out/bench.md"
  return $status
}

# sanitize NAME SECONDS COMMAND...: under each tool; kernels of libraries are reported, too.
sanitize() {
  local name=$1 seconds=$2 tool bad=0 status log
  shift 2
  for tool in memcheck racecheck initcheck synccheck; do
    log=$out/sanitizers/$name.$tool.log
    (cd "$tree" && LD_LIBRARY_PATH=$lib PATH="$bin:$PATH" timeout --foreground -k 5 "$seconds" compute-sanitizer \
      --tool "$tool" --target-processes all "$@") >"$log" 2>&1
    status=$?
    say "$name, $tool: exit code $status; $(grep -E 'SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//');\
 $(grep -c 'rharness::scenarios' "$log") lines name the trainer's kernels"
    { [ $status = 0 ] && grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' "$log"; } || bad=1
  done
  return $bad
}

step_sanitizers() {
  command -v compute-sanitizer >/dev/null || { say "compute-sanitizer is not installed"; return 77; }
  mkdir -p "$out/sanitizers"
  local bad=0 probe
  sanitize trainer 20 "$bin/digits_cnn_cuda" "${trainer[@]:1}" --gpus 1 --deterministic --epochs 1 --batch 256 \
    --out "$out/runs/sanitized" || bad=1
  for probe in own_reduce_tree_cuda mma_features wgmma_features; do
    sanitize "$probe" 9 rharness-probe run --device "$device" --probe "$probe" --processes 1 --repeat 1 \
      --out "$out/sanitizers/$probe.json" || bad=1
  done
  [ ! -x "$bin/rharness-gpu-bench" ] ||
    sanitize bench 9 "$bin/rharness-gpu-bench" --device "$device" --limit-seconds 1 || bad=1
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
