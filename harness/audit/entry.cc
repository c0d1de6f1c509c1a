// Entries as lines of canonical JSON.
#include "harness/audit/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

// Takes `text` from the beginning of `rest`; false: it begins with something else.
bool Take(std::string_view text, std::string_view* rest) {
  if (!rest->starts_with(text)) return false;
  rest->remove_prefix(text.size());
  return true;
}

bool IsKind(std::string_view text) {
  return !text.empty() && text.size() <= 40 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

// "2026-11-25T08:00:00.000Z", by its form alone.
bool HasFormOfTime(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.dddZ";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != kForm[i]) return false;
  }
  return true;
}

// The characters up to the quote that ends a JSON string; `plain` as in EntryParts.
std::optional<std::string_view> TakeString(std::string_view* rest, bool* plain) {
  for (std::size_t i = 0; i < rest->size(); ++i) {
    const auto c = static_cast<unsigned char>((*rest)[i]);
    if (c == '"') {
      const std::string_view text = rest->substr(0, i);
      rest->remove_prefix(i + 1);
      return text;
    }
    if (c == '\\') ++i;
    if (c == '\\' || c < 0x20 || c >= 0x7f) *plain = false;  // also what is not ASCII
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

std::optional<EntryParts> ScanEntry(std::string_view line) {
  constexpr std::size_t kDigest = 64;
  constexpr std::size_t kTime = 24;
  EntryParts parts;
  if (line.size() > kMostEntryBytes || !Take("{\"index\":", &line)) return std::nullopt;
  const auto number = std::from_chars(line.data(), line.data() + line.size(), parts.index);
  const auto digits = static_cast<std::size_t>(number.ptr - line.data());
  if (number.ec != std::errc() || (line[0] == '0' && digits > 1)) return std::nullopt;
  line.remove_prefix(digits);
  bool plain = true;
  if (!Take(",\"kind\":\"", &line)) return std::nullopt;
  const auto kind = TakeString(&line, &plain);
  if (!kind || !IsKind(*kind) || !Take(",\"name\":\"", &line)) return std::nullopt;
  const auto name = TakeString(&line, &parts.plain);
  if (!name || name->empty() || !Take(",\"sha256\":\"", &line)) return std::nullopt;
  parts.kind = *kind;
  parts.name = *name;
  parts.sha256 = line.substr(0, kDigest);
  if (!IsSha256Hex(parts.sha256)) return std::nullopt;
  line.remove_prefix(kDigest);
  if (!Take("\",\"time\":\"", &line)) return std::nullopt;
  parts.time = line.substr(0, kTime);
  if (!HasFormOfTime(parts.time) || line.substr(kTime) != "\"}") return std::nullopt;
  return parts;
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
  const auto parts = ScanEntry(line);
  if (!parts) {
    return fail(
        "expected {\"index\":N,\"kind\":...,\"name\":...,\"sha256\":...,\"time\":...} to the "
        "letter");
  }
  AuditEntry entry{.index = parts->index,
                   .kind = std::string(parts->kind),
                   .name = std::string(parts->name),
                   .sha256 = std::string(parts->sha256)};
  const auto time = ParseTime(parts->time);
  if (!time.ok()) return fail(time.error().message);
  entry.time = *time;
  if (!parts->plain) {
    const auto json = ParseJson(line, where);
    if (!json.ok()) return fail(json.error().message);
    entry.name = json->Find("name")->AsString();
  }
  if (WriteEntry(entry) != line) return fail("it is spelled otherwise than entries are");
  return entry;
}

}  // namespace rharness
