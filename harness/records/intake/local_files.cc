// Lists and hashes the files below a folder, without following links out of it.
#include "harness/records/intake/local_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "compare/weights/checkpoint_folder.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/records/intake/clean.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The regular files, relative to the folder.
Status WalkFiles(const fs::path& folder, std::vector<fs::path>* files, LocalFiles* found) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    const fs::file_status status = entries->symlink_status(error);
    if (error) break;
    const fs::path relative = entries->path().lexically_relative(folder);
    if (fs::is_regular_file(status)) {
      if (files->size() >= kMostLocalFiles) {
        found->remarks.push_back(
            fmt::format("more than {} files; the others were left out", kMostLocalFiles));
        return {};
      }
      files->push_back(relative);
    } else if (!fs::is_directory(status)) {
      found->remarks.push_back(fmt::format("{} was left out; expected a file, not a {}",
                                           QuotedShort(relative.string()),
                                           fs::is_symlink(status) ? "link" : "device or pipe"));
    }
  }
  if (error) return IoError("cannot be listed: " + error.message(), folder.string());
  return {};
}

}  // namespace

Result<LocalFiles> ListLocalFiles(const fs::path& folder, const ImportRequest& request) {
  LocalFiles found;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return found;
  std::vector<fs::path> files;
  RETURN_IF_ERROR(WalkFiles(folder, &files, &found));
  std::ranges::sort(files);
  const fs::path base = fs::absolute(folder, error);
  std::vector<fs::path> paths;
  for (const fs::path& file : files) {
    Artifact& artifact = found.artifacts.emplace_back();
    artifact.path = file.string();
    artifact.location = (base / file).lexically_normal().string();
    const std::uint64_t size = fs::file_size(folder / file, error);
    if (!error) artifact.size_bytes = size;
    paths.push_back(folder / file);
  }
  if (!request.artifacts || (request.should_cancel && request.should_cancel())) return found;
  const auto digests = HashFiles(paths, 0);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (digests[i].ok()) {
      found.artifacts[i].sha256 = digests[i]->sha256;
      found.artifacts[i].size_bytes = digests[i]->size_bytes;
    } else {
      found.remarks.push_back(fmt::format("{}: {}", QuotedShort(files[i].string()),
                                          Unread(request, digests[i].error()).message));
    }
  }
  return found;
}

std::string RoleByName(std::string_view path) {
  constexpr std::array<std::string_view, 7> kForPeople = {".log", ".png",  ".jpg", ".jpeg",
                                                          ".svg", ".html", ".pdf"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const bool log = name.starts_with("events.out.tfevents") ||
                   std::ranges::any_of(kForPeople, [&](auto end) { return name.ends_with(end); });
  if (log) return "log";
  if (!IsModelName(name)) return "other";
  return name.find("optim") != name.npos ? "optimizer" : "weights";
}

Result<std::string> ReadBelow(const fs::path& root, const fs::path& relative,
                              std::uint64_t most_bytes) {
  ASSIGN_OR_RETURN(const fs::path path, ResolveBelow(root, relative));
  return ReadFile(path, most_bytes);
}

}  // namespace rharness
