// The sentence of a green verdict whose facts differ.
#include <fmt/format.h>

#include <algorithm>

#include "compare/explain.h"
#include "compare/fact_order.h"

namespace rharness {
namespace {

constexpr std::size_t kLongestValue = 60;

std::string Short(const std::string& value) {
  if (value.size() <= kLongestValue) return value.empty() ? "\"\"" : value;
  return value.substr(0, kLongestValue) + "...";
}

std::string Went(const FactDifference& difference) {
  const std::string name = FactName(difference.key);
  const bool variable = difference.key.starts_with("variable.");
  if (!difference.recorded && difference.observed) {
    return fmt::format("{} {} {}", name,
                       variable ? "was set to" : "was added:", Short(*difference.observed));
  }
  if (difference.recorded && !difference.observed) {
    return fmt::format("{} was {} ({} before)", name, variable ? "unset" : "removed",
                       Short(*difference.recorded));
  }
  return fmt::format("{} went from {} to {}", name, Short(difference.recorded.value_or("")),
                     Short(difference.observed.value_or("")));
}

// The same build of a library, loaded from another place ("PATH, build id ID"): no change of the
// code that ran.
bool IsMovedCopy(const FactDifference& difference) {
  const auto build_of = [](const std::optional<std::string>& value) {
    const auto at = value ? value->rfind("build id ") : std::string::npos;
    return at == std::string::npos ? std::string() : value->substr(at);
  };
  const std::string build = build_of(difference.recorded);
  return difference.key.starts_with("library.") && !build.empty() &&
         build == build_of(difference.observed);
}

// The most telling change of all layers first; empty if nothing telling changed.
std::vector<FactDifference> TellingChanges(const Comparison& comparison) {
  std::vector<FactDifference> changes;
  for (const LayerComparison& layer : comparison.layers) {
    for (const FactDifference& difference : layer.differences) {
      if (TellsOfTheRun(difference) && !IsMovedCopy(difference)) changes.push_back(difference);
    }
  }
  std::ranges::stable_sort(changes, TellsMore);
  return changes;
}

}  // namespace

std::string AlthoughSentence(const Comparison& comparison) {
  if (!Reproduced(comparison.verdict)) return "";
  const std::vector<FactDifference> changes = TellingChanges(comparison);
  if (changes.empty()) return "";
  const bool identical = comparison.verdict == Verdict::kIdentical;
  const std::size_t more = changes.size() - 1;
  const std::string others =
      more == 0 ? "" : fmt::format(", and {} more {} changed", more, more == 1 ? "fact" : "facts");
  return fmt::format("{}, although {}{}.", identical ? "Identical" : "Equivalent",
                     Went(changes.front()), others);
}

void NoteAlthough(Comparison* comparison) {
  std::string sentence = AlthoughSentence(*comparison);
  if (sentence.empty()) return;
  const FactDifference first = TellingChanges(*comparison).front();
  comparison->findings.push_back({.code = "facts_changed",
                                  .layer = first.layer,
                                  .subject = first.key,
                                  .observed = first.observed.value_or("absent"),
                                  .limit = first.recorded.value_or("absent"),
                                  .rule = "what changed around a run never decides",
                                  .message = std::move(sentence)});
}

}  // namespace rharness
