// Slurm's programs as shell scripts: jobs are groups of processes here, and every call is counted.
//
// Of a job of several nodes, srun starts what belongs to the others. The answers have the form of
// Slurm 22.05 as slurm_states.h reads it; there is no accounting.
#ifndef RHARNESS_TESTS_CLI_FAKE_SLURM_H_
#define RHARNESS_TESTS_CLI_FAKE_SLURM_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "harness/base/files.h"

namespace rharness {

// STATE: the folder of jobs. An array of tasks 0-N is N + 1 jobs of one number.
inline constexpr std::array<std::pair<const char*, const char*>, 6> kFakeSlurm = {{
    {"sbatch", R"sh(
nodes=1; last=0; name=
while :; do case "$1" in
  --nodes=*) nodes=${1#*=};;
  --array=*) last=${1#*-}; last=${last#*-}; last=${last##*-};;
  --job-name=*) name=${1#*=};;
  --output=*) log=${1#*=};;
  --*) ;;
  *) break;;
esac; shift; done
job=$(($(cat STATE/next 2>/dev/null || echo 100) + 1)); echo $job > STATE/next
echo "$name" > STATE/$job.name
for i in $(seq 0 "$last"); do
  to=$(echo "$log" | sed "s/%a/$i/")
  echo RUNNING > STATE/${job}_$i
  (setsid env SLURM_JOB_ID=$job SLURM_ARRAY_TASK_ID=$i SLURM_JOB_NUM_NODES=$nodes sh -c '
    trap : TERM; echo $$ > STATE/'${job}_$i'.pid; sh "$@" && s=COMPLETED || s=FAILED
    echo $s > STATE/'${job}_$i'; kill -9 0' sh "$@" > "$to" 2>&1 < /dev/null &) > /dev/null 2>&1
  # Who calls ends what is left of this group.
  while [ ! -s STATE/${job}_$i.pid ]; do sleep 0.01; done
done
echo $job)sh"},
    {"srun", R"sh(
others=1
while :; do case "$1" in
  --nodes=*) others=${1#*=};;
  --*) ;;
  *) break;;
esac; shift; done
for i in $(seq 0 $((others - 1))); do
  SLURM_NODEID=$i SLURMD_NODENAME=n$((i + 1)) "$@" & pids="$pids $!"
done
code=0
for pid in $pids; do wait $pid || { code=$?; echo "srun: error: a task: Exited with exit code $code" >&2; }; done
exit $code)sh"},
    {"squeue", R"sh(
for a in "$@"; do case "$a" in
  --name=*) grep -lx "${a#*=}" STATE/*.name 2>/dev/null | sed 's/.*\///; s/.name//'; exit 0;;
  --jobs=*) jobs=$(echo "${a#*=}" | tr , ' ');;
esac; done
for job in $jobs; do for f in STATE/${job}_*; do
  case $f in *.pid) continue;; esac
  echo "$(basename $f)|$(cat $f)|n0|None"
done; done)sh"},
    {"sacct", "exit 1"},
    {"scancel", R"sh(
for job in "$@"; do for f in STATE/${job}*.pid; do
  [ -e $f ] && kill -TERM -$(cat $f) 2>/dev/null; done; done; true)sh"},
    {"scontrol", "echo 'MaxArraySize = 1001'"},
}};

// Writes them into a new folder, to be first on PATH; each adds its name to the file `calls` there.
inline void WriteFakeSlurm(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "state");
  for (const auto& [name, text] : kFakeSlurm) {
    std::string script = "#!/bin/sh\necho " + std::string(name) + " >> STATE/../calls\n" + text;
    for (auto at = script.find("STATE"); at != script.npos; at = script.find("STATE", at)) {
      script.replace(at, 5, (folder / "state").string());
    }
    ASSERT_TRUE(WriteFileAtomic(folder / name, script + "\n").ok());
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  }
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_FAKE_SLURM_H_
