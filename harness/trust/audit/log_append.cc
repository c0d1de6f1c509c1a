// The steps of an append: lock, mend, check, mark, write, sign, unmark.
#include "harness/trust/audit/log_append.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/audit/log_view.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesAtATime = 8192;

// A file that grows at its end, or is cut.
class GrowingFile {
 public:
  static Result<GrowingFile> Open(const fs::path& path) {
    GrowingFile file;
    file.path_ = path;
    file.descriptor_ = Descriptor(
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file.descriptor_.valid()) {
      return IoErrorFromErrno("cannot be opened for writing", errno, path.string());
    }
    return file;
  }
  Status Append(std::string_view text) {
    while (!text.empty()) {
      const ssize_t put = ::write(descriptor_.get(), text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return IoErrorFromErrno("cannot be written", errno, path_.string());
      text.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }
  Status CutTo(std::uint64_t bytes) {
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) == 0) return {};
    return IoErrorFromErrno("cannot be cut", errno, path_.string());
  }
  Status Sync() {
    if (::fsync(descriptor_.get()) == 0) return {};
    return IoErrorFromErrno("cannot be synced", errno, path_.string());
  }

 private:
  Descriptor descriptor_;
  fs::path path_;
};

Result<FolderLock> WaitForLock(const AppendRequest& request) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  const auto until = request.clock->Monotonic() +
                     std::chrono::duration_cast<std::chrono::nanoseconds>(request.wait);
  for (;;) {
    auto lock = FolderLock::Take(request.folder);
    if (lock.ok() || lock.error().code != ErrorCode::kInvalidInput) return lock;
    if (request.clock->Monotonic() >= until) {
      return TimeoutError("another process has been adding to it all the time; try again",
                          request.folder.string());
    }
    request.clock->SleepFor(kPause);
  }
}

