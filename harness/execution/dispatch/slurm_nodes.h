// The nodes of a site's Slurm, and whether they could take a job now. Pure: text in, nodes out.
//
// Role: for commands that run once on every node of a class (--distribute).
// Sources: sinfo(1) of Slurm 22.05, section NODE STATE CODES; sbatch(1), --constraint.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_NODES_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_NODES_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct SlurmNode {
  std::string name;
  std::string state;    // "idle", "mixed", "drained", ..., without the marks behind it
  bool silent = false;  // "*": it does not respond
  std::set<std::string> features;
  std::string reason;  // why an operator, or Slurm, took it out of service; may be empty
};

// Format for sinfo: a line per node and partition, the reason last, since it may contain anything.
inline constexpr std::string_view kSinfoFormat = "%N|%P|%T|%f|%E";

// By name, each once. Without a requested partition, those of the default one alone. Errors:
// invalid_input, which quotes an invalid line, or names a node that cannot be a file name.
Result<std::vector<SlurmNode>> ParseSinfo(std::string_view text, bool default_partition);

// The chosen nodes, from options of sbatch: --partition, --nodelist, --exclude, --constraint,
// --reservation. Of a repeated option the last counts, as in sbatch.
struct NodeChoice {
  std::string partition;
  std::string nodelist;
  std::string exclude;
  std::string constraint;
  bool reserved = false;            // in a reservation, whose nodes are not available otherwise
  std::vector<std::string> others;  // the options but --nodelist and --exclude
};
// Errors: invalid_input for options with a number of nodes or tasks, which is fixed.
Result<NodeChoice> ChooseNodes(const std::vector<std::string>& sbatch);

// Whether a node with these features satisfies an expression such as "a100&(nvme|scratch)", read
// from left to right as Slurm does. Errors: invalid_input for counts ("a*4") and invalid
// expressions.
Result<bool> HasFeatures(std::string_view constraint, const std::set<std::string>& features);

enum class NodeRoom {
  kFree,      // nothing else runs there: a job starts at once
  kBusy,      // a job waits there
  kUnusable,  // no job starts there before an operator repairs it
};
NodeRoom RoomOf(const SlurmNode& node, bool reserved);

// "drained: bad DIMM"; "down, does not respond".
std::string DescribeState(const SlurmNode& node);

// "gpu[001-003,007],login": in the order of numbers, as in options of Slurm.
std::string FoldNames(const std::vector<std::string>& names);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_NODES_H_
