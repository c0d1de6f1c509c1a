// Log-probabilities of two programs, with a picture of how far they lie apart; see
// comparison_sections.h.
#include <fmt/format.h>

#include "reports/comparison_sections.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string ShareWords(std::uint64_t part, std::uint64_t whole) {
  const double share = whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{} of {} ({} %)", FormatCount(part), FormatCount(whole),
                     FormatNumber(100.0 * share, 4));
}

std::string EstimateWords(const KlEstimate& estimate) {
  return fmt::format("{} (90 % interval {} to {})", FormatNumber(estimate.value, 4),
                     FormatNumber(estimate.interval.low, 4),
                     FormatNumber(estimate.interval.high, 4));
}

std::string PlaceText(const std::optional<TokenPlace>& place) {
  return place ? SafeText(fmt::format("{}: {} in A, {} in B", PlaceWords(*place),
                                      FormatNumber(place->a), FormatNumber(place->b)),
                          300)
               : "none";
}

}  // namespace

DocumentSection TokensOf(const Comparison& comparison, const std::string& id) {
  DocumentSection section{.title = "Log-probabilities", .margin = "tokens"};
  if (!comparison.tokens) return {.title = ""};
  const TokenDifference& tokens = *comparison.tokens;
  section.facts = {
      {"Answers",
       fmt::format("{} in both, {} in A alone, {} in B alone", FormatCount(tokens.sequences),
                   FormatCount(tokens.only_a), FormatCount(tokens.only_b))},
      {"Bit-equal tokens", ShareWords(tokens.tokens - tokens.differing, tokens.tokens)}};
  if (tokens.differing == 0) return section;
  const std::string name(KlName(tokens.sampled_by_b));
  section.facts.emplace_back("First difference", PlaceText(tokens.first));
  section.facts.emplace_back("Farthest", PlaceText(tokens.farthest));
  section.facts.emplace_back(
      "|B - A|, nats",
      fmt::format("median {}, 99 % {}, 99.9 % {}, at most {}; {} steps of {}",
                  FormatNumber(tokens.median_abs, 3), FormatNumber(tokens.p99_abs, 3),
                  FormatNumber(tokens.p999_abs, 3), FormatNumber(tokens.max_abs, 3),
                  FormatCount(tokens.max_ulp), tokens.steps_of));
  section.facts.emplace_back(name + ", k3", EstimateWords(tokens.k3));
  section.facts.emplace_back(name + ", k1", EstimateWords(tokens.k1));
  section.facts.emplace_back("Tokens beyond a ratio of 2",
                             ShareWords(tokens.beyond_two, tokens.tokens));
  section.facts.emplace_back(
      "Answers beyond a ratio of 2",
      fmt::format("{}; {} effective", ShareWords(tokens.sequences_beyond_two, tokens.sequences),
                  FormatNumber(tokens.effective_sequences, 4)));
  if (tokens.routed > 0) {
    section.facts.emplace_back(
        "Experts", ShareWords(tokens.routed - tokens.routed_otherwise, tokens.routed) + " agree");
  }
  section.pictures = {{SvgHistogram(tokens.ulp_histogram, id + "-t"),
                       fmt::format("How far differing log-probabilities lie apart, in steps of {}.",
                                   tokens.steps_of)}};
  return section;
}

}  // namespace rharness
