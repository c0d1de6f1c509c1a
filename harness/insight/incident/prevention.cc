// Measures in sentences; see prevention.h.
#include "harness/insight/incident/prevention.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "harness/insight/incident/changes.h"
#include "harness/insight/incident/next_step.h"
#include "harness/insight/incident/runbook.h"
#include "reports/history_summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostAdvised = 2;
constexpr auto kLongGap = std::chrono::hours(48);

std::string_view MeasureOf(Layer layer) {
  switch (layer) {
    case Layer::kData:
      return "keep data where they are fetched by their SHA-256, and change none in place: "
             "rharness fetch runs/RUN.json --cache DIR";
    case Layer::kCode:
      return "record from a commit and list the files that are read (--code-file), so that a "
             "changed one is named: rharness check runs";
    case Layer::kEnvironment:
      return "let no image, driver or library roll out before the gate lets it through: "
             "rharness gate --baseline DIR --candidate FILE";
    case Layer::kHardware:
      return "list accepted substitutes of hardware in the policy: rharness policy check "
             "policy.yaml";
    case Layer::kRandomness:
      break;
  }
  return "record with --python-hooks, which names seeds and flags that are declared and not set";
}

void AddMeasures(const IncidentFacts& in, IncidentAnswer* answer) {
  const std::optional<KnownChange> change = ChangeOf(in);
  if (!change) {
    answer->not_known = "what would have prevented it, since it is not known what changed";
    return;
  }
  bool any = false;
  for (const LayerComparison& layer : change->layers) {
    if (layer.state != LayerState::kDiffers) continue;
    any = true;
    answer->facts.push_back({std::string(MeasureOf(layer.layer)),
                             fmt::format("{}: {}", change->source, LayerName(layer.layer))});
  }
  if (any) return;
  const bool seeds = change->between == ChangeBetween::kRuns && SeedsAloneDiffer(in);
  answer->not_known =
      fmt::format("what would have prevented it: nothing that is recorded differs{}",
                  seeds ? " but the seeds" : "");
}

const std::string& PartOf(const RunbookPage& page, std::string_view name) {
  const auto part =
      std::ranges::find_if(page.parts, [&](const auto& one) { return one.first == name; });
  static const std::string none;
  return part == page.parts.end() ? none : part->second;
}

// The runbook's advice on the reasons of a bad verdict.
void AddAdvice(const IncidentFacts& in, IncidentAnswer* answer) {
  const StoredVerdict* telling = TellingVerdict(in);
  if (telling == nullptr || StandingOf(telling->verdict) != Standing::kBad) return;
  std::set<std::string> advised;
  for (const auto& [code, message] : telling->reasons) {
    const RunbookPage* page = FindRunbookPage(code);
    if (page == nullptr || advised.size() == kMostAdvised) continue;
    const std::string& what = PartOf(*page, "Do");
    if (what == "Nothing." || !advised.insert(code).second) continue;
    answer->facts.push_back({PartOf(*page, "Check") + " " + what, "runbook: " + code});
  }
}

void AddGap(const IncidentFacts& in, IncidentAnswer* answer) {
  const RunOutlook outlook = Summarize(in.run_history);
  if (!outlook.last_good || !outlook.first_bad) return;
  const StoredVerdict& good = in.run_history.verdicts.at(*outlook.last_good);
  const StoredVerdict& bad = in.run_history.verdicts.at(*outlook.first_bad);
  const auto gap = bad.decided - good.decided;
  if (gap < kLongGap) return;
  answer->facts.push_back(
      {fmt::format("between its last good drill and the first bad one lie {} days: drill more "
                   "often, and fewer changes have to be searched",
                   std::chrono::duration_cast<std::chrono::hours>(gap).count() / 24),
       fmt::format("history: verdicts of drills {} and {}", good.drill_id, bad.drill_id)});
}

}  // namespace

IncidentAnswer Prevention(const IncidentFacts& in, const std::string& next) {
  IncidentAnswer answer{"prevent", "What to do now, and what would have prevented it?", {}, {}};
  const bool from_there = next.find("rharness ") != next.npos && NamesRelativePaths(in.given);
  answer.facts.push_back(
      {next, fmt::format("the way back, as far as it is shown{}",
                         from_there ? "; its paths begin in the folder where `rharness incident` "
                                      "was called"
                                    : "")});
  AddAdvice(in, &answer);
  AddMeasures(in, &answer);
  AddGap(in, &answer);
  return answer;
}

}  // namespace rharness
