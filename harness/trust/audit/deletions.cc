// Deleted files beside the facts that name them.
#include "harness/trust/audit/deletions.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/trust/approval/deleted_files.h"

namespace rharness {
namespace {

void MarkFact(const DeletedFile& one, std::vector<AuditFact>* made) {
  for (AuditFact& fact : *made) {
    const bool is_it = fact.name == one.file.role && !one.file.sha256.empty() &&
                       fact.value.find(one.file.sha256) != fact.value.npos;
    if (is_it) fact.value += "; " + DeletedWords(one);
  }
}

}  // namespace

Status AddDeletions(const AnswerRequest& request, HistoryStore* store, AuditReport* report,
                    std::vector<std::string>* lists) {
  ASSIGN_OR_RETURN(const auto files,
                   DeletedFilesOf(request.run_id, request.trust, request.now, store));
  for (const DeletedFile& one : files) {
    if (std::ranges::find(*lists, one.list_sha256) == lists->end()) {
      lists->push_back(one.list_sha256);
    }
    MarkFact(one, &report->made);
    if (!one.doubt.empty()) {
      report->statements.push_back({.file = "deletion list " + one.list_sha256,
                                    .says = {},
                                    .signed_by = {},
                                    .refused = DeletedWords(one)});
      continue;
    }
    report->exceptions.push_back(
        {.kind = kAuditDeletion,
         .about = fmt::format("{} {}", one.file.role, one.file.path),
         .reason = one.reason,
         .signed_by = fmt::format("{} (asked) and {} (approved)", one.asked_by, one.approved_by),
         .until = fmt::format("{} {} (list {})",
                              one.step == DeletionStep::kGone      ? "gone since"
                              : one.step == DeletionStep::kMissing ? "not there at"
                                                                   : "about to go at",
                              FormatTime(one.at), one.list_sha256.substr(0, 12)),
         .holds = true});
  }
  return {};
}

}  // namespace rharness
