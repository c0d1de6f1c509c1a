// Which drill works on which runs now, so that two drills of one history never take the same run.
//
// A claim lasts as long as its drill's lease, which the drill renews while it lives; claims of a
// dead drill may be taken once its lease is over. Times are the database's own: the server's, or,
// for a file, the calling machine's. A claim says nothing about a run; it is no verdict.
#ifndef RHARNESS_HARNESS_HISTORY_CLAIM_H_
#define RHARNESS_HARNESS_HISTORY_CLAIM_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/clock.h"

namespace rharness {

// Who claims: a drill, and the process that works on it.
struct Claimant {
  std::string drill_id;
  std::string host;
  std::int64_t pid = 0;
  std::string process;  // its identity, to check on its machine whether it is gone
  std::chrono::milliseconds lease{};
};

struct Claim {
  std::string run_id;
  std::string drill_id;
  std::string host;
  std::int64_t pid = 0;
  std::string process;
  WallTime since{};
  WallTime until{};
};

struct ClaimOutcome {
  std::vector<std::string> taken;  // the claimant's now, new or kept; in the order of the request
  std::vector<Claim> held;         // of the requested ones: by others
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_CLAIM_H_
