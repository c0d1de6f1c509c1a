// What of a log's folder is the log at this moment, whoever is adding to it.
//
// Role: opens the files of a log together. While an append is under way, and after one that was cut
// short, append.json says where it began, and the log ends there; it goes when the append is whole.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_LOG_VIEW_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_LOG_VIEW_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/audit/entry_file.h"
#include "harness/trust/audit/tree_head.h"

namespace rharness {

inline constexpr char kAppendFile[] = "append.json";  // "rharness.audit_append/v1"

// Where an append began.
struct AppendStart {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  // of entries.jsonl
  bool operator==(const AppendStart&) const = default;
};
// Of append.json; empty where it is not there. Errors: integrity for another content; io.
Result<std::optional<AppendStart>> ReadAppendStart(const std::filesystem::path& folder);
// Durable when it returns.
Status WriteAppendStart(const std::filesystem::path& folder, const AppendStart& start);
Status RemoveAppendStart(const std::filesystem::path& folder);

struct LogView {
  std::filesystem::path folder;
  EntryFile entries;
  NodeFile nodes;
  std::vector<HeadText> heads;  // the log's own, in their order
  // Set: an append is under way or was cut short, and what it wrote is left out.
  std::optional<AppendStart> unfinished;
};

// Whether any file of a log lies there; of a folder that is missing none does. Errors: those of
// PathError.
Result<bool> HoldsLog(const std::filesystem::path& folder);

// Errors: not_found where there is no log (HoldsLog); integrity for files that cannot be a log's at
// all; io; timeout where others add to it so fast that no moment of rest is seen.
Result<LogView> OpenLog(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_LOG_VIEW_H_
