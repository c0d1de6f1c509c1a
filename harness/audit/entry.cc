// Entries as lines of canonical JSON.
#include "harness/audit/entry.h"

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

bool IsKind(std::string_view text) {
  return !text.empty() && text.size() <= 40 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
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

// Whether each character is ASCII and stands for itself between quotes.
bool IsPlain(std::string_view text) {
  std::uint8_t other = 0;
  for (const char each : text) {
    const auto c = static_cast<std::uint8_t>(each);
    const std::uint8_t is_other = c < 0x20 || c >= 0x7f || c == '\\' ? 0xff : 0;
    other = static_cast<std::uint8_t>(other | is_other);
  }
  return other == 0;
}

// The characters up to the quote that ends a JSON string: one behind an even number of escapes.
std::optional<std::string_view> TakeString(std::string_view* rest) {
  for (auto end = rest->find('"'); end != rest->npos; end = rest->find('"', end + 1)) {
    std::size_t escapes = 0;
    while (escapes < end && (*rest)[end - 1 - escapes] == '\\') ++escapes;
    if (escapes % 2 == 1) continue;
    const std::string_view text = rest->substr(0, end);
    rest->remove_prefix(end + 1);
    return text;
  }
  return std::nullopt;
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
  constexpr std::size_t kDigest = 64;
  constexpr std::size_t kTime = 24;
  if (line.size() > kMostEntryBytes || !Take("{\"index\":", &line)) return false;
  const auto number = std::from_chars(line.data(), line.data() + line.size(), parts->index);
  const auto digits = static_cast<std::size_t>(number.ptr - line.data());
  if (number.ec != std::errc() || (line[0] == '0' && digits > 1)) return false;
  line.remove_prefix(digits);
  if (!Take(",\"kind\":\"", &line)) return false;
  const auto kind = TakeString(&line);
  if (!kind || !IsKind(*kind) || !Take(",\"name\":\"", &line)) return false;
  const auto name = TakeString(&line);
  if (!name || name->empty() || !Take(",\"sha256\":\"", &line)) return false;
  parts->kind = *kind;
  parts->name = *name;
  parts->plain = IsPlain(*name);
  parts->sha256 = line.substr(0, kDigest);
  if (!IsSha256Hex(parts->sha256)) return false;
  line.remove_prefix(kDigest);
  if (!Take("\",\"time\":\"", &line)) return false;
  parts->time = line.substr(0, kTime);
  if (!HasFormOfTime(parts->time)) return false;
  line.remove_prefix(kTime);
  return Take("\"}", &line) && line.empty();
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
