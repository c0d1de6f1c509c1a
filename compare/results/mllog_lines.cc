// The events of an MLPerf log, line by line.
#include "compare/results/mllog_lines.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace rharness {
namespace {

constexpr std::string_view kToken = ":::MLLOG ";
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
constexpr int kMaxEvents = 1 << 20;

// The longer spelling first: one is the end of the other.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNonFinite = {
    {{"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}, {"NaN", "\"nan\""}}};

// Quotes the spellings of non-finite numbers outside of strings.
std::string QuoteNonFinite(std::string_view json) {
  std::string quoted;
  quoted.reserve(json.size() + 16);
  bool in_string = false;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (in_string && c == '\\' && at + 1 < json.size()) {
      quoted.append(json.substr(at, 2));
      at += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    const std::string_view rest = json.substr(at);
    std::size_t taken = 0;
    for (const auto& [spelling, string] : kNonFinite) {
      if (in_string || taken > 0 || !rest.starts_with(spelling)) continue;
      quoted += string;
      taken = spelling.size();
    }
    if (taken == 0) quoted += c;
    at += taken == 0 ? 1 : taken;
  }
  return quoted;
}

// Some loggers write seconds, with a fraction, in place of milliseconds.
std::optional<std::int64_t> TimeOf(const Json& event) {
  if (const Json* time = event.Find("time_ms")) return time->ToInt64();
  const Json* time = event.Find("time_s");
  const auto seconds = time == nullptr ? std::nullopt : time->ToDouble();
  constexpr double kMostSeconds = 9e9;  // in nanoseconds still 64 bits
  if (!seconds || !(std::abs(*seconds) < kMostSeconds)) return std::nullopt;
  return std::llround(*seconds * 1e3);
}

Status TakeLine(std::string_view json, int line, const std::string& place,
                const std::function<Status(const MllogEvent&)>& take) {
  if (json.size() > kMaxLineBytes) {
    return InvalidInput(
        fmt::format("an event of {} bytes; at most {} are read", json.size(), kMaxLineBytes),
        place);
  }
  ASSIGN_OR_RETURN(const Json event, ParseJson(QuoteNonFinite(json), place));
  const Json* key = event.Find("key");
  if (key == nullptr || key->kind() != Json::Kind::kString) {
    return InvalidInput("expected an object with a string \"key\" after :::MLLOG", place);
  }
  static const Json null;
  const Json* value = event.Find("value");
  const Json* metadata = event.Find("metadata");
  if (metadata != nullptr && !metadata->IsNull() && !metadata->IsObject()) {
    return InvalidInput("metadata: expected an object", place);
  }
  return take({.line = line,
               .key = key->AsString(),
               .value = value == nullptr ? &null : value,
               .metadata = metadata == nullptr ? &null : metadata,
               .time_ms = TimeOf(event)});
}

}  // namespace

std::string MllogPlace(std::string_view file, int line) {
  return fmt::format("{}: line {}", file, line);
}

Status ForEachMllogEvent(std::string_view text, std::string_view file,
                         const std::function<Status(const MllogEvent&)>& take) {
  int events = 0;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t token = one.rfind(kToken);
    if (token == std::string_view::npos) continue;
    const std::string place = MllogPlace(file, line);
    if (++events > kMaxEvents) {
      return InvalidInput(fmt::format("more than {} events", kMaxEvents), place);
    }
    RETURN_IF_ERROR(TakeLine(one.substr(token + kToken.size()), line, place, take));
  }
  return {};
}

}  // namespace rharness
