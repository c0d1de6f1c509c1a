#!/usr/bin/env bash
# What a machine with a GPU can show, in one command: records histories of digits_cnn_cuda, drills them as
# recorded and under each switch, takes the catalogue of probes, times a step, and runs the sanitizers.
# `record_gpu.sh --help` lists the steps. Run it after ./dev build, or from what bundle_gpu.sh packed: it
# needs bash, the programs and the CUDA libraries, neither a compiler nor git. Each step has a time limit;
# one that fails is written down and the rest goes on. It reads a device's settings and changes none.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=$root/build/gpu
bin=$root/build/bin
budget=570
only=
step=
lib=
archive=
device=cuda:0
extra=()

# NAME LIMIT_SECONDS WHAT, in the order in which they run when time is short.
steps() {
  cat <<'EOT'
machine 40 driver, libraries, GPUs and tools of this machine
own 150 each probe of our own kernels and of the compilers, alone, four at a time
blas 190 each probe of cuBLAS and CUB, alone, four at a time
rest 190 each probe of cuDNN, NCCL and what is left, alone, four at a time
agreement 120 the first step of the GPU against the CPU in double precision, by tensor
record 170 histories: deterministic with 3 seeds, each switch with 2; bitwise where equal runs must be equal
switches 120 the deterministic run rerun under each switch: a table of verdicts
timings 100 seconds a step: deterministic, each switch, and the floor
drill 330 every recorded run rerun as it was recorded: twice, or six times where it is statistical
probes 300 all probes on the GPU by one process, compared with what each showed alone
versions 100 two versions of a library on this machine, compared as an upgrade
torch 60 the PyTorch trainer on the GPU, deterministic and not
sanitizers 230 memcheck, racecheck, initcheck and synccheck of the trainer, of probes and of the bench
bench 120 what revealing orders and comparing tensors costs on the GPU, against its own bounds
loaded 150 the probes beside a second process, compared
EOT
}

# The steps of each of three calls, and its seconds.
call_steps() {
  case $1 in
    1) only=machine,own,blas,rest,agreement budget=570 ;;
    2) only=record,switches,timings,drill budget=590 ;;
    3) only=probes,versions,torch,sanitizers,bench,loaded budget=590 ;;
    *) die "--call: expected 1, 2 or 3, got '$1'" 2 ;;
  esac
}

usage() {
  cat <<EOT
usage: $0 [--out DIR] [--bin DIR] [--lib DIR[:DIR...]] [--call 1|2|3 | --only STEP[,STEP...]]
       [--budget SECONDS] [--archive FILE] [--device cuda:N] [-- OPTION...]

  --out DIR     everything is written below it (default build/gpu); histories go to
                DIR/scenarios/NAME/history, to be copied over the tree's when they are to be shipped
  --bin DIR     where rharness, rharness-probe and digits_cnn_cuda are (default build/bin)
  --lib DIRS    where the driver's and CUDA's libraries are searched first; then LD_LIBRARY_PATH, what
                the loader knows, /usr/local/nvidia, /usr/local/cuda, and the packages of python3
  --call N      a third of the steps, within ten minutes: 1 the machine and each probe alone, 2 records,
                switches and drills, 3 all probes once more, two versions, sanitizers, bench and load
  --only STEPS  these steps alone; the summary keeps what earlier calls have left in DIR. switches and
                drill need what record left, probes and loaded compare with what is there
  --budget N    seconds for all steps together (default 570)
  --archive F   all of DIR but work trees and weights, as one .tar.gz, written anew after each step
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
      --call)
        [ $# -gt 1 ] || die "$1: expected a value" 2
        call_steps "$2"
        shift 2 ;;
      --out|--bin|--lib|--only|--budget|--archive|--device|--step)
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

