// The values of a field, and those nearest to a missing one.
#include "harness/drill/selection_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/spelling.h"
#include "harness/verdict/verdict.h"

namespace rharness {
namespace {

constexpr std::size_t kNamed = 5;
constexpr std::size_t kLongestShown = 80;

// Those of the history, and those that any history may have.
std::set<std::string> ValuesOf(const std::string& field, const std::vector<HistoryEntry>& entries) {
  std::set<std::string> values;
  for (const HistoryEntry& entry : entries) {
    if (field == "run_id") values.insert(entry.run_id);
    if (field == "family") values.insert(entry.family);
    if (field == "configuration") values.insert(entry.configuration);
  }
  if (field == "declared") values = {"bitwise", "statistical"};
  if (field == "rebuild") {
    values = {""};
    for (const PartState state : kPartStates) values.emplace(PartStateName(state));
  }
  if (field == "last_verdict") {
    values = {""};
    for (const Verdict verdict : kVerdicts) values.emplace(VerdictName(verdict));
  }
  return values;
}

std::string Quoted(const std::string& text) {
  return fmt::format("\"{}\"", TerminalSafe(text.substr(0, kLongestShown)));
}

// The nearest first.
std::string Nearest(const std::string& typed, const std::set<std::string>& values) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& value : values) {
    ranked.emplace_back(EditDistance(typed.substr(0, kLongestShown), value), value);
  }
  std::ranges::sort(ranked);
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, ranked.size()); ++i) {
    text += (i == 0 ? "" : ", ") + Quoted(ranked[i].second);
  }
  if (ranked.size() > kNamed) text += fmt::format(" or one of {} more", ranked.size() - kNamed);
  return text;
}

}  // namespace

Status CheckNamedValues(const Selection& selection, const std::vector<HistoryEntry>& entries) {
  if (entries.empty()) return {};
  for (const NamedValue& named : selection.NamedValues()) {
    const std::set<std::string> values = ValuesOf(named.field, entries);
    if (values.contains(named.value)) continue;
    return InvalidInput(fmt::format("no run's {} is {}; expected {}", named.field,
                                    Quoted(named.value), Nearest(named.value, values)),
                        "selection");
  }
  return {};
}

Status FindArtifacts(HistoryStore* history, Selection* selection) {
  for (const std::string& digest : selection->Artifacts()) {
    ASSIGN_OR_RETURN(const auto runs, history->RunsOfArtifact(digest));
    if (runs.empty()) {
      return InvalidInput("no run made a file with the SHA-256 or tensor digest " + digest,
                          "selection");
    }
    selection->TellRunsOf(digest, runs);
  }
  return {};
}

}  // namespace rharness
