// Lines of a log beside the records of one run.
#include "harness/trust/audit/run_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/history/held_deletions.h"
#include "harness/history/held_record.h"
#include "harness/trust/audit/entry.h"
#include "harness/trust/audit/log_check.h"
#include "harness/trust/audit/log_view.h"
#include "harness/trust/audit/proof.h"

namespace rharness {
namespace {

// The log's side of the answer.
class LogSide {
 public:
  LogSide(const AnswerRequest& request, const std::vector<std::string>& lists, AuditReport* report)
      : request_(request), lists_(lists), report_(report) {}

  Status Read() {
    ASSIGN_OR_RETURN(log_, OpenLog(request_.log));
    report_->tree_size = log_.entries.count();
    ASSIGN_OR_RETURN(const TreeHash root, TreeRoot(&log_.nodes, report_->tree_size));
    report_->root_sha256 = ToHex(root);
    RETURN_IF_ERROR(ReadHead());
    ASSIGN_OR_RETURN(auto records, ReadHeldRecordsOf(request_.run_id, request_.history));
    for (const std::string& list : lists_) {
      ASSIGN_OR_RETURN(auto deleted, ReadHeldDeletion(list, request_.history));
      std::ranges::move(deleted, std::back_inserter(records));
    }
    for (const HeldRecord& one : records) held_[{one.kind, one.name}] = ToHex(one.sha256);
    RETURN_IF_ERROR(ReadLines());
    for (const HeldRecord& one : records) {
      if (seen_.contains({one.kind, one.name})) continue;
      report_->entries.push_back({.index = {},
                                  .kind = one.kind,
                                  .name = one.name,
                                  .sha256 = ToHex(one.sha256),
                                  .entered = {},
                                  .state = AuditEntryState::kNotEntered});
    }
    return {};
  }

 private:
  using KindAndName = std::pair<std::string, std::string>;

  Status ReadHead() {
    if (log_.heads.empty()) return {};
    const HeadText& text = log_.heads.back();
    std::string signers;
    if (request_.trust != nullptr) {
      ASSIGN_OR_RETURN(const VerifiedHead head,
                       VerifyTreeHead(text.text, text.where, *request_.trust, request_.now));
      head_ = head.head;
      signers = ", signed by " + SignersText(head.signed_by);
    } else {
      ASSIGN_OR_RETURN(head_, PeekTreeHead(text.text, text.where));
      report_->notes.push_back(
          "who signed the log's heads was not looked at; --trust says whom to "
          "believe");
    }
    report_->head =
        fmt::format("over {} entries, of {}{}", head_.tree.size, FormatTime(head_.time), signers);
    return {};
  }

  Status ReadLines() {
    std::uint64_t index = 0;
    EntriesOfRun of_run(request_.run_id);
    std::vector<std::string> lines;
    RETURN_IF_ERROR(log_.entries.ReadAll([&](std::span<const std::string_view> some) -> Status {
      for (const std::string_view line : some) {
        EntryParts parts;
        if (!ScanEntry(line, &parts) || parts.index != index) {
          return IntegrityError(EntryWords(index, "", "") + " is not in its place",
                                log_.entries.Where(index));
        }
        ++index;
        if (of_run.Take(parts.kind, parts.name) || IsOfItsDeletions(parts)) {
          lines.emplace_back(line);
        }
      }
      return {};
    }));
    for (const std::string& line : lines) {
      ASSIGN_OR_RETURN(const AuditEntry entry, ParseEntry(line, request_.log.string()));
      RETURN_IF_ERROR(AddRow(entry));
    }
    return {};
  }

  Status AddRow(const AuditEntry& entry) {
    const KindAndName key = {entry.kind, entry.name};
    AuditEntryRow row{.index = entry.index,
                      .kind = entry.kind,
                      .name = entry.name,
                      .sha256 = entry.sha256,
                      .entered = entry.time,
                      .state = AuditEntryState::kAsEntered,
                      .signed_over = entry.index < head_.tree.size};
    const auto held = held_.find(key);
    if (held == held_.end()) {
      row.state = AuditEntryState::kGone;
    } else if (held->second != entry.sha256) {
      row.state = AuditEntryState::kChanged;
    } else if (!seen_.insert(key).second) {
      row.state = AuditEntryState::kTwice;
    }
    if (row.signed_over) {
      const auto proof = ProveEntry(&log_, entry.index, head_.tree);
      if (!proof.ok() && proof.error().code != ErrorCode::kIntegrity) return proof.error();
      if (!proof.ok()) row.state = AuditEntryState::kChanged;
    }
    seen_.insert(key);
    report_->entries.push_back(std::move(row));
    return {};
  }

  bool IsOfItsDeletions(const EntryParts& parts) const {
    return std::ranges::any_of(lists_, [&](const std::string& list) {
      return IsOfDeletion(parts.kind, parts.name, list);
    });
  }

  const AnswerRequest& request_;
  const std::vector<std::string>& lists_;
  AuditReport* report_;
  LogView log_;
  TreeHead head_;
  std::map<KindAndName, std::string> held_;
  std::set<KindAndName> seen_;
};

}  // namespace

Status AddRunEntries(const AnswerRequest& request, const std::vector<std::string>& deletion_lists,
                     AuditReport* report) {
  return LogSide(request, deletion_lists, report).Read();
}

}  // namespace rharness
