// What the nodes of a gang leave, as the evidence of one rerun. Pure.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_MERGE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_MERGE_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/execution/rerun/gang_notes.h"

namespace rharness {

// A node whose beat stopped, or that never came up. Its subject is the host.
inline constexpr std::string_view kNodeLost = "node_lost";
// Two nodes wrote a declared output with different bytes: neither is that of the run, which fails.
inline constexpr std::string_view kOutputDiffers = "output_differs";

// A file that a rank read, and neither rank 0 nor the record. Its subject is the file.
inline constexpr std::string_view kRankInput = "rank_input";

struct GangEnds {
  std::vector<std::optional<PartEnd>> nodes;  // by number, node 0 among them; empty: lost
  std::optional<FirstFailure> first;
  std::vector<std::string> hosts;  // by number
  int tasks = 0;                   // ranks in all, as in a gang
  GangStart start = GangStart::kPerTask;
};

// Completes node 0's evidence. A lost node or an obstacle of one is that of the rerun; else the
// first failure is its outcome, whatever other ranks did later. All succeeded: exited with 0, the
// longest time, all processor time, the most memory of a node. Returns whether the rerun is worth
// another attempt.
bool MergeEnds(const GangEnds& ends, Evidence* evidence);

// Why a gang cannot start, by what its nodes said: the obstacle of the first that has one, with its
// node; empty obstacle: it can.
NodeReady WhyNotReady(const std::vector<NodeReady>& nodes);

// "node 1 (n2)".
std::string NodeInWords(std::size_t node, const std::string& host);
}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_MERGE_H_
