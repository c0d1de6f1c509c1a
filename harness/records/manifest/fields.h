// Reads the fields that manifests and evidence share, with the checks that protect a reader.
//
// Role: under manifest_reader.cc and evidence.cc, and readers of files that hold a manifest. Every
// function reports through the reader, so its first error sticks and names file and JSON path.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_FIELDS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

enum class Presence { kRequired, kOptional };

// Fails on the first member that is not in `known`, with the closest known name as a hint. Members
// whose name begins with "x-" are always allowed, and ignored.
void RefuseUnknownMembers(JsonReader& reader, std::initializer_list<std::string_view> known);

// 1 to 256 bytes without control characters.
bool IsName(std::string_view text);
// 1 to 128 letters, digits, '.', '_' and '-', not beginning with '.' or '-'.
bool IsRunId(std::string_view text);

void ReadRunId(JsonReader& reader, std::string* out);
void ReadName(JsonReader& reader, std::string_view key, std::string* out);
// Optional, without control characters.
void ReadText(JsonReader& reader, std::string_view key, std::string* out);
// Optional; a word that may become a command's argument: printable ASCII, no blank, no leading '-'.
void ReadWord(JsonReader& reader, std::string_view key, std::string* out);
// Optional; lower-case hexadecimal digits, 128 at most. Admission checks the length.
void ReadHex(JsonReader& reader, std::string_view key, std::string* out);
// Absent: *out stays. Present: one of `choices`.
void ReadChoice(JsonReader& reader, std::string_view key, Presence presence,
                std::initializer_list<std::string_view> choices, std::string* out);
// A relative path that stays below its folder, in normal form; empty only where optional.
void ReadRelativePath(JsonReader& reader, std::string_view key, Presence presence,
                      std::string* out);
// As above, or an absolute path in normal form.
void ReadAnyPath(JsonReader& reader, std::string_view key, Presence presence, std::string* out);
// "repository", optional: a URL, or a folder under the rules of paths.
void ReadRepository(JsonReader& reader, std::string* out);
// RFC 3339, 1970 to 9999. Absent where optional: *out stays.
void ReadTime(JsonReader& reader, std::string_view key, Presence presence, WallTime* out);
// Optional; at least 0.
void ReadCount(JsonReader& reader, std::string_view key, int* out);
// Optional; finite and at least 0.
void ReadSpan(JsonReader& reader, std::string_view key, double* out);

void ReadResources(JsonReader& reader, Resources* out);
void ReadSeeds(JsonReader& reader, std::map<std::string, std::int64_t>* out);
void ReadCodeFiles(JsonReader& reader, std::string_view key, std::vector<CodeFile>* out);
void ReadData(JsonReader& reader, std::vector<DataItem>* out);
void ReadArtifacts(JsonReader& reader, std::vector<Artifact>* out);
// "steps" and "values" of one curve: of one length, steps strictly increasing.
void ReadCurvePoints(JsonReader& reader, Curve* out);
// The members "metrics" and "curves" of a run's metrics file.
void ReadRunMetrics(JsonReader& reader, RunMetrics* out);
// "unread_metrics", optional.
void ReadUnreadMembers(JsonReader& reader, std::optional<UnreadMembers>* out);

Json ToJson(const Resources& resources);
Json ToJson(const CodeFile& file);
Json ToJson(const TensorRecord& tensor);
Json ToJson(const Metric& metric);
Json ToJson(const Curve& curve);
Json ToJson(const MadeBy& made_by);
Json ToJson(const DataItem& item);
Json ToJson(const Artifact& artifact);
Json ToJson(const RunMetrics& metrics);
Json ToJson(const std::map<std::string, std::int64_t>& seeds);
Json ToJson(const UnreadMembers& members);
Json ToJson(const std::vector<std::string>& texts);
// The members "steps" and "values", appended to `object`.
void AppendCurvePoints(const Curve& curve, Json* object);

// An object of these members; their values are moved into it.
struct JsonField {
  std::string_view key;
  mutable Json value;
};
Json ObjectOf(std::initializer_list<JsonField> fields);

template <class T>
Json ToJsonArray(const std::vector<T>& values) {
  Json array = Json::MakeArray();
  for (const T& value : values) array.Append(ToJson(value));
  return array;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_FIELDS_H_
