// Walking a folder for manifests; see manifest_files.h.
#include "harness/cli/manifest_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLongestManifest = std::uint64_t{256} << 20;

// Whether a document's first member is its schema, and a manifest's: as rharness writes them.
bool StartsAsManifest(std::string_view text) {
  for (const std::string_view part : {"{", "\"schema\"", ":", "\"rharness.manifest/"}) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with(part)) return false;
    text.remove_prefix(part.size());
  }
  return true;
}

bool SaysManifest(const std::string& text, const std::string& file) {
  constexpr std::string_view kSchema = "rharness.manifest/";
  if (StartsAsManifest(text)) return true;
  const auto json = ParseJson(text, file);
  if (!json.ok()) return text.find(kSchema) != std::string::npos;
  const Json* schema = json->Find("schema");
  return schema != nullptr && schema->kind() == Json::Kind::kString &&
         schema->AsString().starts_with(kSchema);
}

}  // namespace

Result<std::optional<std::string>> ReadIfManifest(const std::string& file) {
  if (!file.ends_with(".json")) return std::optional<std::string>();
  auto text = ReadFile(file, kLongestManifest);
  std::error_code error;
  // Nobody knows what is in one that may not be read: it is told.
  if (!text.ok() && fs::is_regular_file(file, error) && ::access(file.c_str(), R_OK) != 0) {
    return text.error();
  }
  if (!text.ok() || !SaysManifest(*text, file)) return std::optional<std::string>();
  return std::optional(std::move(*text));
}

Result<std::vector<std::string>> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code unknown;
    if (!it->is_directory(unknown)) files.push_back(it->path().string());
  }
  if (error) return IoError("cannot read the folder: " + error.message(), folder);
  std::ranges::sort(files);
  return files;
}

Error NoManifestIn(const std::string& folder) {
  return NotFound("the folder holds no manifest; expected *.json files of rharness.manifest/v1",
                  folder);
}

Result<ManifestFiles> FindManifests(const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> files, FilesBelow(folder));
  ManifestFiles found;
  for (std::string& file : files) {
    const auto text = ReadIfManifest(file);
    if (!text.ok() || *text) {
      found.files.push_back(std::move(file));
    } else {
      ++found.skipped;
    }
  }
  if (found.files.empty()) return NoManifestIn(folder);
  return found;
}

Status RequireUsedMaps(const Places& places, const std::vector<std::string>& files) {
  MapUse use(places);
  for (const std::string& file : files) {
    if (use.AllUsed()) return {};
    ASSIGN_OR_RETURN(const Manifest manifest, LoadManifest(file));
    use.See(manifest);
  }
  return use.AllUsed() ? Status() : UnusedMapsError(use.Unused(), "no manifest that was given");
}

}  // namespace rharness
