// Counting, looking back, and the answer in a sentence.
#include "harness/experiments/properties/properties_report_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "harness/base/version.h"
#include "harness/experiments/properties/legs.h"
#include "reports/text.h"

namespace rharness {
namespace {

// The last drill that judged it: unjudged results say nothing.
void LookBack(const std::vector<PropertyRecord>& before, PropertyResult* result) {
  for (const PropertyRecord& one : before) {
    if (one.property != result->name || one.state == PropertyState::kNotJudged) {
      continue;
    }
    result->last_state = one.state;
    result->last_drill = one.drill_id;
    result->last_time = one.decided;
  }
  result->newly_lost =
      result->state == PropertyState::kLost && result->last_state && IsHeld(*result->last_state);
}

std::size_t Count(const std::vector<PropertyResult>& results, PropertyState state) {
  return static_cast<std::size_t>(std::ranges::count(results, state, &PropertyResult::state));
}

std::string PropertiesWord(std::size_t count) {
  return count == 1 ? "1 property" : fmt::format("{} properties", count);
}

std::string Answer(const PropertiesReport& report) {
  const auto& results = report.results;
  const std::size_t lost = Count(results, PropertyState::kLost);
  const std::size_t open = Count(results, PropertyState::kNotJudged);
  const auto newly = std::ranges::find(results, true, &PropertyResult::newly_lost);
  const std::string of = fmt::format("of {}", PropertiesWord(results.size()));
  if (newly != results.end()) {
    return fmt::format("{} {} lost: {} of {} held in the drill of {} and does not now", lost, of,
                       newly->name, newly->run_id, FormatMinute(newly->last_time));
  }
  if (lost > 0) {
    const auto first = std::ranges::find(results, PropertyState::kLost, &PropertyResult::state);
    const std::string more = lost > 1 ? fmt::format(" and {} more", lost - 1) : "";
    return fmt::format("{} {} lost: {} of {}{}", lost, of, first->name, first->run_id, more);
  }
  if (open > 0) return fmt::format("{} {} could not be judged; none was lost", open, of);
  const std::size_t within = Count(results, PropertyState::kHeldWithin);
  if (within == 0) return fmt::format("{} held to the bit", PropertiesWord(results.size()));
  return fmt::format("{} held, {} of them within stated margins", PropertiesWord(results.size()),
                     within);
}

// "batch_invariant" of "batch_invariant@4", with its label.
bool IsOfBatches(const PropertyResult& result) {
  return result.name.starts_with(PropertyKindName(PropertyKind::kBatchInvariant));
}

std::string WithoutLeg(const std::string& name) { return name.substr(0, name.find('@')); }

// One sentence for all legs of a claim about batches.
std::vector<std::string> BatchNotes(const std::vector<PropertyResult>& results) {
  std::vector<std::string> notes;
  std::string told;
  for (const PropertyResult& first : results) {
    const std::string claim = first.run_id + " " + WithoutLeg(first.name);
    if (!IsOfBatches(first) || claim == std::exchange(told, claim)) continue;
    std::size_t legs = 0;
    std::size_t held = 0;
    std::uint64_t items = 0;
    for (const PropertyResult& one : results) {
      if (one.run_id + " " + WithoutLeg(one.name) != claim) continue;
      ++legs;
      if (!IsHeld(one.state)) continue;
      ++held;
      items = std::max(items, one.items);
    }
    const std::string of = items > 0 ? fmt::format(", by {} items each", items) : "";
    notes.push_back(fmt::format("{}: {} held in {} of {} legs{}", first.run_id,
                                WithoutLeg(first.name), held, legs, of));
  }
  return notes;
}

constexpr char kProbeOfBatches[] =
    "; rharness probe run --probe 'batch_invariance*' shows whether the products of this stack "
    "depend on the rows beside a row: more than one of its classes predicts this";

std::string Next(const PropertiesReport& report) {
  if (report.interrupted) return "continue with --resume";
  const auto is_first = [&](PropertyState state) {
    return std::ranges::find(report.results, state, &PropertyResult::state);
  };
  if (const auto lost = is_first(PropertyState::kLost); lost != report.results.end()) {
    return fmt::format("look at the legs of {}: {}{}", lost->name,
                       lost->legs.empty() ? "" : lost->legs.back(),
                       IsOfBatches(*lost) ? kProbeOfBatches : "");
  }
  if (const auto open = is_first(PropertyState::kNotJudged); open != report.results.end()) {
    return fmt::format("{}: {}", open->name, open->headline);
  }
  return "";
}

int ExitCodeOf(const PropertiesReport& report, bool damaged) {
  if (damaged) return 5;
  const auto has = [&](auto condition) { return std::ranges::any_of(report.results, condition); };
  if (has([](const PropertyResult& one) { return one.state == PropertyState::kLost; })) return 1;
  if (report.interrupted || has([](const PropertyResult& one) { return one.could_not; })) return 4;
  return has([](const PropertyResult& one) { return one.state == PropertyState::kNotJudged; }) ? 3
                                                                                               : 0;
}

PropertiesReport StartReport(const PropertiesSettings& settings) {
  return {.drill_id = settings.drill.drill_id,
          .made = settings.drill.started,
          .version = kVersion,
          .host = {},
          .headline = {},
          .next = {},
          .results = {},
          .notes = {}};
}

}  // namespace

PropertiesReport BuildPropertiesReport(PropertiesDone done) {
  PropertiesReport report = StartReport(done.settings);
  report.made = done.made;
  report.host = std::move(done.host);
  report.legs = done.legs;
  report.run_seconds = done.run_seconds;
  report.interrupted = done.interrupted;
  report.results = std::move(done.results);
  for (PropertyResult& result : report.results) {
    const auto before = done.before.find(result.run_id);
    if (before != done.before.end()) LookBack(before->second, &result);
  }
  report.notes = std::move(done.noise);  // first: nothing else means much beside it
  for (const auto* more : {&done.damage, &done.notes}) {
    report.notes.insert(report.notes.end(), more->begin(), more->end());
  }
  for (std::string& note : BatchNotes(report.results)) report.notes.push_back(std::move(note));
  report.headline = Answer(report);
  if (report.interrupted) report.headline = "interrupted; so far, " + report.headline;
  report.next = Next(report);
  report.exit_code = ExitCodeOf(report, !done.damage.empty());
  return report;
}

PropertiesReport BuildPropertiesPlan(const PropertiesSettings& settings) {
  PropertiesReport report = StartReport(settings);
  report.planned = true;
  report.exit_code = 0;
  for (const Manifest& run : settings.runs) {
    const LegPlan plan = PlanLegs(run, 2);
    int legs = 0;
    for (const Leg& leg : plan.legs) {
      const bool again = leg.role == LegRole::kStraight && NeedsTwoStraight(run);
      if (leg.repeat == 1 || again) ++legs;
    }
    report.legs += legs;
    report.run_seconds += legs * run.duration_seconds;
    for (const PropertyClaim& claim : plan.claims) {
      const Property& property = run.properties[claim.property];
      PropertyResult& result = report.results.emplace_back();
      result.run_id = run.run_id;
      result.family = run.family;
      result.name = claim.name;
      result.claim = ClaimWords(property, claim.step);
      result.headline = "planned";
      for (const Leg& leg : plan.legs) {
        const bool of_it = leg.role != LegRole::kStraight && leg.property == claim.property &&
                           leg.step == claim.step && leg.repeat == 1;
        if (of_it) result.legs.push_back(fmt::format("leg {}: {}", leg.number, leg.words));
      }
    }
  }
  report.headline =
      fmt::format("{} in {} legs, as recorded {:.0f} s of run time",
                  PropertiesWord(report.results.size()), report.legs, report.run_seconds);
  if (settings.repeats > 2) {
    report.notes.push_back(fmt::format(
        "where straight runs differ among themselves, open properties are repeated up to {} times",
        settings.repeats));
  }
  return report;
}

}  // namespace rharness