# lacking: names of the shared libraries that the programs would not find, one a line.
lacking() {
  local name major folder
  { LD_LIBRARY_PATH=$lib ldd "$bin/digits_cnn_cuda" "$bin/rharness-more" | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p'; } 2>/dev/null
  major=$(ldd "$bin/digits_cnn_cuda" 2>/dev/null | sed -n 's/.*libcublas\.so\.\([0-9]*\).*/\1/p' | head -n 1)
  # Those that are opened by name: without the second no manifest knows its GPU.
  for name in libcuda.so.1 libnvidia-ml.so.1 libcublas.so.${major:-13} libcublasLt.so.${major:-13} libcudnn.so.9 libnccl.so.2 \
    libnvrtc.so.${major:-13} libnvJitLink.so.${major:-13}; do
    ! ldconfig -p 2>/dev/null | grep -q "[[:space:]]$name " || continue
    while IFS= read -r folder; do
      [ -z "$folder" ] || [ ! -e "$folder/$name" ] || continue 2
    done <<<"${lib//:/$'\n'}"
    echo "$name"
  done
}

# Adds to $lib the folders where these are commonly kept, as long as something is lacking.
find_libraries() {
  local folder
  lib=${lib:+$lib${LD_LIBRARY_PATH:+:}}${LD_LIBRARY_PATH:-}
  for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/local/cuda/lib64 $(command -v python3 >/dev/null && python3 -c '
import glob
try:
    import nvidia
    print(*sorted(d for path in nvidia.__path__ for d in glob.glob(path + "/*/lib")))
except ImportError:
    pass' 2>/dev/null); do
    [ -n "$(lacking)" ] || return 0
    [ ! -d "$folder" ] || lib=${lib:+$lib:}$folder
  done
}

# Runs see the same few variables whatever this shell holds; libraries may lie where only it knows.
clean() {
  local keep=(PATH="${wrapped:+$wrapped:}$bin:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8) name
  [ -z "$lib" ] || keep+=(LD_LIBRARY_PATH="$lib")
  for name in CUDA_VISIBLE_DEVICES HOME; do
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

# What bundle_gpu.sh packed has the commit and a part of its files, which git does not clone.
clone_here() {
  if git -C "$root" config --get remote.origin.promisor >/dev/null; then
    mkdir -p "$tree" && cp -r "$root/.git" "$tree/" && rm -f "$tree/.git/index"
  else
    git clone -q --no-checkout "$root" "$tree"
  fi
}

# The tree that runs work in: a clone where the sources are a checkout, so that manifests name a commit.
tree=
make_tree() {
  tree=$out/tree
  [ ! -d "$tree" ] || return 0
  if git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 &&
     git -C "$root" diff --quiet HEAD -- scenarios 2>/dev/null; then
    clone_here && git -C "$tree" sparse-checkout set --no-cone /.gitignore \
      /scenarios/{common,data,digits_cnn_cuda,digits_torch}/ '!/scenarios/*/history' '!/scenarios/*/weights' &&
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

# shellcheck source-path=SCRIPTDIR source=record_gpu_steps.sh
. "$root/scenarios/record_gpu_steps.sh"

# run NAME LIMIT: the step in a process group of its own, and what became of it.
run() {
  local name=$1 limit=$2 left=$((deadline - SECONDS)) status began=$SECONDS state
  rm -f "$out/notes/$name.txt"
  if [ $left -lt 5 ]; then
    echo "not done: the time of this call was up" >"$out/notes/$name.state"
    return 1
  fi
  [ "$limit" -le $left ] || limit=$left
  timeout -k 10 "$limit" bash "${BASH_SOURCE[0]}" --step "$name" --out "$out" --bin "$bin" --lib "$lib" \
    --budget "$limit" --device "$device" -- "${extra[@]}" >"$out/notes/$name.log" 2>&1
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

# Whole or not at all: whoever waits for the file may end this script at any time.
pack() {
  [ -n "$archive" ] || return 0
  tar -C "$(dirname "$out")" --exclude="$(basename "$out")/tree" --exclude='*.safetensors' -czf "$archive.part" \
    "$(basename "$out")" && mv -f "$archive.part" "$archive"
}

main() {
  parse "$@"
  has_gpu || die "no GPU is visible here (nvidia-smi lists none, or there is no /dev/nvidia0)" 3
  local name limit what needed bad=0
  for name in ${only//,/ }; do
    steps | grep -q "^$name " || die "--only: there is no step '$name'; --help lists them" 2
  done
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
  if [ -n "$archive" ]; then
    { mkdir -p "$(dirname "$archive")" && archive=$(cd "$(dirname "$archive")" && pwd)/$(basename "$archive"); } ||
      die "--archive: $archive cannot be made" 2
  fi
  find_libraries
  rm -rf "$out/tree"
  deadline=$((SECONDS + budget))
  while read -r name limit what <&3; do
    [ -z "$only" ] || [[ ",$only," == *",$name,"* ]] || continue
    run "$name" "$limit" || bad=1
    summarize
    pack || bad=1
  done 3< <(steps)
  echo "summary: $out/summary.md"
  [ ! -f "$archive" ] || echo "archive: $archive, $(($(stat -c %s "$archive") >> 10)) KiB"
  return $bad
}

main "$@"
