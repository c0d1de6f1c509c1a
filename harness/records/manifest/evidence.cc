// Evidence to JSON and back.
#include "harness/records/manifest/evidence.h"

#include <cmath>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/evidence_members.h"

namespace rharness {

void SecondsKind::Read(JsonReader& reader, std::string_view key, bool,
                       std::chrono::nanoseconds* out) {
  double seconds = 0.0;
  ReadSpan(reader, key, &seconds);
  if (seconds > 9e9) return reader.Fail("expected at most 9e9 seconds", key);
  *out = std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

void LayerKind::Read(JsonReader& reader, std::string_view key, bool, std::optional<Layer>* out) {
  static constexpr std::array<std::string_view, 6> kLayerOrNoneNames = {
      "data", "code", "environment", "hardware", "randomness", ""};
  std::string name;
  ReadChoice(reader, key, Presence::kOptional, kLayerOrNoneNames, &name);
  if (const auto layer = ParseLayer(name); layer.ok()) *out = *layer;
}

void RemarksKind::Read(JsonReader& reader, std::string_view key, bool, std::vector<Finding>* out) {
  reader.ReadEach(key, out, [](JsonReader& json, Finding* finding) {
    Remark remark;
    StrictReader::ReadInto(json, remark);
    *finding = std::move(remark.finding);
  });
}

Result<Evidence> ParseEvidence(const Json& json, std::string_view file) {
  return ParseStrictly<Evidence>(json, file);
}

Json ToJson(const Evidence& evidence) { return StrictWriter::Written(evidence); }

Result<Evidence> LoadEvidence(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return ParseEvidence(json, path.string());
}

}  // namespace rharness
