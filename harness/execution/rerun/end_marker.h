// The end marker of an attempt: the last file written, which binds evidence to a ticket.
//
// Role: a dispatcher's proof from a machine that it does not see. "ended.json" (rharness.ended/v1)
// beside the evidence, written by rename once everything else is on disk: the ticket's digest, size
// and digest of the evidence, the digest of the logs. No scheduler's report replaces it.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_END_MARKER_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_END_MARKER_H_

#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

// An attempt that ended, and its proof.
struct ProvenEnd {
  RerunResult result;
  std::string evidence_sha256;
  std::string logs_sha256;
};

// `folder` is that of the rerun's context, and contains its evidence. Errors: io.
Status WriteEndMarker(const std::filesystem::path& folder, const Ticket& ticket,
                      const RerunResult& result);

// None if there is no marker. Errors: integrity if the marker is another ticket's, or the evidence
// or the logs do not match it; invalid_input if it cannot be read; io. The runner of the attempt
// wrote these files: they are read without following links.
Result<std::optional<ProvenEnd>> ReadEndMarker(const std::filesystem::path& folder,
                                               const Ticket& ticket);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_END_MARKER_H_