// ".rharness-a1B2c3": the name of an incomplete file (WriteFileAtomic).
bool IsHalfWritten(const std::string& name) {
  constexpr std::string_view kBegins = ".rharness-";
  constexpr std::size_t kLetters = 6;
  return name.starts_with(kBegins) && name.size() == kBegins.size() + kLetters &&
         std::all_of(name.begin() + kBegins.size(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

// A log does not share a folder with anything else: a drill, a project.
Status RefuseOtherFolder(const fs::path& folder) {
  ASSIGN_OR_RETURN(const bool holds, HoldsLog(folder));
  if (holds) return {};
  bool others = false;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    others = others || (name != "lock" && name != "lost+found" && !IsHalfWritten(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return PathError("cannot be listed", error.value(), folder);
  }
  if (!others) return {};
  return InvalidInput(
      "holds files that are no audit log's; expected an audit log, or a new or an empty folder",
      folder.string());
}

// Unfinished files of a killed append. The lock keeps other writers away now.
Status RemoveHalfWritten(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!IsHalfWritten(at->path().filename().string())) continue;
    std::error_code gone;
    if (at->symlink_status(gone).type() != fs::file_type::regular) continue;
    fs::remove(at->path(), gone);
    if (gone) return PathError("cannot be removed", gone.value(), at->path());
  }
  if (error) return PathError("cannot be listed", error.value(), folder);
  return {};
}

// Removes the leftovers of an interrupted append. Returns whether there were any.
Result<bool> Mend(const fs::path& folder) {
  RETURN_IF_ERROR(RemoveHalfWritten(folder));
  ASSIGN_OR_RETURN(const auto start, ReadAppendStart(folder));
  if (!start) return false;
  ASSIGN_OR_RETURN(const LogView log, OpenLog(folder));
  if (log.unfinished) {
    ASSIGN_OR_RETURN(GrowingFile entries, GrowingFile::Open(folder / kEntriesFile));
    ASSIGN_OR_RETURN(GrowingFile nodes, GrowingFile::Open(folder / kNodesFile));
    RETURN_IF_ERROR(entries.CutTo(log.unfinished->bytes));
    RETURN_IF_ERROR(nodes.CutTo(
        std::min(log.nodes.size_bytes(), NodesOf(log.unfinished->entries) * sizeof(TreeHash))));
    RETURN_IF_ERROR(entries.Sync());
    RETURN_IF_ERROR(nodes.Sync());
  }
  RETURN_IF_ERROR(RemoveAppendStart(folder));
  return log.unfinished.has_value();
}

Result<std::string> LineOf(const HeldRecord& record, std::uint64_t index, WallTime time) {
  const AuditEntry entry{.index = index,
                         .kind = record.kind,
                         .name = record.name,
                         .sha256 = ToHex(record.sha256),
                         .time = time};
  std::string line = WriteEntry(entry);
  const auto read = ParseEntry(line, record.kind);
  if (read.ok() && *read == entry) return line;
  return InvalidInput(
      fmt::format("the {} '{}' cannot be entered: its name is empty, longer than "
                  "{} bytes or no UTF-8",
                  record.kind, TerminalSafe(record.name.substr(0, 200)), kMostEntryBytes));
}

// Lines and hashes of these records, durable when it returns.
Status WriteEntries(const fs::path& folder, const std::vector<HeldRecord>& records, WallTime time,
                    TreeGrower* tree) {
  ASSIGN_OR_RETURN(GrowingFile entries, GrowingFile::Open(folder / kEntriesFile));
  ASSIGN_OR_RETURN(GrowingFile nodes, GrowingFile::Open(folder / kNodesFile));
  std::vector<std::string> lines;
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < records.size(); i += lines.size()) {
    const std::size_t end = std::min(records.size(), i + kLinesAtATime);
    lines.clear();
    for (std::size_t at = i; at < end; ++at) {
      ASSIGN_OR_RETURN(lines.emplace_back(), LineOf(records[at], tree->size() + (at - i), time));
    }
    views.assign(lines.begin(), lines.end());
    std::string text, hashes;
    for (const std::string& line : lines) text.append(line).append(1, '\n');
    tree->Add(views, &hashes);
    RETURN_IF_ERROR(entries.Append(text));
    RETURN_IF_ERROR(nodes.Append(hashes));
  }
  RETURN_IF_ERROR(entries.Sync());
  RETURN_IF_ERROR(nodes.Sync());
  return SyncFolder(folder);
}

// Whether the last head is already the one that this key would sign.
bool IsSignedAlready(const LogView& log, const CheckedLog& checked, const SizedRoot& tree,
                     const Signer& signer) {
  if (checked.heads.empty() || checked.heads.back().head.tree != tree) return false;
  const auto envelope = ParseEnvelope(log.heads.back().text, log.heads.back().where);
  return envelope.ok() && IsSignedBy(*envelope, signer.public_key());
}

Result<std::string> AddHead(const LogView& log, const TreeHead& head, Signer* signer) {
  ASSIGN_OR_RETURN(std::string line, SignTreeHead(head, signer));
  std::string text;
  for (const HeadText& one : log.heads) text.append(one.text).append(1, '\n');
  RETURN_IF_ERROR(WriteFileAtomic(log.folder / kHeadsFile, text + line + "\n"));
  return line;
}

// A head that its reader's policy refuses would make every later look at the log end so.
Status HoldSignerToTrust(const AppendRequest& request, const SizedRoot& tree, WallTime time) {
  if (request.signer == nullptr || request.trust == nullptr) return {};
  const SizedRoot some{std::max<std::uint64_t>(tree.size, 1), tree.root};
  ASSIGN_OR_RETURN(const std::string line, SignTreeHead({some, time}, request.signer));
  const auto verified = VerifyTreeHead(line, "--key", *request.trust, time);
  if (verified.ok()) return {};
  return InvalidInput(
      fmt::format("may not sign heads of this log, and nothing was entered: {}; expected a rule of "
                  "the policy that names this key, such as {}",
                  verified.error().message, kTreeHeadRule),
      "--key");
}

struct Growth {
  std::vector<HeldRecord> records;
  WallTime time{};
};

// Writes new entries and signs; the log is valid up to here.
Result<Appended> Grow(const AppendRequest& request, LogView* log, const CheckedLog& checked,
                      const Growth& growth) {
  Appended done{.added = growth.records.size()};
  ASSIGN_OR_RETURN(TreeGrower tree, TreeGrower::Resume(&log->nodes, checked.tree.size));
  for (const HeldRecord& record : growth.records) {  // before anything is begun
    RETURN_IF_ERROR(LineOf(record, 0, growth.time));
  }
  const bool writes = request.begin || !growth.records.empty();
  if (writes) {
    RETURN_IF_ERROR(
        WriteAppendStart(log->folder, {log->entries.count(), log->entries.whole_bytes()}));
    RETURN_IF_ERROR(WriteEntries(log->folder, growth.records, growth.time, &tree));
  }
  done.tree = {tree.size(), tree.Root()};
  if (!log->heads.empty()) done.head = log->heads.back().text;
  if (request.signer != nullptr && done.tree.size > 0 &&
      !IsSignedAlready(*log, checked, done.tree, *request.signer)) {
    ASSIGN_OR_RETURN(done.head, AddHead(*log, {done.tree, growth.time}, request.signer));
    done.signed_now = true;
  }
  if (writes) RETURN_IF_ERROR(RemoveAppendStart(log->folder));
  return done;
}

// For a log to begin: nothing, or an existing empty one.
Result<LogView> OpenNewLog(const fs::path& folder) {
  ASSIGN_OR_RETURN(const bool holds, HoldsLog(folder));
  LogView log{.folder = folder};
  if (holds) {
    ASSIGN_OR_RETURN(log, OpenLog(folder));
  }
  if (log.entries.count() == 0 && log.entries.torn().empty() && log.heads.empty()) return log;
  return InvalidInput(
      fmt::format("holds an audit log already, of {} {}; it is added to without --begin",
                  log.entries.count(), log.entries.count() == 1 ? "entry" : "entries"),
      folder.string());
}

// The time of the next entry. Within ten minutes times do not go back. If the last time is further
// in the future, its clock was wrong: a warning says so, and the entry has the present time.
Result<WallTime> TimeAfter(const CheckedLog& checked, WallTime now) {
  constexpr auto kClockSkew = std::chrono::minutes(10);
  WallTime last = now;
  if (!checked.last_time.empty()) {
    ASSIGN_OR_RETURN(const WallTime entry, ParseTime(checked.last_time));
    last = std::max(last, entry);
  }
  if (!checked.heads.empty()) last = std::max(last, checked.heads.back().head.time);
  if (last <= now + kClockSkew) return last;
  LogWarning(
      fmt::format("the log's last time is {}, and it is {}: a clock was ahead when that was "
                  "entered; what follows has the time of now",
                  FormatTime(last), FormatTime(now)));
  return now;
}

}  // namespace

