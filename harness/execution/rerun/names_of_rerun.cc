// Names by time and id, and the renaming of what has them.
#include "harness/execution/rerun/names_of_rerun.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <system_error>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kMostEntries = 10'000;  // of a folder

bool HasTime(const std::string& name) {
  static const std::regex kDate(
      "(19|20)[0-9]{2}[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12][0-9]|3[01])");
  static const std::regex kMonth("(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[-_]?[0-9]{2}");
  static const std::regex kClock(
      "(^|[^0-9])([01][0-9]|2[0-3])[-_.:h][0-5][0-9][-_.:m][0-5][0-9]($|[^0-9])");
  static const std::regex kShort("(^|[^0-9])[0-9]{4,6}[-_T][0-9]{6}($|[^0-9])");  // 261130_080102
  static const std::regex kSeconds("(^|[^0-9])1[6-9][0-9]{8}([0-9]{3})?($|[^0-9])");  // or ms
  return std::regex_search(name, kDate) || std::regex_search(name, kMonth) ||
         std::regex_search(name, kClock) || std::regex_search(name, kShort) ||
         std::regex_search(name, kSeconds);
}

// A file of the commit or of the data, or a folder with one.
bool WasThere(const Manifest& manifest, const Workspace& workspace, const fs::path& path) {
  const fs::path place = (fs::path(manifest.working_directory) / path).lexically_normal();
  const auto is_below = [](const fs::path& inner, const fs::path& outer) {
    const fs::path rest = inner.lexically_relative(outer);
    return !rest.empty() && *rest.begin() != "..";
  };
  return std::ranges::any_of(workspace.checkout,
                             [&](const TreeFile& file) { return is_below(file.path, place); }) ||
         std::ranges::any_of(manifest.code.files,
                             [&](const CodeFile& file) { return is_below(file.path, place); }) ||
         std::ranges::any_of(manifest.data, [&](const DataItem& item) {
           const fs::path data = (fs::path(manifest.working_directory) / item.path);
           return is_below(data.lexically_normal(), place) ||
                  is_below(place, data.lexically_normal());
         });
}

// The entries of one folder that have the shape of `name` and that the run made.
Result<std::vector<std::string>> Candidates(const HeldFolder& folder, const fs::path& around,
                                            const std::string& name, bool is_folder,
                                            const std::function<bool(const fs::path&)>& was_there) {
  std::vector<std::string> found;
  ASSIGN_OR_RETURN(const HeldFolder held, folder.OpenFolder(around));
  const std::string shape = ShapeOfName(name);
  std::size_t left = kMostEntries;
  std::error_code error;
  for (fs::directory_iterator entry(held.through(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (left-- == 0) return std::vector<std::string>();
    const std::string other = entry->path().filename().string();
    const fs::file_status status = entry->symlink_status(error);
    const bool same_kind = is_folder ? fs::is_directory(status) : fs::is_regular_file(status);
    if (same_kind && ShapeOfName(other) == shape && !was_there(around / other)) {
      found.push_back(other);
    }
  }
  if (error) return PathError("cannot be listed", error.value(), around);
  return found;
}

bool IsThere(const HeldFolder& folder, const fs::path& path) {
  const int fd = OpenBelow(folder.fd(), path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

// As far as the names go. Others are left as they are: the output is missing then.
Status TakeName(const HeldFolder& folder, const fs::path& recorded,
                const std::function<bool(const fs::path&)>& was_there,
                std::vector<Finding>* remarks) {
  fs::path around;
  for (auto part = recorded.begin(); part != recorded.end(); ++part) {
    const fs::path here = around / *part;
    const bool is_folder = std::next(part) != recorded.end();
    if (!IsThere(folder, here)) {
      if (ShapeOfName(part->string()).empty()) return {};
      const auto found = Candidates(folder, around, part->string(), is_folder, was_there);
      if (!found.ok()) return IsTrouble(found.error()) ? found.error() : Status();
      if (found->size() != 1) return {};
      ASSIGN_OR_RETURN(const HeldFolder held, folder.OpenFolder(around));
      const std::string& other = found->front();
      if (::renameat2(held.fd(), other.c_str(), held.fd(), part->c_str(), RENAME_NOREPLACE) != 0) {
        return IoErrorFromErrno("cannot be renamed", errno, (around / other).string());
      }
      remarks->push_back(
          {.code = "output_renamed",
           .subject = fmt::format("output '{}'", here.string()),
           .observed = other,
           .limit = part->string(),
           .message = fmt::format("output '{}': the rerun called it '{}', by its own time or id",
                                  here.string(), CleanText(other))});
    }
    around = here;
  }
  return {};
}

}  // namespace

std::string ShapeOfName(std::string_view name) {
  static const std::regex kUuid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  static const std::regex kId("[0-9a-f]{16,}");
  static const std::regex kTrackerId("-[0-9a-z]{8}$");  // run-20261130_080102-x7k2j9q1
  static const std::regex kMonth("Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec");
  if (name.size() > kLongestName) return {};
  const std::string text(name);
  const bool has_time = HasTime(text);
  std::string shape = std::regex_replace(std::regex_replace(text, kUuid, "#"), kId, "#");
  if (!has_time && shape == text) return {};
  if (has_time) {
    shape = std::regex_replace(shape, kTrackerId, "-#");
    shape = std::regex_replace(shape, kMonth, "M");
  }
  std::ranges::replace_if(
      shape, [](char c) { return c >= '0' && c <= '9'; }, '0');
  return shape;
}

Result<std::vector<Finding>> TakeRecordedNames(const Manifest& manifest, const Workspace& workspace,
                                               const HeldFolder& folder) {
  std::vector<Finding> remarks;
  std::set<fs::path> paths;
  for (const Artifact& artifact : manifest.artifacts) {
    if (artifact.role != kModelOfTracker) paths.insert(artifact.path);
  }
  if (!manifest.metrics_path.empty()) paths.insert(manifest.metrics_path);
  const auto was_there = [&](const fs::path& path) { return WasThere(manifest, workspace, path); };
  for (const fs::path& path : paths) {
    RETURN_IF_ERROR(TakeName(folder, path, was_there, &remarks));
  }
  return remarks;
}

}  // namespace rharness
