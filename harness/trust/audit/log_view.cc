// Opens the files of a log together, between two checks for a running append.
#include "harness/trust/audit/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostStartBytes = 4096;
constexpr int kMostLooks = 100;

// What changes whenever somebody adds to a log.
struct LogMarks {
  std::optional<AppendStart> start;
  std::uint64_t entries_bytes = 0;
  std::vector<HeadText> heads;
};

Result<LogMarks> LookAtMarks(const fs::path& folder) {
  LogMarks marks;
  ASSIGN_OR_RETURN(marks.start, ReadAppendStart(folder));
  ASSIGN_OR_RETURN(marks.heads, ReadHeadLines(folder));
  std::error_code error;
  const auto bytes = fs::file_size(folder / kEntriesFile, error);
  marks.entries_bytes = error ? 0 : bytes;
  return marks;
}

bool AreSame(const LogMarks& a, const LogMarks& b) {
  if (a.start != b.start || a.heads.size() != b.heads.size()) return false;
  // While an append is under way its lines grow, and are left out.
  return a.start.has_value() || a.entries_bytes == b.entries_bytes;
}

// An append that signed a head is whole, though its mark may still be there.
bool IsOver(const AppendStart& start, const std::vector<HeadText>& heads) {
  if (heads.empty()) return false;
  const auto last = PeekTreeHead(heads.back().text, heads.back().where);
  return last.ok() && last->tree.size > start.entries;
}

Result<LogView> OpenBetween(const fs::path& folder, LogMarks marks) {
  LogView view{.folder = folder, .heads = std::move(marks.heads)};
  if (marks.start && !IsOver(*marks.start, view.heads)) view.unfinished = marks.start;
  const std::uint64_t bytes = view.unfinished ? view.unfinished->bytes : kWholeFile;
  const std::uint64_t nodes =
      view.unfinished ? NodesOf(view.unfinished->entries) * sizeof(TreeHash) : kWholeFile;
  ASSIGN_OR_RETURN(view.entries, EntryFile::Open(folder, bytes));
  ASSIGN_OR_RETURN(view.nodes, NodeFile::Open(folder, nodes));
  if (view.unfinished && (view.entries.count() != view.unfinished->entries ||
                          view.entries.whole_bytes() != view.unfinished->bytes)) {
    return IntegrityError(
        fmt::format("says that the log had {} entries in {} bytes when an append began; there are "
                    "{} in {} of them",
                    view.unfinished->entries, view.unfinished->bytes, view.entries.count(),
                    view.entries.whole_bytes()),
        (folder / kAppendFile).string());
  }
  return view;
}

}  // namespace

Result<std::optional<AppendStart>> ReadAppendStart(const fs::path& folder) {
  const std::string where = (folder / kAppendFile).string();
  const auto text = ReadFile(where, kMostStartBytes);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return std::optional<AppendStart>();
  if (!text.ok()) return text.error();
  AppendStart start;
  const auto json = ParseJson(*text, where);
  if (!json.ok()) return IntegrityError(json.error().message, where);
  JsonReader reader(*json, where);
  reader.ReadSchema("rharness.audit_append", 1);
  reader.Read("entries", &start.entries);
  reader.Read("bytes", &start.bytes);
  const Status status = reader.status();
  if (!status.ok()) return IntegrityError(status.error().message, status.error().where);
  if (start.entries >> 62 != 0) return IntegrityError("more entries than a log can have", where);
  return std::optional<AppendStart>(start);
}

Status WriteAppendStart(const fs::path& folder, const AppendStart& start) {
  return WriteFileAtomic(folder / kAppendFile,
                         Json::MakeObject({{"schema", "rharness.audit_append/v1"},
                                           {"entries", start.entries},
                                           {"bytes", start.bytes}})
                                 .Dump() +
                             "\n");
}

Status RemoveAppendStart(const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / kAppendFile, error);
  if (error) {
    return IoError("cannot be removed: " + error.message(), (folder / kAppendFile).string());
  }
  return SyncFolder(folder);
}

Result<bool> HoldsLog(const fs::path& folder) {
  for (const char* name : {kEntriesFile, kNodesFile, kHeadsFile, kAppendFile}) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(folder / name, error);
    if (fs::exists(status)) return true;
    if (status.type() == fs::file_type::not_found) continue;
    return PathError("cannot be looked at", error.value(), folder / name);
  }
  return false;
}

Result<LogView> OpenLog(const fs::path& folder) {
  ASSIGN_OR_RETURN(const bool holds, HoldsLog(folder));
  if (!holds) {
    return NotFound(
        "holds no audit log; is its volume mounted? `rharness audit append --begin` begins one",
        folder.string());
  }
  for (int look = 0; look < kMostLooks; ++look) {
    ASSIGN_OR_RETURN(LogMarks before, LookAtMarks(folder));
    LogMarks kept = before;
    auto view = OpenBetween(folder, std::move(kept));
    ASSIGN_OR_RETURN(const LogMarks after, LookAtMarks(folder));
    if (AreSame(before, after)) return view;
  }
  return TimeoutError("others add to it all the time; try again", folder.string());
}

}  // namespace rharness
