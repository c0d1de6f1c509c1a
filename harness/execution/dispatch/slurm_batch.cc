// Writing a batch, and the arguments of sbatch.
#include "harness/execution/dispatch/slurm_batch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/dispatch/job_margins.h"
#include "harness/execution/dispatch/task_folder.h"
#include "harness/execution/rerun/gang_side.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Paths come as arguments: nothing is written into the script.
constexpr std::string_view kScript =
    "#!/bin/sh\n"
    "[ -z \"$3\" ] || PATH=$3\n"
    "export PATH\n"
    "unset SLURM_JWT\n"
    "task=\"$2/$SLURM_ARRAY_TASK_ID\"\n"
    // Slurm would number the nodes itself: node 0 is not where the script runs.
    "if [ -n \"$4\" ]; then\n"
    "  mkdir -p \"$task/out\"\n"
    "  trap 'scancel --signal=TERM \"$SLURM_JOB_ID\"' TERM\n"
    "  srun --overlap --nodes=\"$4\" --ntasks=\"$4\" --ntasks-per-node=1 --export=ALL \\\n"
    "    --kill-on-bad-exit=0 --no-kill --mem=0 --mpi=none \\\n"
    "    \"$1\" rerun \"$task/ticket.json\" --out \"$task/out\" --node step &\n"
    "  wait $!\n"
    "  [ $? -le 128 ] || wait $!\n"  // the signal ended the first
    "  exit\n"
    "fi\n"
    "if [ \"${SLURM_JOB_NUM_NODES:-1}\" -gt 1 ]; then\n"
    "  others=$((SLURM_JOB_NUM_NODES - 1))\n"
    "  mkdir -p \"$task/out\"\n"
    // Of what srun says the beginning and the end are kept: it may have no end.
    "  ({ srun --overlap --relative=1 --nodes=$others --ntasks=$others --ntasks-per-node=1 \\\n"
    "    --export=ALL --kill-on-bad-exit=0 --no-kill --mem=0 --mpi=none \\\n"
    "    \"$1\" rerun \"$task/ticket.json\" --out \"$task/out\" --node step \\\n"
    "    2>&1 >&3\n"
    "  echo \"srun: ended with $?\"; } |\n"
    "    { dd bs=4096 count=1000 2> /dev/null; tail -c 4096; } > \"$task/out/step.log\") 3>&1 &\n"
    "fi\n"
    "exec \"$1\" rerun \"$task/ticket.json\" --out \"$task/out\"\n";

}  // namespace

Status CheckSbatchOption(const std::string& option) {
  static constexpr std::array<std::string_view, 16> kOurs = {
      "--array",     "--parsable", "--export",     "--output",   "--error",  "--chdir",
      "--job-name",  "--comment",  "--no-requeue", "--requeue",  "--signal", "--wrap",
      "--open-mode", "--wait",     "--dependency", "--test-only"};
  const std::string name = option.substr(0, option.find('='));
  if (!name.starts_with("--") || name.size() < 3) {
    return InvalidInput(fmt::format("'{}' is no long option of sbatch; expected one such as "
                                    "--partition=gpu",
                                    TerminalSafe(option)),
                        "--sbatch");
  }
  if (std::ranges::find(kOurs, name) == kOurs.end()) return {};
  return InvalidInput(fmt::format("{} is given by rharness itself", name), "--sbatch");
}

ResourceClass ClassOf(const Ticket& ticket) {
  const Resources& needs = ticket.resources;
  ResourceClass shared{
      .cpus = std::max(1, needs.cpus), .gpus = std::max(0, needs.gpus), .node = ticket.node};
  if (needs.memory_bytes > 0) {
    shared.memory_mib = std::bit_ceil((needs.memory_bytes >> 20U) + 1) + kJobMarginMib;
  }
  if (IsGang(ticket)) {
    const Gang& gang = *ticket.manifest.gang;
    shared.nodes = gang.nodes;
    if (gang.start == GangStart::kOnce) shared.node_tasks = gang.tasks_per_node;
    shared.numbers = NumbersNodes(ticket);
  }
  const double minutes = std::ceil((needs.timeout_seconds + kJobMarginSeconds) / 60.0);
  shared.minutes = std::bit_ceil(static_cast<std::uint64_t>(std::clamp(minutes, 1.0, 1e9)));
  return shared;
}

std::string BatchName(const SlurmOptions& options, const fs::path& batch) {
  return fmt::format("rharness.{}.{}", options.drill_id, batch.filename().string());
}

std::vector<std::string> SbatchArguments(const SlurmOptions& options, const fs::path& batch,
                                         const ResourceClass& needs, std::size_t tasks,
                                         const std::set<std::string>& avoid) {
  // In patterns of file names a "%" is written twice.
  std::string log = batch.string();
  for (auto at = log.find('%'); at != std::string::npos; at = log.find('%', at + 2)) {
    log.insert(at, 1, '%');
  }
  std::vector<std::string> arguments = {
      "--job-name=" + BatchName(options, batch),
      "--comment=" + options.drill_id,
      fmt::format("--array=0-{}", tasks - 1),
      fmt::format("--nodes={}", needs.nodes),
      fmt::format("--ntasks={}", needs.nodes * needs.node_tasks),
      fmt::format("--cpus-per-task={}", (needs.cpus + needs.node_tasks - 1) / needs.node_tasks),
      fmt::format("--time={}", needs.minutes),
      "--no-requeue",
      "--signal=B:TERM@60",
      "--chdir=" + batch.string(),
      fmt::format("--output={}/%a/log.txt", log),
  };
  // The others of a gang end by themselves, with evidence that names the lost node.
  if (needs.nodes > 1) {
    arguments.push_back(fmt::format("--ntasks-per-node={}", needs.node_tasks));
    arguments.emplace_back("--no-kill");
  }
  if (needs.gpus > 0) arguments.push_back(fmt::format("--gres=gpu:{}", needs.gpus));
  if (needs.memory_mib > 0) arguments.push_back(fmt::format("--mem={}M", needs.memory_mib));
  // A failed node is no reason to move work that is meant for this node.
  if (!avoid.empty() && needs.node.empty()) {
    arguments.push_back(fmt::format("--exclude={}", fmt::join(avoid, ",")));
  }
  // Other values let the node make the environment by a login shell of the user, which can hang and
  // print anything: Slurm 22.05 does so for "NIL", too. SlurmClient selects the variables to pass.
  arguments.emplace_back("--export=ALL");
  for (const std::string& option : options.sbatch) {
    const bool says_where = option.starts_with("--nodelist") || option.starts_with("--exclude=");
    if (needs.node.empty() || !says_where) arguments.push_back(option);
  }
  if (!needs.node.empty()) arguments.push_back("--nodelist=" + needs.node);
  arguments.push_back((batch / "script.sh").string());
  arguments.push_back(options.program.string());
  arguments.push_back(batch.string());
  const auto path = PickEnvironment({"PATH"});
  arguments.push_back(path.contains("PATH") ? path.at("PATH") : "");
  if (needs.numbers) arguments.push_back(std::to_string(needs.nodes));
  return arguments;
}

Status WriteBatch(const fs::path& batch, const std::vector<Attempt>& attempts) {
  RETURN_IF_ERROR(MakeDirectories(batch));
  RETURN_IF_ERROR(WriteFileAtomic(batch / "script.sh", kScript));
  return WriteTasks(batch, attempts);
}

}  // namespace rharness
