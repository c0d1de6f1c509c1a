// A fleet as a document: the facts that set each odd node apart, and classes of identical
// arithmetic.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

constexpr std::size_t kMostMajorityValues = 4;
constexpr std::size_t kNamedNodes = 60;

std::string MajorityWords(const std::vector<std::optional<std::string>>& values) {
  std::vector<std::string> words;
  for (const auto& value : values) {
    words.push_back(words.size() == kMostMajorityValues ? "another" : FactWords(value));
    if (words.size() > kMostMajorityValues) break;
  }
  return fmt::format("{}", fmt::join(words, " or "));
}

std::string NodeNames(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamedNodes);
  std::string words = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return names.size() == shown ? words : fmt::format("{} and {} more", words, names.size() - shown);
}

// The node by itself, then a row a fact of its stack that no node of the majority has.
void AddOdd(const OddNode& odd, DocumentSection* section) {
  DocumentRow row{
      .tone = Verdict::kDrifted,
      .cells = {odd.node, {std::string(SuspectName(odd.suspect)), As::kBadge}, odd.sentence},
      .details = {}};
  for (const FleetFact& fact : odd.facts) {
    row.details.push_back(fmt::format("{}: {} here, {} in the majority", fact.key,
                                      FactWords(fact.here), MajorityWords(fact.majority)));
  }
  for (const ProbeDifference& probe : odd.difference.probes) {
    row.details.push_back(fmt::format("shown by {} ({}): {}", probe.probe,
                                      ChangeWords(probe.change), probe.sentence));
  }
  section->rows.push_back(std::move(row));
}

}  // namespace

Document DocumentOf(const Fleet& fleet, std::string_view version) {
  Document document{
      .name = "fleet",
      .about =
          fmt::format("Fleet of {}, {}", Counted(static_cast<std::uint64_t>(fleet.nodes), "node"),
                      Counted(static_cast<std::uint64_t>(fleet.fingerprints), "fingerprint")),
      .version = std::string(version),
      .tone = fleet.exit_code == 0   ? Verdict::kIdentical
              : fleet.exit_code == 1 ? Verdict::kDrifted
                                     : Verdict::kInconclusive,
      .headline = fleet.summary,
      .next =
          fleet.exit_code == 0 ? "Nothing to do: a run may be placed on any node of a class."
          : fleet.exit_code == 1 && fleet.odd.empty()
              ? "Decide which stack the nodes are to have: no majority shows it."
          : fleet.exit_code == 1
              ? "Keep the odd nodes out of runs that must repeat, and run the probes on them again."
              : "Run the probes on two nodes or more; nothing is known so far.",
      .notes = fleet.notes,
      .record = "the output of --json",
      .exit_code = fleet.exit_code};
  document.notes.insert(document.notes.end(), fleet.unusable.begin(), fleet.unusable.end());
  DocumentSection odd{.title = "What sets odd nodes apart",
                      .columns = {{"Node"}, {"Suspect"}, {"Why"}},
                      .cases = true};
  for (const OddNode& one : fleet.odd) AddOdd(one, &odd);
  DocumentSection classes{
      .title = "Classes of identical arithmetic",
      .columns = {{"Hardware"}, {"Class"}, {"Majority"}, {"Nodes", true}, {"Which"}}};
  for (const FleetClass& one : fleet.classes) {
    classes.rows.push_back({.tone = one.majority ? Verdict::kIdentical : Verdict::kInconclusive,
                            .cells = {one.hardware_class,
                                      {one.arithmetic.substr(0, 12), As::kCode},
                                      {one.majority ? "majority" : "", As::kBadge},
                                      std::to_string(one.nodes.size()),
                                      NodeNames(one.nodes)}});
  }
  document.sections = {std::move(odd), std::move(classes)};
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
