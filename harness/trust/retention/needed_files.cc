// What runs need, out of their manifests.
#include "harness/trust/retention/needed_files.h"

#include <fmt/format.h>

#include <string_view>

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

namespace {

// FOLDER of "delta:FOLDER@VERSION"; empty: it is no table's source.
std::string FolderOfTable(const std::string& source) {
  constexpr std::string_view kDelta = "delta:";
  if (!source.starts_with(kDelta)) return "";
  return source.substr(kDelta.size(), source.rfind('@') - kDelta.size());
}

Status AddNeededBy(const Manifest& manifest, KeptPlaces* places) {
  const std::string run = " of run " + manifest.run_id;
  const auto add_place = [&](const std::string& location, const std::string& who) {
    return places->AddPlace(location, who);
  };
  for (const DataItem& item : manifest.data) {
    const std::string who = fmt::format("data '{}'{}", item.name, run);
    places->AddContent(item.sha256, who);
    RETURN_IF_ERROR(add_place(item.location.empty() ? item.path : item.location, who));
    RETURN_IF_ERROR(add_place(FolderOfTable(item.source), who));
  }
  for (const CodeFile& file : manifest.code.files) places->AddContent(file.sha256, "code" + run);
  constexpr std::string_view kSha256 = "sha256:";
  const Image& image = manifest.image;
  if (image.digest.starts_with(kSha256)) {
    places->AddContent(image.digest.substr(kSha256.size()), "image" + run);
  }
  RETURN_IF_ERROR(add_place(image.location, "image" + run));
  const std::string kept = "what the record" + run + " keeps";
  places->AddContent(manifest.code.kept_diff_sha256, kept);
  for (const auto& [path, sha256] : manifest.environment.lock_files) {
    places->AddContent(sha256, kept);
  }
  return add_place(manifest.kept, kept);
}

}  // namespace

Status AddNeeded(const std::vector<RunRecord>& runs, bool retired, KeptPlaces* places) {
  for (const RunRecord& run : runs) {
    if (run.entry.retired.has_value() != retired) continue;
    RETURN_IF_ERROR(AddNeededBy(run.manifest, places));
  }
  return {};
}

Status AddMade(const Manifest& manifest, KeptPlaces* places) {
  const auto add = [&](const std::string& location, std::uint64_t size_bytes,
                       const std::string& sha256) -> Status {
    const std::string who = fmt::format("also of run {}, which is kept", manifest.run_id);
    places->AddCopy(sha256, {location, size_bytes, who});
    return places->AddPlace(location, who);
  };
  for (const Artifact& artifact : manifest.artifacts) {
    // Without a place of its own any copy may be the last.
    RETURN_IF_ERROR(add(artifact.location, artifact.size_bytes, artifact.sha256));
    for (const ArtifactPart& part : artifact.parts) {
      const fs::path beside = artifact.location.empty()
                                  ? fs::path()
                                  : fs::path(artifact.location).parent_path() / part.path;
      RETURN_IF_ERROR(add(beside.string(), part.size_bytes, part.sha256));
    }
  }
  return {};
}

}  // namespace rharness
