// A Python environment to JSON and back.
#include "harness/records/manifest/python_environment.h"

#include <array>
#include <filesystem>
#include <utility>

#include "harness/base/files.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

constexpr std::array<std::pair<PythonKind, std::string_view>, 5> kPythonKindNames = {
    {{PythonKind::kSystem, "system"},
     {PythonKind::kPyenv, "pyenv"},
     {PythonKind::kVenv, "venv"},
     {PythonKind::kUv, "uv"},
     {PythonKind::kConda, "conda"}}};

// It becomes a part of a command and of lists between colons.
bool IsPythonFolder(const std::string& path) {
  return path.starts_with('/') && IsName(path) && path.find(':') == path.npos;
}

void ReadPythonFolder(JsonReader& reader, std::string_view key, std::string* out) {
  ReadText(reader, key, out);
  if (reader.ok() && !out->empty() && !IsPythonFolder(*out)) {
    reader.Fail("expected an absolute path without ':' and control characters", key);
  }
}

}  // namespace

std::string_view PythonKindName(PythonKind kind) {
  for (const auto& [one, name] : kPythonKindNames) {
    if (one == kind) return name;
  }
  Abort("unknown PythonKind");
}

bool IsIsolated(PythonKind kind) {
  return kind == PythonKind::kVenv || kind == PythonKind::kUv || kind == PythonKind::kConda;
}

Json ToJson(const PythonEnvironment& python) {
  Json json = Json::MakeObject({{"kind", PythonKindName(python.kind)}, {"prefix", python.prefix}});
  for (const auto& [key, value] : {std::pair("place", &python.place),
                                   {"program", &python.program},
                                   {"interpreter", &python.interpreter},
                                   {"version", &python.version},
                                   {"user_base", &python.user_base}}) {
    if (!value->empty()) json.AppendMember(key, *value);
  }
  if (python.activated) json.AppendMember("activated", true);
  if (python.search_path.empty()) return json;
  Json folders = Json::MakeArray();
  for (const std::string& folder : python.search_path) folders.Append(folder);
  json.AppendMember("search_path", std::move(folders));
  return json;
}

void ReadPythonEnvironment(JsonReader& reader, PythonEnvironment* out) {
  RefuseUnknownMembers(reader, {"kind", "prefix", "place", "program", "interpreter", "version",
                                "user_base", "activated", "search_path"});
  std::string kind;
  reader.Read("kind", &kind);
  bool known = false;
  for (const auto& [one, name] : kPythonKindNames) {
    if (name != kind) continue;
    out->kind = one;
    known = true;
  }
  if (reader.ok() && !known) {
    reader.Fail("expected one of \"system\", \"pyenv\", \"venv\", \"uv\", \"conda\"", "kind");
  }
  reader.Read("prefix", &out->prefix);
  if (reader.ok() && !IsPythonFolder(out->prefix)) {
    reader.Fail("expected an absolute path without ':' and control characters", "prefix");
  }
  ReadRelativePath(reader, "place", Presence::kOptional, &out->place);
  ReadRelativePath(reader, "program", Presence::kOptional, &out->program);
  ReadPythonFolder(reader, "interpreter", &out->interpreter);
  ReadText(reader, "version", &out->version);
  ReadPythonFolder(reader, "user_base", &out->user_base);
  reader.ReadOptional("activated", &out->activated);
  reader.ReadArray("search_path", &out->search_path);
  for (const std::string& folder : out->search_path) {
    const bool fits = folder == "." || IsPythonFolder(folder) ||
                      (SafeRelativePath(folder, "").ok() && folder.find(':') == folder.npos);
    if (reader.ok() && !fits) reader.Fail("expected paths of folders without ':'", "search_path");
  }
}

}  // namespace rharness
