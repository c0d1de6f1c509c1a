// Environments and their Python to JSON and back.
#include <algorithm>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/environment_members.h"

namespace rharness {
namespace {

bool IsPythonFolder(const std::string& path) {
  return path.starts_with('/') && IsName(path) && path.find(':') == path.npos;
}

}  // namespace

void ReadPythonFolder(JsonReader& reader, std::string_view key, Presence presence,
                      std::string* out) {
  const bool required = presence == Presence::kRequired;
  required ? reader.Read(key, out) : reader.ReadOptional(key, out);
  if (reader.ok() && (required || !out->empty()) && !IsPythonFolder(*out)) {
    reader.Fail("expected an absolute path without ':' and control characters", key);
  }
}

void CheckMembers(JsonReader& reader, const PythonEnvironment& python) {
  const auto fits = [](const std::string& folder) {
    return folder == "." || IsPythonFolder(folder) ||
           (SafeRelativePath(folder, "").ok() && folder.find(':') == folder.npos);
  };
  if (!std::ranges::all_of(python.search_path, fits)) {
    reader.Fail("expected paths of folders without ':'", "search_path");
  }
}

std::string_view PythonKindName(PythonKind kind) { return NameIn(kPythonKindNames, kind); }

bool IsIsolated(PythonKind kind) {
  return kind == PythonKind::kVenv || kind == PythonKind::kUv || kind == PythonKind::kConda;
}

Json ToJson(const Environment& environment) { return StrictWriter::Written(environment); }

void ReadEnvironment(JsonReader& reader, Environment* out) { StrictReader::ReadInto(reader, *out); }

}  // namespace rharness
