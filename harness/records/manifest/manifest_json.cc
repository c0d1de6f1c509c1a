// Manifests to JSON and back. What is missing or inconsistent passes here, so that admission can
// list all of it instead of the first.
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/manifest_members.h"

namespace rharness {

Result<Manifest> ParseManifest(const Json& json, std::string_view file) {
  return ParseStrictly<Manifest>(json, file);
}

Status CheckManifest(Manifest* manifest, std::string_view file) {
  // What few have is written and read.
  if (!manifest->properties.empty() || manifest->observation || manifest->gang ||
      !manifest->environment.packages.empty() || manifest->environment.python) {
    const auto read = ParseManifest(ToJson(*manifest), file);
    return read.ok() ? Status() : Status(read.error());
  }
  JsonReader reader(JsonReader::OverValues{}, std::string(file));
  StrictReader::ReadInto(reader, *manifest);
  return reader.status();
}

Json ToJson(const Manifest& manifest) { return StrictWriter::Written(manifest); }

std::string ManifestSha256(const Manifest& manifest) {
  return Sha256HexOf(ToJson(manifest).Dump(2) + "\n");
}

Result<Manifest> LoadManifest(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return ParseManifest(json, path.string());
}

Result<RunMetrics> ParseRunMetrics(const Json& json, std::string_view file) {
  return ParseStrictly<RunMetrics>(json, file);
}

}  // namespace rharness
