// A log beside the records that it is about.
#include "harness/trust/audit/audit.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/files.h"
#include "harness/history/location.h"
#include "harness/trust/audit/approvals.h"
#include "harness/trust/audit/log_view.h"
#include "harness/trust/audit/tree_head.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class BookSource : public AppendSource {
 public:
  BookSource(const RecordSources& sources, const AppendRequest& request)
      : sources_(sources), request_(request) {}
  Status Load() override {
    ASSIGN_OR_RETURN(book_, RecordBook::Load(sources_));
    return {};
  }
  Status Take(const AuditEntry& entry) override { return book_->Take(entry); }
  Result<std::vector<HeldRecord>> New() override {
    if (book_->derived()) return *book_->derived();
    if (book_->HasApprovals()) {
      ASSIGN_OR_RETURN(const auto doubt,
                       DoubtfulApproval(sources_.history, request_.trust, request_.clock->Now()));
      if (doubt) return *doubt;
    }
    std::vector<HeldRecord> records;
    for (const HeldRecord* one : book_->Missing()) records.push_back(*one);
    return records;
  }

 private:
  const RecordSources& sources_;
  const AppendRequest& request_;
  std::optional<RecordBook> book_;
};

// Puts a change into the outcome; returns every other error.
Status Fault(const Error& error, AuditOutcome* outcome) {
  if (error.code != ErrorCode::kIntegrity) return error;
  outcome->fault = error;
  return {};
}

}  // namespace

Result<fs::path> DefaultLogFolder(const std::string& history) {
  const auto file = ParseHistoryUrl(history);
  if (file.ok()) return fs::path(file->string() + ".audit");
  if (file.error().code != ErrorCode::kUnsupported) return file.error();
  return InvalidInput(
      "a history in a database server has no folder beside it; say where its audit "
      "log is kept",
      "--log");
}

Result<Appended> AppendRecords(const RecordSources& sources, const AppendRequest& request) {
  BookSource source(sources, request);
  return AppendToLog(request, &source);
}

Result<AuditOutcome> Audit(const AuditRequest& request) {
  AuditOutcome outcome;
  // The log first: later entries are in the history as well.
  auto log = OpenLog(request.folder);
  if (!log.ok()) {
    RETURN_IF_ERROR(Fault(log.error(), &outcome));
    return outcome;
  }
  outcome.unfinished = log->unfinished;
  auto book = RecordBook::Load(request.sources);
  if (!book.ok()) {
    RETURN_IF_ERROR(Fault(book.error(), &outcome));
    return outcome;
  }
  LogChecks checks{.trust = request.trust, .kept = {}, .now = request.now};
  for (const fs::path& file : request.kept) {
    auto head = ReadKeptHead(file);
    if (!head.ok()) {
      RETURN_IF_ERROR(Fault(head.error(), &outcome));
      return outcome;
    }
    checks.kept.push_back(std::move(*head));
  }
  auto checked = CheckLog(
      &*log, checks, [&](const AuditEntry& entry) { return book->Take(entry); }, &outcome.bad);
  if (!checked.ok()) {
    RETURN_IF_ERROR(Fault(checked.error(), &outcome));
    return outcome;
  }
  if (checked->tree.size == 0) {
    return NotFound("the log has no entries; `rharness audit append` enters some",
                    request.folder.string());
  }
  outcome.log = std::move(*checked);
  outcome.not_looked_at = book->not_looked_at();
  outcome.exceptions = book->Exceptions();
  for (const HeldRecord* one : book->Missing()) outcome.missing.push_back(*one);
  if (book->derived()) outcome.fault = book->derived();
  if (!outcome.fault && book->HasApprovals()) {
    ASSIGN_OR_RETURN(outcome.fault,
                     DoubtfulApproval(request.sources.history, request.trust, request.now));
    outcome.held_by_names = request.trust != nullptr && !TrustForRetirements(request.trust);
  }
  return outcome;
}

}  // namespace rharness
