// Reads the fields that manifests and evidence share, with the checks that protect a reader.
//
// Role: under the kinds of members (record_kinds.h), and readers of files that hold a manifest.
// Every function reports through the reader, so its first error sticks and names file and JSON
// path.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_FIELDS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json_reader.h"

namespace rharness {

enum class Presence { kRequired, kOptional };

// As known_members.h, of a list in braces.
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
                std::span<const std::string_view> choices, std::string* out);
// A relative path that stays below its folder, in normal form; empty only where optional.
void ReadRelativePath(JsonReader& reader, std::string_view key, Presence presence,
                      std::string* out);
// As above, or an absolute path in normal form.
void ReadAnyPath(JsonReader& reader, std::string_view key, Presence presence, std::string* out);
// Optional; an array of EmptyFolders: relative paths as above, sorted, each once.
void ReadFolderNames(JsonReader& reader, std::string_view key, std::vector<std::string>* out);
// "repository", optional: a URL, or a folder under the rules of paths.
void ReadRepository(JsonReader& reader, std::string* out);
// RFC 3339, 1970 to 9999. Absent where optional: *out stays.
void ReadTime(JsonReader& reader, std::string_view key, Presence presence, WallTime* out);
// Optional; at least 0.
void ReadCount(JsonReader& reader, std::string_view key, int* out);
// Optional; finite and at least 0.
void ReadSpan(JsonReader& reader, std::string_view key, double* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_FIELDS_H_
