// What runs need, out of their manifests.
#include "harness/retention/needed_files.h"

#include <fmt/format.h>

#include "harness/base/files.h"

namespace rharness {

namespace fs = std::filesystem;

Result<fs::path> BelowRoot(const std::string& location, const fs::path& root) {
  if (location.find("://") != std::string::npos) {
    return InvalidInput("is not on this machine", TerminalSafe(location));
  }
  const fs::path path(location);
  if (!path.is_absolute()) return SafeRelativePath(location, "location");
  const fs::path relative = path.lexically_normal().lexically_relative(root);
  if (relative.empty() || *relative.begin() == "..") {
    return InvalidInput("does not lie below " + root.string(), TerminalSafe(location));
  }
  return SafeRelativePath(relative.string(), "location");
}

NeededFiles::NeededFiles(const std::vector<RunRecord>& runs, bool retired, const fs::path& root) {
  for (const RunRecord& run : runs) {
    if (run.entry.retired.has_value() == retired) Add(run.manifest, root);
  }
}

void NeededFiles::AddPlace(const std::string& location, const std::string& who,
                           const fs::path& root) {
  if (location.empty()) return;
  const auto path = BelowRoot(location, root);
  if (path.ok()) by_place_.try_emplace(*path, who);
}

void NeededFiles::Add(const Manifest& manifest, const fs::path& root) {
  for (const DataItem& item : manifest.data) {
    const std::string who = fmt::format("data '{}' of run {}", item.name, manifest.run_id);
    if (!item.sha256.empty()) by_content_.try_emplace(item.sha256, who);
    AddPlace(item.location.empty() ? item.path : item.location, who, root);
  }
  for (const CodeFile& file : manifest.code.files) {
    if (!file.sha256.empty()) {
      by_content_.try_emplace(file.sha256, fmt::format("code of run {}", manifest.run_id));
    }
  }
  AddPlace(manifest.image.location, fmt::format("image of run {}", manifest.run_id), root);
  AddPlace(manifest.kept, fmt::format("what the record of run {} keeps", manifest.run_id), root);
}

std::string NeededFiles::NeededFor(const std::string& sha256, const fs::path& path) const {
  if (const auto held = by_content_.find(sha256); held != by_content_.end()) return held->second;
  for (fs::path at = path; !at.empty(); at = at.parent_path()) {
    if (const auto held = by_place_.find(at); held != by_place_.end()) return held->second;
  }
  return "";
}

}  // namespace rharness
