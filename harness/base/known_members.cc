// Members that a record does not have; see known_members.h.
#include "harness/base/known_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "harness/base/files.h"
#include "harness/base/spelling.h"

namespace rharness {
namespace {

std::string SpellingHint(std::string_view name, std::span<const std::string_view> known) {
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

}  // namespace

void RefuseUnknownMembers(JsonReader& reader, std::span<const std::string_view> known) {
  if (!reader.ok() || reader.over_values()) return;
  if (!reader.json().IsObject()) {
    return reader.Fail(fmt::format("expected an object, found {}", reader.json().KindName()));
  }
  for (const auto& [name, value] : reader.json().AsObject()) {
    if (name.starts_with("x-")) continue;
    if (std::ranges::find(known, name) != known.end()) continue;
    return reader.Fail(fmt::format("unknown member \"{}\"{}", TerminalSafe(name.substr(0, 80)),
                                   SpellingHint(name, known)));
  }
}

}  // namespace rharness
