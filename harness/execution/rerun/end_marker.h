// The end marker of an attempt: the last thing that is written, and what binds evidence to a
// ticket.
//
// Role: what a dispatcher believes of a machine that it does not see. "ended.json"
// (rharness.ended/v1) beside the evidence, written by rename once everything else is on disk: the
// ticket's digest, size and digest of the evidence, the digest of the logs. No scheduler's word
// stands in for it.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_END_MARKER_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_END_MARKER_H_

#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

// An attempt that ended, and what proves it.
struct ProvenEnd {
  RerunResult result;
  std::string evidence_sha256;
  std::string logs_sha256;
};

// `folder` is that of the rerun's context, and holds its evidence. Errors: io.
Status WriteEndMarker(const std::filesystem::path& folder, const Ticket& ticket,
                      const RerunResult& result);

// None where there is no marker. Errors: integrity where the marker is another ticket's, or the
// evidence or the logs are not those that it tells; invalid_input where it cannot be read; io. What
// is there was written by whoever ran the attempt: it is reached by no link.
Result<std::optional<ProvenEnd>> ReadEndMarker(const std::filesystem::path& folder,
                                               const Ticket& ticket);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_END_MARKER_H_
