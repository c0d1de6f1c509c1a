// One job array on disk: its attempts, and the arguments of sbatch.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_BATCH_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_BATCH_H_

#include <compare>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/dispatch/dispatcher.h"

namespace rharness {

struct SlurmOptions {
  std::filesystem::path folder;  // of the drill; absolute, and the same on every node
  std::string drill_id;
  std::filesystem::path program;    // rharness as the nodes see it
  std::vector<std::string> sbatch;  // further options of sbatch: "--partition=gpu"
};

// Errors: invalid_input for anything but a long option of sbatch, and for options that rharness
// sets.
Status CheckSbatchOption(const std::string& option);

// Shared by the tasks of an array. Memory and time are rounded up to a power of two, so that a
// drill of many runs needs few arrays; the node enforces each rerun's own limits.
struct ResourceClass {
  int cpus = 1;
  int gpus = 0;
  std::uint64_t memory_mib = 0;  // 0: the partition's default
  std::uint64_t minutes = 0;
  int nodes = 1;         // of each task of the array: a gang
  int node_tasks = 1;    // that the command itself starts on each of them, by srun
  std::string node;      // the required node; empty: any
  bool numbers = false;  // of a gang: the required nodes have its numbers in their order
  auto operator<=>(const ResourceClass&) const = default;
};
ResourceClass ClassOf(const Ticket& ticket);

// The arguments of sbatch after --parsable. Pure except for PATH, which the tasks get.
std::vector<std::string> SbatchArguments(const SlurmOptions& options,
                                         const std::filesystem::path& batch,
                                         const ResourceClass& needs, std::size_t tasks,
                                         const std::set<std::string>& avoid);

// By which Slurm's queue knows it.
std::string BatchName(const SlurmOptions& options, const std::filesystem::path& batch);

// WriteTasks, and the script that runs them. Errors: io.
Status WriteBatch(const std::filesystem::path& batch, const std::vector<Attempt>& attempts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_BATCH_H_
