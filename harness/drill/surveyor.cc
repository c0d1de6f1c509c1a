// Reading surroundings out of the store, and comparing them as facts.
#include "harness/drill/surveyor.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/drill/surroundings.h"
#include "harness/judge/facts_of.h"

namespace rharness {
namespace {

// Of the variables watched by prefix only set ones are recorded: one that is missing on one side
// was not set there.
void MarkComplete(std::vector<Fact>* facts) {
  constexpr std::string_view kVariables = "variable.";
  const bool looked = std::ranges::any_of(*facts, [&](const Fact& fact) {
    return fact.kind == FactKind::kValue && fact.key.starts_with(kVariables);
  });
  if (!looked) return;
  facts->push_back(
      {.layer = Layer::kEnvironment, .key = std::string(kVariables), .kind = FactKind::kComplete});
}

}  // namespace

Result<std::optional<Evidence>> Surveyor::EvidenceOf(const std::string& sha256,
                                                     const Manifest& manifest) {
  if (sha256.empty()) return std::optional<Evidence>();
  auto found = read_.find(sha256);
  if (found == read_.end()) {
    ASSIGN_OR_RETURN(Surroundings parts, store_.GetSurroundings(sha256));
    found = read_.emplace(sha256, std::move(parts)).first;
  }
  Result<Evidence> evidence = EvidenceFrom(found->second, manifest, "surroundings");
  if (evidence.ok()) return std::optional(std::move(*evidence));
  // A newer version may have kept data that this one cannot read; the verdicts are still worth
  // reporting.
  notes_.insert("what some drills ran on cannot be read: " + evidence.error().ToString());
  return std::optional<Evidence>();
}

Result<std::optional<Surveyor::Layers>> Surveyor::Compare(const Manifest& manifest,
                                                          const std::string& before,
                                                          const std::string& after) {
  std::optional<Layers> none;
  if (before.empty() || after.empty()) return none;
  ASSIGN_OR_RETURN(const auto old_evidence, EvidenceOf(before, manifest));
  ASSIGN_OR_RETURN(const auto new_evidence, EvidenceOf(after, manifest));
  if (!old_evidence || !new_evidence) return none;
  std::vector<Fact> old_facts = FactsOf(*old_evidence, manifest);
  std::vector<Fact> new_facts = FactsOf(*new_evidence, manifest);
  MarkComplete(&old_facts);
  MarkComplete(&new_facts);
  return std::optional(CompareFacts(old_facts, new_facts));
}

Result<std::optional<Surveyor::Layers>> Surveyor::HoldToRecord(const Manifest& manifest,
                                                               const std::string& sha256) {
  ASSIGN_OR_RETURN(const auto evidence, EvidenceOf(sha256, manifest));
  if (!evidence) return std::optional<Layers>();
  return std::optional(
      CompareFacts(FactsAsRerun(manifest, *evidence), FactsOf(*evidence, manifest)));
}

}  // namespace rharness
