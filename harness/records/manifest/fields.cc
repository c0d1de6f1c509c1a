// The checks of single fields.
#include "harness/records/manifest/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/known_members.h"
#include "harness/records/manifest/empty_folders.h"

namespace rharness {
namespace {

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
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

}  // namespace

void RefuseUnknownMembers(JsonReader& reader, std::initializer_list<std::string_view> known) {
  RefuseUnknownMembers(reader, std::span(known.begin(), known.size()));
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
                std::span<const std::string_view> choices, std::string* out) {
  if (!ReadString(reader, key, presence, out)) return;
  if (std::ranges::find(choices, *out) != choices.end()) return;
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

void ReadFolderNames(JsonReader& reader, std::string_view key, std::vector<std::string>* out) {
  reader.ReadArray(key, out);
  if (!reader.ok()) return;
  if (out->size() > kMostEmptyFolders) {
    return reader.Fail(
        fmt::format("expected at most {} folders; found {}", kMostEmptyFolders, out->size()), key);
  }
  for (std::size_t i = 0; i < out->size(); ++i) {
    const auto path = SafeRelativePath((*out)[i], "");
    if (!path.ok()) return reader.Fail(path.error().message, key);
    if (path->string() == (*out)[i] && (i == 0 || (*out)[i - 1] < (*out)[i])) continue;
    return reader.Fail(fmt::format("expected paths in normal form, sorted, each once; found {}",
                                   Quoted((*out)[i])),
                       key);
  }
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

}  // namespace rharness