Status ReadyForAppend(const fs::path& folder) {
  RETURN_IF_ERROR(RefuseOtherFolder(folder));
  const auto log = OpenLog(folder);
  if (!log.ok()) return log.error();
  const auto lock = FolderLock::Take(folder);
  return lock.ok() || lock.error().code == ErrorCode::kInvalidInput ? Status() : lock.error();
}

Result<Appended> AppendToLog(const AppendRequest& request, AppendSource* source,
                             std::optional<BadEntry>* bad) {
  RETURN_IF_ERROR(RefuseOtherFolder(request.folder));
  if (!request.begin) {  // before a lock makes the folder
    const auto there = OpenLog(request.folder);
    if (!there.ok() && there.error().code == ErrorCode::kNotFound) return there.error();
  }
  ASSIGN_OR_RETURN(const FolderLock lock, WaitForLock(request));
  ASSIGN_OR_RETURN(const bool mended, Mend(request.folder));
  ASSIGN_OR_RETURN(LogView log,
                   request.begin ? OpenNewLog(request.folder) : OpenLog(request.folder));
  RETURN_IF_ERROR(source->Load());
  Growth growth{.records = {}, .time = request.clock->Now()};
  LogChecks checks{.trust = request.trust, .kept = {}, .now = growth.time};
  ASSIGN_OR_RETURN(
      const CheckedLog checked,
      CheckLog(
          &log, checks, [&](const AuditEntry& entry) { return source->Take(entry); }, bad));
  ASSIGN_OR_RETURN(growth.records, source->New());
  ASSIGN_OR_RETURN(growth.time, TimeAfter(checked, growth.time));
  RETURN_IF_ERROR(HoldSignerToTrust(request, checked.tree, growth.time));
  ASSIGN_OR_RETURN(Appended done, Grow(request, &log, checked, growth));
  done.mended = mended;
  return done;
}

}  // namespace rharness
