#!/usr/bin/env bash
# Packs what record_gpu.sh needs into one file, for a machine with a GPU that has neither our sources nor
# our libraries, nor a compiler: the programs, the shared libraries that they need beside glibc, the C++
# runtime and CUDA, and the scenarios. Of a clean checkout it packs the commit, too, so that manifests
# recorded there name it. `bundle_gpu.sh --help` says how to use the file.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=$root/build/rharness-gpu.tar.gz
bin=$root/build/bin

usage() {
  cat <<EOT
usage: $0 [--bin DIR] [--out FILE]

  --bin DIR   the programs (default build/bin); rharness-gpu-bench may be in build-bench/bin
  --out FILE  the file (default build/rharness-gpu.tar.gz)

On the machine with the GPU, which needs bash, tar, an x86-64 glibc as new as here, and CUDA's libraries:

  tar xzf rharness-gpu.tar.gz
  rharness-gpu/scenarios/record_gpu.sh --out /tmp/gpu --archive gpu.tar.gz
EOT
}

die() { printf '%s: %s\n' "$0" "$1" >&2; exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --help|-h) usage; exit 0 ;;
    --bin|--out)
      [ $# -gt 1 ] || die "$1: expected a value"
      printf -v "${1#--}" %s "$2"
      shift 2 ;;
    *) die "unknown option '$1'" ;;
  esac
done

# What every machine with CUDA has: glibc, the C++ runtime, which must be the newer one of two, and CUDA.
installed='^(linux-vdso|ld-linux[-a-z0-9_]*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s'
installed+='|cuda|cudart|cublas|cublasLt|cudnn[a-z_]*|nccl|nvrtc|nvJitLink|nvidia-[a-z-]+))\.so'

# libraries PROGRAM: their paths, one a line.
libraries() {
  { ldd "$1" 2>/dev/null || true; } | while read -r name _ path _; do
    [[ $name =~ $installed ]] || [[ $path != /* ]] || printf '%s\n' "$path"
  done
}

# The sources into $1: of the commit, where they are it, the files that are run and no others of its history;
# else the folders that are run.
copy_sources() {
  local serve='git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack'
  if git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 && git -C "$root" diff --quiet HEAD &&
     git clone -q --depth 1 --no-checkout --filter=blob:none -u "$serve" "file://$root" "$1" 2>/dev/null &&
     git -C "$1" config remote.origin.uploadpack "$serve" &&
     git -C "$1" sparse-checkout set --no-cone "${packed[@]}" && git -C "$1" checkout -q; then
    git -C "$1" config remote.origin.url 'left where it was packed'
    return
  fi
  rm -rf "$1"
  mkdir -p "$1/scenarios"
  cp -r "$root"/scenarios/{common,data,digits_cnn_cuda,digits_torch} "$root"/scenarios/*.sh "$1/scenarios/"
  rm -rf "$1"/scenarios/*/{history,weights}
}
packed=(/.gitignore '/scenarios/*.sh' /scenarios/{common,data,digits_cnn_cuda,digits_torch}/ '!/scenarios/*/history' '!/scenarios/*/weights')

# take PROGRAM FROM: the program, without its symbols, and its libraries.
take() {
  local library
  cp "$2" "$programs/$1"
  strip "$programs/$1" 2>/dev/null || true
  while IFS= read -r library; do cp -L "$library" "$programs/lib/"; done < <(libraries "$2")
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy_sources "$work/rharness-gpu"
programs=$work/rharness-gpu/build/bin
mkdir -p "$programs/lib"
for program in rharness rharness-more rharness-probe digits_cnn_cuda rharness-gpu-bench; do
  from=$bin/$program
  [ -x "$from" ] || from=$root/build-bench/bin/$program
  if [ ! -x "$from" ]; then
    [ "$program" = rharness-gpu-bench ] || die "$bin/$program is not there; ./dev build builds it"
    continue
  fi
  take "$program" "$from"
done
# rharness-more has every verb that rharness has.
ln -sf rharness-more "$programs/rharness"
# What rharness lends to the runs that it records.
if [ -d "$bin/observe" ]; then
  cp -r "$bin/observe" "$programs/"
  strip "$programs"/observe/{librharness-observe.so,librharness-kernels.so,rharness-enter,rharness-look} 2>/dev/null || true
  rm -rf "$programs/observe/python/__pycache__"
else
  printf '%s: no %s: records made there will name fewer files\n' "$0" "$bin/observe" >&2
fi
tar -C "$work" -czf "$out" rharness-gpu
printf '%s: %s KiB\n' "$out" "$(($(stat -c %s "$out") >> 10))"
