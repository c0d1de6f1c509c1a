// The valid part of a log's folder at this moment, even during an append.
//
// Role: opens the files of a log together. During an append, and after an interrupted one,
// append.json has its start, and the log ends there; it is removed when the append is complete.
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
// Content of append.json; empty if missing. Errors: integrity for invalid content; io.
Result<std::optional<AppendStart>> ReadAppendStart(const std::filesystem::path& folder);
// Durable when it returns.
Status WriteAppendStart(const std::filesystem::path& folder, const AppendStart& start);
Status RemoveAppendStart(const std::filesystem::path& folder);

struct LogView {
  std::filesystem::path folder;
  EntryFile entries;
  NodeFile nodes;
  std::vector<HeadText> heads;  // the log's own, in their order
  // Set: an append is running or was interrupted, and its data are left out.
  std::optional<AppendStart> unfinished;
};

// Whether any file of a log lies there; false for a missing folder. Errors: those of PathError.
Result<bool> HoldsLog(const std::filesystem::path& folder);

// Errors: not_found if there is no log (HoldsLog); integrity for files that cannot be a log's; io;
// timeout if others append so fast that no quiet moment is seen.
Result<LogView> OpenLog(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_LOG_VIEW_H_
