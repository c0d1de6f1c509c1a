// The journal of a drill: every change of a rerun's state, durable before the next step is taken.
//
// Role: the source of --resume. An append-only file of lines "CRC32 JSON"; each append is followed
// by fdatasync, and one that fails is taken back before the next. A torn line (the machine died
// while writing, or had no space) is dropped if the lines around it are intact; any other damage
// before the last line is an integrity error, because later states cannot be trusted.
#ifndef RHARNESS_HARNESS_DRILL_JOURNAL_H_
#define RHARNESS_HARNESS_DRILL_JOURNAL_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/step.h"

namespace rharness {

// The journalled past: the last entry of each job.
struct JournalContent {
  Json header;                            // as given to Create
  std::map<std::string, RerunStep> last;  // by job
  std::vector<std::string> sessions;      // of the processes that worked on this drill
  std::uint64_t entries = 0;
  bool torn = false;  // a torn line was dropped
};

class Journal {
 public:
  // A new journal; an existing file is an error (invalid_input: use --resume).
  static Result<Journal> Create(const std::filesystem::path& path, const Json& header);
  // An existing one, for appending; first cuts off a torn last line. `content` receives the past.
  static Result<Journal> Open(const std::filesystem::path& path, JournalContent* content);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  // Durable when it returns; a failed write leaves nothing behind. Thread-safe.
  Status Append(const RerunStep& step);
  // The mark of every child of this process (process_tree.h), written before the first child.
  Status AppendSession(const std::string& session);

 private:
  Journal(int fd, std::filesystem::path path, std::uint64_t size_bytes)
      : fd_(fd), path_(std::move(path)), size_bytes_(size_bytes) {}
  Status AppendLine(const Json& json);
  Status WriteLine(std::string_view line);
  Status TakeBack();

  int fd_ = -1;
  std::filesystem::path path_;
  std::uint64_t size_bytes_ = 0;  // of the whole lines
  bool torn_ = false;             // further bytes may follow them
  std::mutex mutex_;
};

// Reads without opening for writing. Errors: not_found, io, integrity, invalid_input.
Result<JournalContent> ReadJournal(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_JOURNAL_H_
