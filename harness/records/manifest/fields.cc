// The checks of single fields, and the readers of the records made of them.
#include "harness/records/manifest/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/spelling.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {
namespace {

constexpr std::string_view kRoles[] = {"weights", "optimizer", "metrics",
                                       "log",     "other",     kModelOfTracker};

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string Hint(std::string_view name, std::initializer_list<std::string_view> known) {
  if (name.size() > 64) return "";
  std::string_view best;
  std::size_t distance = 3;
  for (const std::string_view candidate : known) {
    const std::size_t d = EditDistance(name, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean \"{}\"?", best);
}

// Reads a string member; false when there is nothing to check.
bool ReadString(JsonReader& reader, std::string_view key, Presence presence, std::string* out) {
  if (presence == Presence::kRequired) {
    reader.Read(key, out);
  } else {
    reader.ReadOptional(key, out);
  }
  return reader.ok() && reader.Has(key);
}

std::string Quoted(std::string_view text) {
  return fmt::format("\"{}\"", TerminalSafe(text.substr(0, 80)));
}

template <class T>
void ReadList(JsonReader& reader, std::string_view key, std::vector<T>* out,
              void (*read)(JsonReader&, T*)) {
  reader.ReadEach(key, out, read);
}

void ReadCodeFile(JsonReader& reader, CodeFile* out) {
  RefuseUnknownMembers(reader, {"path", "sha256"});
  ReadRelativePath(reader, "path", Presence::kRequired, &out->path);
  ReadHex(reader, "sha256", &out->sha256);
}

void ReadMadeBy(JsonReader& reader, MadeBy* out) {
  RefuseUnknownMembers(reader, {"repository", "commit", "version"});
  ReadRepository(reader, &out->repository);
  if (reader.ok() && HoldsCredential(out->repository)) {
    reader.Fail("expected a URL without user and password", "repository");
  }
  ReadHex(reader, "commit", &out->commit);
  if (reader.ok() && !out->commit.empty() && !IsFullCommit(out->commit)) {
    reader.Fail("expected a full commit, of 40 or 64 hexadecimal digits", "commit");
  }
  ReadText(reader, "version", &out->version);
  if (reader.ok() && *out == MadeBy()) {
    reader.Fail("is empty; expected a repository, a commit or a version");
  }
}

void ReadDataItem(JsonReader& reader, DataItem* out) {
  RefuseUnknownMembers(reader, {"name", "location", "path", "kind", "sha256", "size_bytes",
                                "other_digest", "source", "made_by"});
  ReadName(reader, "name", &out->name);
  ReadAnyPath(reader, "location", Presence::kOptional, &out->location);
  ReadAnyPath(reader, "path", Presence::kRequired, &out->path);
  ReadChoice(reader, "kind", Presence::kOptional, {"file", "directory", "delta", ""}, &out->kind);
  ReadHex(reader, "sha256", &out->sha256);
  reader.ReadOptional("size_bytes", &out->size_bytes);
  ReadText(reader, "other_digest", &out->other_digest);
  ReadText(reader, "source", &out->source);
  if (reader.ok() && HoldsCredential(out->source)) {
    reader.Fail("expected a URL without user and password", "source");
  }
  reader.ReadOptionalObject("made_by", &out->made_by, ReadMadeBy);
}

void ReadTensor(JsonReader& reader, TensorRecord* out) {
  RefuseUnknownMembers(reader, {"name", "dtype", "shape", "sha256", "non_finite"});
  reader.Read("name", &out->name);
  ReadName(reader, "dtype", &out->dtype);
  if (!reader.Has("shape")) reader.Fail("missing; expected an array of sizes", "shape");
  reader.ReadArray("shape", &out->shape);
  ReadHex(reader, "sha256", &out->sha256);
  reader.ReadOptional("non_finite", &out->non_finite);
}

void ReadArtifactPart(JsonReader& reader, ArtifactPart* out) {
  RefuseUnknownMembers(reader, {"path", "size_bytes", "sha256"});
  ReadRelativePath(reader, "path", Presence::kRequired, &out->path);
  reader.ReadOptional("size_bytes", &out->size_bytes);
  ReadHex(reader, "sha256", &out->sha256);
}

void ReadArtifact(JsonReader& reader, Artifact* out) {
  RefuseUnknownMembers(reader, {"role", "path", "location", "size_bytes", "sha256", "tensor_digest",
                                "tensors", "parts"});
  ReadChoice(reader, "role", Presence::kRequired,
             {kRoles[0], kRoles[1], kRoles[2], kRoles[3], kRoles[4], kRoles[5]}, &out->role);
  ReadRelativePath(reader, "path", Presence::kRequired, &out->path);
  ReadAnyPath(reader, "location", Presence::kOptional, &out->location);
  reader.ReadOptional("size_bytes", &out->size_bytes);
  ReadHex(reader, "sha256", &out->sha256);
  ReadHex(reader, "tensor_digest", &out->tensor_digest);
  ReadList(reader, "tensors", &out->tensors, ReadTensor);
  ReadList(reader, "parts", &out->parts, ReadArtifactPart);
}

}  // namespace

void RefuseUnknownMembers(JsonReader& reader, std::initializer_list<std::string_view> known) {
  if (!reader.ok() || reader.over_values()) return;
  if (!reader.json().IsObject()) {
    return reader.Fail(fmt::format("expected an object, found {}", reader.json().KindName()));
  }
  for (const auto& [name, value] : reader.json().AsObject()) {
    if (name.starts_with("x-")) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return reader.Fail(fmt::format("unknown member {}{}", Quoted(name), Hint(name, known)));
  }
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 256 && !HasControlCharacter(text);
}

bool IsRunId(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= 128 && text[0] != '.' && text[0] != '-' &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

void ReadRunId(JsonReader& reader, std::string* out) {
  if (!ReadString(reader, "run_id", Presence::kRequired, out) || IsRunId(*out)) return;
  reader.Fail(fmt::format("expected 1 to 128 letters, digits, '.', '_' and '-', beginning with a "
                          "letter, digit or '_'; found {}",
                          Quoted(*out)),
              "run_id");
}

void ReadName(JsonReader& reader, std::string_view key, std::string* out) {
  if (!ReadString(reader, key, Presence::kRequired, out) || IsName(*out)) return;
  reader.Fail("expected 1 to 256 bytes without control characters", key);
}

void ReadText(JsonReader& reader, std::string_view key, std::string* out) {
  if (!ReadString(reader, key, Presence::kOptional, out)) return;
  if (HasControlCharacter(*out)) reader.Fail("expected text without control characters", key);
}

void ReadWord(JsonReader& reader, std::string_view key, std::string* out) {
  if (!ReadString(reader, key, Presence::kOptional, out)) return;
  const bool printable =
      std::all_of(out->begin(), out->end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!printable || out->starts_with('-')) {
    reader.Fail(fmt::format("expected printable ASCII without blanks and without a leading '-'; "
                            "found {}",
                            Quoted(*out)),
                key);
  }
}

void ReadHex(JsonReader& reader, std::string_view key, std::string* out) {
  if (!ReadString(reader, key, Presence::kOptional, out)) return;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (out->size() > 128 || !std::ranges::all_of(*out, is_digit)) {
    reader.Fail(fmt::format("expected lower-case hexadecimal digits; found {}", Quoted(*out)), key);
  }
}

void ReadChoice(JsonReader& reader, std::string_view key, Presence presence,
                std::initializer_list<std::string_view> choices, std::string* out) {
  if (!ReadString(reader, key, presence, out)) return;
  if (std::find(choices.begin(), choices.end(), *out) != choices.end()) return;
  std::string expected;
  for (const std::string_view choice : choices) {
    if (!choice.empty()) expected += fmt::format("{}\"{}\"", expected.empty() ? "" : ", ", choice);
  }
  reader.Fail(fmt::format("expected one of {}; found {}", expected, Quoted(*out)), key);
}

void ReadRelativePath(JsonReader& reader, std::string_view key, Presence presence,
                      std::string* out) {
  if (!ReadString(reader, key, presence, out)) return;
  if (out->empty() && presence == Presence::kOptional) return;
  const auto path = SafeRelativePath(*out, "");
  if (!path.ok()) return reader.Fail(path.error().message, key);
  *out = path->string();
}

void ReadAnyPath(JsonReader& reader, std::string_view key, Presence presence, std::string* out) {
  if (!ReadString(reader, key, presence, out)) return;
  const std::filesystem::path path(*out);
  if (!path.is_absolute()) return ReadRelativePath(reader, key, presence, out);
  const bool normal = path.lexically_normal() == path && path.has_filename() &&
                      path.lexically_normal().string() == *out;
  if (normal && !HasControlCharacter(*out)) return;
  reader.Fail(fmt::format("expected an absolute path in normal form (no '..', '.', '//' or "
                          "trailing '/'); found {}",
                          Quoted(*out)),
              key);
}

// "transport::address" would make git run a helper program of the address's choice.
void ReadRepository(JsonReader& reader, std::string* out) {
  ReadText(reader, "repository", out);
  if (!reader.ok() || out->empty() || *out == ".") return;
  if (out->starts_with('-') || out->find("::") != std::string::npos) {
    return reader.Fail("expected a URL or a folder, without a leading '-' and without '::'",
                       "repository");
  }
  if (out->find(':') != std::string::npos || out->starts_with('/')) return;
  const auto path = SafeRelativePath(*out, "");
  if (!path.ok()) reader.Fail(path.error().message, "repository");
}

void ReadTime(JsonReader& reader, std::string_view key, Presence presence, WallTime* out) {
  std::string text;
  if (!ReadString(reader, key, presence, &text)) return;
  const auto time = reader.over_values() ? Result<WallTime>(*out) : ParseTime(text);
  if (!time.ok()) return reader.Fail(TerminalSafe(time.error().message), key);
  constexpr WallTime kEnd{std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}};
  if (*time < WallTime{} || *time >= kEnd) {
    return reader.Fail("expected a time from 1970 to 9999", key);
  }
  *out = *time;
}

void ReadCount(JsonReader& reader, std::string_view key, int* out) {
  reader.ReadOptional(key, out);
  if (reader.ok() && *out < 0) reader.Fail(fmt::format("expected at least 0; found {}", *out), key);
}

void ReadSpan(JsonReader& reader, std::string_view key, double* out) {
  reader.ReadOptional(key, out);
  if (!reader.ok() || (std::isfinite(*out) && *out >= 0.0)) return;
  reader.Fail(fmt::format("expected a finite number of at least 0; found {}", *out), key);
}

void ReadSeeds(JsonReader& reader, std::map<std::string, std::int64_t>* out) {
  reader.ReadEachMember("seeds", out, [](const std::string& name, JsonReader& value, auto* seed) {
    if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
    value.Get(seed);
  });
}

void ReadCodeFiles(JsonReader& reader, std::string_view key, std::vector<CodeFile>* out) {
  ReadList(reader, key, out, ReadCodeFile);
}

void ReadData(JsonReader& reader, std::vector<DataItem>* out) {
  ReadList(reader, "data", out, ReadDataItem);
}

void ReadArtifacts(JsonReader& reader, std::vector<Artifact>* out) {
  ReadList(reader, "artifacts", out, ReadArtifact);
}

void ReadCurvePoints(JsonReader& reader, Curve* out) {
  for (const std::string_view key : {"steps", "values"}) {
    if (!reader.Has(key)) return reader.Fail("missing; expected an array of numbers", key);
  }
  reader.ReadArray("steps", &out->steps);
  reader.ReadArray("values", &out->values);
  if (!reader.ok()) return;
  if (out->steps.size() != out->values.size()) {
    return reader.Fail(fmt::format("has {} values for {} steps; expected one a step",
                                   out->values.size(), out->steps.size()),
                       "values");
  }
  const auto falling = std::adjacent_find(out->steps.begin(), out->steps.end(),
                                          [](auto a, auto b) { return a >= b; });
  if (falling != out->steps.end()) {
    reader.Fail(fmt::format("expected strictly increasing steps; found {} after {}", *(falling + 1),
                            *falling),
                "steps");
  }
}

void ReadUnreadMembers(JsonReader& reader, std::optional<UnreadMembers>* out) {
  if (reader.json().Find("unread_metrics") != nullptr) out->emplace();
  if (!*out) return;
  const auto read = [](const std::string& name, JsonReader& value, std::string* text) {
    value.Get(text);
    if (name.size() > kUnreadNameBytes || text->size() > kUnreadTextBytes) {
      value.Fail(fmt::format("expected a name of at most {} bytes and a text of at most {}",
                             kUnreadNameBytes, kUnreadTextBytes));
    }
  };
  reader.ReadEachMember("unread_metrics", &**out, read);
}

void ReadRunMetrics(JsonReader& reader, RunMetrics* out) {
  RefuseUnknownMembers(reader, {"metrics", "curves", "software"});
  reader.ForEachMember("metrics", [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
    value.Get(&out->metrics[name]);
  });
  reader.ForEachMember("curves", [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
    RefuseUnknownMembers(value, {"steps", "values"});
    Curve& curve = out->curves.emplace_back();
    curve.name = name;
    ReadCurvePoints(value, &curve);
  });
  reader.ForEachMember("software", [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
    value.Get(&out->software[name]);
  });
}

void ReadResources(JsonReader& reader, Resources* out) {
  RefuseUnknownMembers(reader, {"cpus", "gpus", "memory_bytes", "disk_bytes", "timeout_seconds"});
  ReadCount(reader, "cpus", &out->cpus);
  ReadCount(reader, "gpus", &out->gpus);
  reader.ReadOptional("memory_bytes", &out->memory_bytes);
  reader.ReadOptional("disk_bytes", &out->disk_bytes);
  ReadSpan(reader, "timeout_seconds", &out->timeout_seconds);
}

}  // namespace rharness
