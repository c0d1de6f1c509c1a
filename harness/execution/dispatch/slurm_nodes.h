// Which nodes a site's Slurm has, and which of them could take a job now. Pure: text in, nodes out.
//
// Role: for what is to be done once on every node of a class (--distribute).
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

// What sinfo is asked for: a line a node and partition, the reason last, since it may hold
// anything.
inline constexpr std::string_view kSinfoFormat = "%N|%P|%T|%f|%E";

// By name, each once. Where no partition was asked for, those of the default one alone. Errors:
// invalid_input, which quotes the line that is none, or names a node that no file can be named
// after.
Result<std::vector<SlurmNode>> ParseSinfo(std::string_view text, bool default_partition);

// Which nodes are meant, in options of sbatch: --partition, --nodelist, --exclude, --constraint,
// --reservation. Of one that is given twice the last counts, as for sbatch.
struct NodeChoice {
  std::string partition;
  std::string nodelist;
  std::string exclude;
  std::string constraint;
  bool reserved = false;            // in a reservation, whose nodes are not lent otherwise
  std::vector<std::string> others;  // the options but --nodelist and --exclude
};
// Errors: invalid_input for options that say how many nodes or tasks there are, which is settled.
Result<NodeChoice> ChooseNodes(const std::vector<std::string>& sbatch);

// Whether a node with these features satisfies an expression such as "a100&(nvme|scratch)", read
// from left to right as Slurm does. Errors: invalid_input for counts ("a*4") and what is none.
Result<bool> HasFeatures(std::string_view constraint, const std::set<std::string>& features);

enum class NodeRoom {
  kFree,      // nothing else runs there: a job starts at once
  kBusy,      // a job waits there
  kUnusable,  // no job starts there before somebody sees to it
};
NodeRoom RoomOf(const SlurmNode& node, bool reserved);

// "drained: bad DIMM"; "down, does not respond".
std::string DescribeState(const SlurmNode& node);

// "gpu[001-003,007],login": in the order of numbers, as options of Slurm take it.
std::string FoldNames(const std::vector<std::string>& names);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_NODES_H_
