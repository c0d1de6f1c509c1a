// The journal of a drill: every change of a rerun's state, durable before the next step is taken.
//
// Role: what --resume believes. An append-only file of lines "CRC32 JSON"; each append is followed
// by fdatasync, and one that fails is taken back before the next. A torn line (the machine died
// while writing, or had no space) is dropped where the lines around it prove themselves; any other
// damage before the last line is an integrity error, because states after it cannot be trusted.
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

// What a journal says about the past: the last entry of each job.
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
  // An existing one, for appending; a torn last line is cut off first. `content` gets the past.
  static Result<Journal> Open(const std::filesystem::path& path, JournalContent* content);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  // Durable when it returns; of a step that could not be written nothing stays. Thread-safe.
  Status Append(const RerunStep& step);
  // The mark that every child of this process will carry (process_tree.h), told before the first.
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
  bool torn_ = false;             // there may be more behind them
  std::mutex mutex_;
};

// Reads without opening for writing. Errors: not_found, io, integrity, invalid_input.
Result<JournalContent> ReadJournal(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_JOURNAL_H_
