// Deletion lists read for the files of one run.
#include "harness/trust/approval/deleted_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/base/digest.h"
#include "harness/trust/approval/deletion_approval.h"
#include "harness/trust/attestation/approval_statements.h"

namespace rharness {
namespace {

// Whether it is the list that was begun, and names no file of this run: lists are long.
bool IsOfOthers(const DeletionRecord& record, const std::string& run_id) {
  return record.body.find("\"" + run_id + "\"") == std::string::npos &&
         Sha256HexOf(record.body) == record.list_sha256;
}

// What became of one file; empty: it stays, or its turn never came.
std::optional<DeletedItem> LastStep(const std::vector<DeletedItem>& steps, int item) {
  std::optional<DeletedItem> last;
  for (const DeletedItem& step : steps) {
    if (step.item != item || step.step == DeletionStep::kAbout) continue;
    if (step.step == DeletionStep::kStays) return std::nullopt;
    return step;
  }
  const auto about = std::ranges::find(steps, item, &DeletedItem::item);
  if (about != steps.end()) last = *about;
  return last;
}

// What is the same of every file of a list.
DeletedFile SaidOf(const DeletionRecord& record, const std::vector<DeletionTold>& all) {
  DeletedFile said{.list_sha256 = record.list_sha256,
                   .item = -1,
                   .file = {},
                   .step = DeletionStep::kAbout,
                   .at = record.begun,
                   .reason = {},
                   .asked_by = {},
                   .approved_by = {},
                   .doubt = {}};
  const auto told = std::ranges::find(all, record.list_sha256, &DeletionTold::list_sha256);
  if (told == all.end() || told->state == DeletionState::kDoubtful) {
    said.doubt = told == all.end() ? "nobody signed for it" : told->doubt;
    return said;
  }
  said.reason = told->reason;
  said.asked_by = record.asked_by;
  said.approved_by = record.approved_by;
  return said;
}

Status AddFilesOf(const std::string& run_id, const DeletionRecord& record, const DeletedFile& said,
                  HistoryStore* store, std::vector<DeletedFile>* files) {
  const auto list =
      ParseDeletionListOf(record.list_sha256, record.body, "deletion list " + record.list_sha256);
  if (!list.ok()) {
    DeletedFile unread = said;
    unread.doubt = list.error().message;
    files->push_back(std::move(unread));
    return {};
  }
  std::vector<DeletedItem> steps;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const DeletionItem& item = list->items[i];
    if (std::ranges::find(item.runs, run_id) == item.runs.end()) continue;
    if (steps.empty()) {
      ASSIGN_OR_RETURN(steps, store->DeletedItems(record.list_sha256));
    }
    const auto step = LastStep(steps, static_cast<int>(i));
    if (!step) continue;
    DeletedFile file = said;
    file.item = step->item;
    file.file = item;
    file.step = step->step;
    file.at = step->at;
    files->push_back(std::move(file));
  }
  return {};
}

}  // namespace

Result<std::vector<DeletedFile>> DeletedFilesOf(const std::string& run_id, const TrustPolicy* trust,
                                                WallTime now, HistoryStore* store) {
  std::vector<DeletedFile> files;
  ASSIGN_OR_RETURN(std::vector<DeletionRecord> records, store->Deletions());
  std::erase_if(records, [&](const DeletionRecord& one) { return IsOfOthers(one, run_id); });
  if (records.empty()) return files;
  const bool trusts = trust != nullptr && trust->FindRule(kDeletionPredicate, "") != nullptr;
  ASSIGN_OR_RETURN(const auto all, ListDeletions(trusts ? trust : nullptr, now, store));
  for (const DeletionRecord& record : records) {
    RETURN_IF_ERROR(AddFilesOf(run_id, record, SaidOf(record, all), store, &files));
  }
  return files;
}

std::string DeletedWords(const DeletedFile& file) {
  const std::string at = FormatTime(file.at);
  std::string words;
  if (file.item < 0) {
    words = fmt::format("a deletion was begun at {}; its files cannot be read", at);
  } else if (file.step == DeletionStep::kGone) {
    words = "deleted at " + at;
  } else if (file.step == DeletionStep::kMissing) {
    words = fmt::format("was to be deleted, and not there any more at {}", at);
  } else {
    words = fmt::format("about to be deleted at {}; that it is gone was not entered", at);
  }
  if (!file.doubt.empty()) {
    words += ", doubtful: " + file.doubt;
  } else {
    words += fmt::format(", asked for by {} and approved by {}: {}", file.asked_by,
                         file.approved_by, file.reason);
  }
  return words + fmt::format(" (list {})", file.list_sha256.substr(0, 12));
}

}  // namespace rharness
