// Entries as lines of canonical JSON.
#include "harness/trust/audit/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

// Takes `text`, a literal, from the beginning of `rest`; false: it begins with something else.
template <std::size_t kSize>
bool Take(const char (&text)[kSize], std::string_view* rest) {
  constexpr std::size_t kCharacters = kSize - 1;
  if (rest->size() < kCharacters || std::memcmp(rest->data(), text, kCharacters) != 0) return false;
  rest->remove_prefix(kCharacters);
  return true;
}

// As many characters at the beginning of it as a kind has.
std::size_t KindSize(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && ((text[size] >= 'a' && text[size] <= 'z') || text[size] == '_')) {
    ++size;
  }
  return size;
}

// "2026-11-25T08:00:00.000Z", by its form alone.
bool HasFormOfTime(std::string_view text) {
  static constexpr char kLowest[] = "0000-00-00T00:00:00.000Z";
  static constexpr char kHighest[] = "9999-99-99T99:99:99.999Z";
  constexpr int kSize = sizeof(kLowest) - 1;
  if (text.size() != kSize) return false;
  const char* const at = text.data();
  std::uint8_t other = 0;  // without a branch, so that many characters are looked at at once
  for (int i = 0; i < kSize; ++i) {
    const auto c = static_cast<std::uint8_t>(at[i]);
    const std::uint8_t below = c < static_cast<std::uint8_t>(kLowest[i]) ? 0xff : 0;
    const std::uint8_t above = c > static_cast<std::uint8_t>(kHighest[i]) ? 0xff : 0;
    other = static_cast<std::uint8_t>(other | below | above);
  }
  return other == 0;
}

// Nonzero: one of these characters is not ASCII or needs an escape between quotes. Branch-free, as
// above.
template <std::size_t kSize>
std::uint8_t OtherThanPlain(const char* at) {
  std::uint8_t other = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    const auto c = static_cast<std::uint8_t>(at[i]);
    const std::uint8_t is_other = c < 0x20 || c >= 0x7f || c == '\\' || c == '"' ? 0xff : 0;
    other = static_cast<std::uint8_t>(other | is_other);
  }
  return other;
}

bool IsPlain(std::string_view text) {
  constexpr std::size_t kStep = 16;
  std::uint8_t other = 0;
  if (text.size() < kStep) {
    for (const char& each : text) other |= OtherThanPlain<1>(&each);
    return other == 0;
  }
  const std::size_t last = text.size() - kStep;
  for (std::size_t i = 0; i < last; i += kStep) other |= OtherThanPlain<kStep>(text.data() + i);
  other |= OtherThanPlain<kStep>(text.data() + last);
  return other == 0;
}

// Whether a JSON string of these characters ends with them: no quote but behind an odd number of
// escapes, and an even number at the end.
bool IsOneString(std::string_view text) {
  bool escaped = false;
  for (const char c : text) {
    if (c == '"' && !escaped) return false;
    escaped = c == '\\' && !escaped;
  }
  return !escaped;
}

}  // namespace

std::string WriteEntry(const AuditEntry& entry) {
  return Json::MakeObject({{"index", entry.index},
                           {"kind", entry.kind},
                           {"name", entry.name},
                           {"sha256", entry.sha256},
                           {"time", FormatTime(entry.time)}})
      .Dump();
}

bool ScanEntry(std::string_view line, EntryParts* parts) {
  constexpr std::size_t kMostOfKind = 40;
  constexpr std::size_t kDigest = 64;
  constexpr std::size_t kTime = 24;
  constexpr char kBeforeDigest[] = "\",\"sha256\":\"";
  constexpr char kBeforeTime[] = "\",\"time\":\"";
  constexpr std::size_t kBehindName =
      sizeof(kBeforeDigest) - 1 + kDigest + sizeof(kBeforeTime) - 1 + kTime + sizeof("\"}") - 1;
  if (line.size() > kMostEntryBytes || !Take("{\"index\":", &line)) return false;
  const auto number = std::from_chars(line.data(), line.data() + line.size(), parts->index);
  const auto digits = static_cast<std::size_t>(number.ptr - line.data());
  if (number.ec != std::errc() || (line[0] == '0' && digits > 1)) return false;
  line.remove_prefix(digits);
  if (!Take(",\"kind\":\"", &line)) return false;
  const std::size_t kind = KindSize(line);
  if (kind == 0 || kind > kMostOfKind) return false;
  parts->kind = line.substr(0, kind);
  line.remove_prefix(kind);
  // The name ends where the fixed-length rest begins.
  if (!Take("\",\"name\":\"", &line) || line.size() <= kBehindName) return false;
  parts->name = line.substr(0, line.size() - kBehindName);
  parts->plain = IsPlain(parts->name);
  if (!parts->plain && !IsOneString(parts->name)) return false;
  line.remove_prefix(parts->name.size());
  if (!Take(kBeforeDigest, &line)) return false;
  parts->sha256 = line.substr(0, kDigest);
  line.remove_prefix(kDigest);
  if (!IsSha256Hex(parts->sha256) || !Take(kBeforeTime, &line)) return false;
  parts->time = line.substr(0, kTime);
  line.remove_prefix(kTime);
  return HasFormOfTime(parts->time) && Take("\"}", &line);
}

std::string EntryWords(std::uint64_t index, std::string_view kind, std::string_view name) {
  if (kind.empty()) return fmt::format("entry {}", index);
  return fmt::format("entry {} ({} {})", index, kind, TerminalSafe(name));
}

Result<AuditEntry> ParseEntry(std::string_view line, std::string_view where) {
  const auto fail = [&](const std::string& why) {
    return IntegrityError(
        fmt::format("is no entry of an audit log{}{}; it begins '{}'", why.empty() ? "" : ": ", why,
                    TerminalSafe(line.substr(0, 60))),
        std::string(where));
  };
  EntryParts parts;
  if (!ScanEntry(line, &parts)) {
    return fail(
        "expected {\"index\":N,\"kind\":...,\"name\":...,\"sha256\":...,\"time\":...} to the "
        "letter");
  }
  AuditEntry entry{.index = parts.index,
                   .kind = std::string(parts.kind),
                   .name = std::string(parts.name),
                   .sha256 = std::string(parts.sha256)};
  const auto time = ParseTime(parts.time);
  if (!time.ok()) return fail(time.error().message);
  entry.time = *time;
  if (!parts.plain) {
    const auto json = ParseJson(line, where);
    if (!json.ok()) return fail(json.error().message);
    entry.name = json->Find("name")->AsString();
  }
  if (WriteEntry(entry) != line) return fail("it is spelled otherwise than entries are");
  return entry;
}

}  // namespace rharness
