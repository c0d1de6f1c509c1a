// Properties as a document: the claims, their results, and the places of the legs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/properties_report.h"
#include "reports/text.h"

namespace rharness {
namespace {

// The verdict that gives a state its colour and kind.
Verdict ToneOf(const PropertyResult& result) {
  switch (result.state) {
    case PropertyState::kHeld:
      return Verdict::kIdentical;
    case PropertyState::kHeldWithin:
      return Verdict::kEquivalent;
    case PropertyState::kLost:
      return Verdict::kDrifted;
    case PropertyState::kNotJudged:
      break;
  }
  return result.could_not ? Verdict::kInfra : Verdict::kInconclusive;
}

std::string StateWords(PropertyState state) {
  switch (state) {
    case PropertyState::kHeld:
      return "✓ held";
    case PropertyState::kHeldWithin:
      return "≈ within";
    case PropertyState::kLost:
      return "✗ lost";
    case PropertyState::kNotJudged:
      break;
  }
  return "? not judged";
}

// "it held on 2026-11-20 08:03 UTC (drill 2026...)"; empty without an earlier drill.
std::string BeforeWords(const PropertyResult& result) {
  if (!result.last_state) return "";
  const std::string_view state = result.last_state == PropertyState::kHeldWithin
                                     ? "held within its margins"
                                 : result.last_state == PropertyState::kHeld ? "held"
                                                                             : "was lost";
  return fmt::format("it {} on {} (drill {})", state, FormatMinute(result.last_time),
                     SafeText(result.last_drill, 100));
}

DocumentRow RowOf(const PropertyResult& result, bool planned) {
  DocumentRow row{.tone = planned ? Verdict::kInfra : ToneOf(result),
                  .cells = {result.name,
                            {planned ? "" : StateWords(result.state), DocumentCell::As::kBadge},
                            planned ? "" : fmt::format("{}", fmt::join(result.legs, "; ")),
                            result.claim}};
  if (planned) {
    row.details = result.legs;
    return row;
  }
  row.details.push_back(result.headline);
  const std::string before = BeforeWords(result);
  if (!before.empty()) {
    row.details.push_back((result.newly_lost ? "Lost since: " : "The drill before: ") + before);
  }
  if (result.state != PropertyState::kHeld) {
    for (const PropertyReason& reason : result.reasons) {
      // The headline has the first.
      if (result.headline.find(reason.message) == result.headline.npos) {
        row.details.push_back(reason.message);
      }
    }
  }
  row.details.insert(row.details.end(), result.notes.begin(), result.notes.end());
  return row;
}

}  // namespace

Document DocumentOf(const PropertiesReport& report) {
  Document document{.name = "properties",
                    .about = "Properties",
                    .version = report.version,
                    .made = report.made,
                    .tone = report.exit_code == 0   ? Verdict::kIdentical
                            : report.exit_code == 1 ? Verdict::kDrifted
                                                    : Verdict::kInconclusive,
                    .headline = report.headline,
                    .next = report.next,
                    .notes = report.notes,
                    .facts = {{"Drill", report.drill_id},
                              {"Legs", fmt::format("{}, {} s of run time as recorded", report.legs,
                                                   FormatNumber(report.run_seconds, 3))},
                              {"Error rate",
                               "0.05 a property, of runs that differ from their own repeats; else "
                               "none"}},
                    .exit_code = report.exit_code};
  if (!report.host.empty()) document.facts.emplace_back("Host", report.host);
  for (const PropertyResult& result : report.results) {
    if (document.sections.empty() || document.sections.back().title != result.run_id) {
      document.sections.push_back({.title = result.run_id,
                                   .columns = {{"Property"}, {"State"}, {"Legs"}, {"Claim"}},
                                   .cases = !report.planned});
    }
    document.sections.back().rows.push_back(RowOf(result, report.planned));
  }
  return document;
}

}  // namespace rharness
