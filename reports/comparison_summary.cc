// The comparison as a whole, in sentences; see comparison_summary.h.
#include "reports/comparison_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSharedCauses = 8;
constexpr char kNone[] = "–";

std::string PairShare(int part, std::size_t whole) {
  if (static_cast<std::size_t>(part) == whole) {
    return whole == 1 ? "The one pair" : fmt::format("All {} pairs", FormatCount(whole));
  }
  return fmt::format("{} of {}", FormatCount(static_cast<std::uint64_t>(part)),
                     Counted(whole, "pair"));
}

std::string SetAnswer(const ComparisonSet& set) {
  std::map<Verdict, int> counts;
  for (const Comparison& comparison : set.comparisons) ++counts[comparison.verdict];
  const std::size_t pairs = set.comparisons.size();
  const int broken = counts[Verdict::kFailed] + counts[Verdict::kInfra];
  const int open = counts[Verdict::kInconclusive] + counts[Verdict::kNotComparable];
  if (pairs == 0) return "Nothing was compared, so nothing was shown.";
  if (counts[Verdict::kDrifted] > 0) {
    return PairShare(counts[Verdict::kDrifted], pairs) + " drifted.";
  }
  if (broken > 0) {
    return PairShare(broken, pairs) +
           " failed or could not be compared; none drifted, but this is no "
           "pass.";
  }
  if (open > 0) {
    const bool all = static_cast<std::size_t>(open) == pairs && pairs > 1;
    const std::string words =
        all ? fmt::format("None of the {} pairs could be decided", FormatCount(pairs))
            : PairShare(open, pairs) + " could not be decided";
    return words + "; none drifted, but this is no pass.";
  }
  const int identical = counts[Verdict::kIdentical];
  if (static_cast<std::size_t>(identical) == pairs) {
    return PairShare(identical, pairs) + (pairs == 1 ? " is" : " are") + " identical bit for bit.";
  }
  return fmt::format("{} {}: {} identical, {} equivalent.",
                     PairShare(static_cast<int>(pairs), pairs), pairs == 1 ? "agrees" : "agree",
                     identical, counts[Verdict::kEquivalent]);
}

std::string FirstCauseWords(const Cause& cause) {
  const std::string statement = SafeText(cause.statement, 400);
  const std::string kind = cause.strength == Strength::kShown    ? "Cause"
                           : cause.strength == Strength::kLikely ? "Likely cause"
                                                                 : "Possible cause";
  const std::string confirm = SafeText(cause.confirm, 400);
  return fmt::format("{}: {}{}{}", kind, statement,
                     confirm.empty() ? "" : " Confirm it: ", confirm);
}

std::string SetNext(const ComparisonSet& set, const ComparisonSummary& summary) {
  if (summary.order.empty()) return "Check that the folder holds pairs: before.* and after.*.";
  if (summary.open == 0) return "Nothing is left to do.";
  const Comparison& worst = *summary.order.front();
  const auto place = static_cast<std::size_t>(&worst - set.comparisons.data());
  return fmt::format("Start with {}. {}", PairName(worst, place + 1), NextStep(worst));
}

std::vector<SharedCause> FindCauses(const ComparisonSummary& summary) {
  std::map<std::pair<std::string, Layer>, SharedCause> found;
  std::map<std::pair<std::string, Layer>, std::size_t> places;  // in their lists, added up
  for (const Comparison* comparison : summary.order) {
    if (Reproduced(comparison->verdict)) continue;
    for (std::size_t place = 0; place < comparison->causes.size(); ++place) {
      const Cause& cause = comparison->causes[place];
      SharedCause& shared = found[{cause.code, cause.layer}];
      places[{cause.code, cause.layer}] += place;
      if (shared.pairs++ > 0) continue;
      shared.code = SafeText(cause.code, 100);
      shared.layer = cause.layer;
      shared.strength = cause.strength;
      shared.statement = SafeText(cause.statement, 400);
    }
  }
  std::vector<SharedCause> list;
  std::vector<std::pair<std::size_t, SharedCause>> placed;
  for (auto& [key, shared] : found) placed.emplace_back(places.at(key), std::move(shared));
  const auto order = [](const auto& one) {
    return std::tuple(-one.second.pairs, one.second.strength, one.first);
  };
  std::ranges::stable_sort(placed, {}, order);
  for (auto& [place, shared] : placed) list.push_back(std::move(shared));
  if (list.size() > kMostSharedCauses) list.resize(kMostSharedCauses);
  return list;
}

// Deciding before advising, then the most different first, then in their order.
template <class T, class F>
std::vector<const T*> Ordered(const std::vector<T>& items, F state_of) {
  std::vector<const T*> order;
  order.reserve(items.size());
  for (const T& item : items) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [&](const T* a, const T* b) {
    const SubjectState x = state_of(*a);
    const SubjectState y = state_of(*b);
    return std::pair(!x.decides, Severity(x.colour)) < std::pair(!y.decides, Severity(y.colour));
  });
  return order;
}

}  // namespace

bool IsSingle(const ComparisonSet& set) {
  return set.comparisons.size() == 1 && set.comparisons.front().name.empty();
}

ComparisonSummary Summarize(const ComparisonSet& set) {
  ComparisonSummary summary;
  summary.order.reserve(set.comparisons.size());
  for (const Comparison& comparison : set.comparisons) {
    summary.order.push_back(&comparison);
    if (!Reproduced(comparison.verdict)) ++summary.open;
  }
  std::stable_sort(summary.order.begin(), summary.order.end(), [](const auto* a, const auto* b) {
    return Severity(a->verdict) < Severity(b->verdict);
  });
  if (!IsSingle(set)) {
    summary.answer = SetAnswer(set);
    summary.next_step = SetNext(set, summary);
    summary.causes = FindCauses(summary);
    return summary;
  }
  const Comparison& only = set.comparisons.front();
  summary.answer = only.headline.empty()
                       ? fmt::format("The verdict is: {}.", VerdictLabel(only.verdict))
                       : SafeText(only.headline, 600);
  summary.next_step = NextStep(only);
  return summary;
}

bool HasFinding(const Comparison& comparison, std::string_view code) {
  return std::ranges::any_of(comparison.findings,
                             [&](const Finding& finding) { return finding.code == code; });
}

bool IsOfFile(const Finding& finding, const Comparison& comparison) {
  return finding.code == "not_compared" &&
         std::ranges::any_of(comparison.checkpoints, [&](const CheckpointComparison& one) {
           return one.is_file && one.subject == finding.subject;
         });
}

std::string NextStep(const Comparison& comparison) {
  if (Reproduced(comparison.verdict)) return "Nothing is left to do.";
  if (!comparison.causes.empty()) return FirstCauseWords(comparison.causes.front());
  switch (comparison.verdict) {
    case Verdict::kNotComparable:
      if (HasFinding(comparison, "unreadable")) return "Look at the file that could not be read.";
      if (HasFinding(comparison, "nothing_in_common")) {
        return "Give two things of one kind that name the same tensors, curves or metrics.";
      }
      return "Bring both sides to the same data, code and image, and compare again.";
    case Verdict::kFailed:
    case Verdict::kInfra:
      return "Fix what prevented the comparison, and compare again.";
    case Verdict::kInconclusive:
      if (std::ranges::any_of(comparison.findings,
                              [&](const Finding& one) { return IsOfFile(one, comparison); })) {
        return "Write what no reader opens as safetensors or .npy, or record it as a log if it may "
               "differ.";
      }
      if (HasFinding(comparison, "non_finite_weights")) {
        return "Find the step at which values stopped being finite, and take a checkpoint before "
               "it.";
      }
      if (HasFinding(comparison, "not_compared")) {
        return "Give both sides the same files beside the tensors, or name the tensors' files "
               "alone.";
      }
      return "Provide what the findings require: replicates, a margin or more runs.";
    default:
      return "No recorded fact differs between the two sides; check facts that were not recorded.";
  }
}

std::string PairName(const Comparison& comparison, std::size_t place) {
  return comparison.name.empty() ? fmt::format("pair {}", place) : SafeText(comparison.name, 200);
}

std::string ComparedInShort(const Comparison& comparison) {
  std::vector<std::string> parts;
  const auto count = [&](const auto& items, std::string_view what, auto agrees) {
    if (items.empty()) return;
    const auto good = std::count_if(items.begin(), items.end(), agrees);
    parts.push_back(fmt::format("{}/{} {}", good, items.size(), what));
  };
  count(comparison.checkpoints, "bit-equal",
        [](const auto& checkpoint) { return checkpoint.difference.bit_equal; });
  count(comparison.curves, comparison.curves.size() == 1 ? "curve agrees" : "curves agree",
        [](const auto& curve) { return Reproduced(StateOf(curve).colour); });
  count(comparison.metrics, "in margin",
        [&](const auto& metric) { return Reproduced(StateOf(metric, comparison).colour); });
  return parts.empty() ? "facts alone" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string FirstStep(const Comparison& comparison) {
  std::optional<std::int64_t> first;
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind != CurveKind::kLoss || !curve.first_difference) continue;
    first = first ? std::min(*first, *curve.first_difference) : *curve.first_difference;
  }
  return first ? std::to_string(*first) : kNone;
}

std::string LargestUlp(const Comparison& comparison) {
  std::optional<std::uint64_t> largest;
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (!checkpoint.weights || checkpoint.from_digests) continue;
    const std::uint64_t ulp = TotalsOf(checkpoint.difference).max_ulp;
    largest = std::max(largest.value_or(0), ulp);
  }
  return largest ? FormatCount(*largest) : kNone;
}

std::vector<const CurveComparison*> OrderedCurves(const Comparison& comparison) {
  return Ordered(comparison.curves, [](const auto& curve) { return StateOf(curve); });
}

std::vector<const MetricDecision*> OrderedMetrics(const Comparison& comparison) {
  return Ordered(comparison.metrics,
                 [&](const auto& metric) { return StateOf(metric, comparison); });
}

std::vector<const LayerComparison*> DifferingLayers(const Comparison& comparison) {
  std::vector<const LayerComparison*> layers;
  for (const LayerComparison& layer : comparison.layers) {
    if (!layer.differences.empty()) layers.push_back(&layer);
  }
  const auto strictest = [](const LayerComparison* layer) {
    FactWeight weight = FactWeight::kContext;
    for (const FactDifference& difference : layer->differences) {
      weight = std::min(weight, difference.weight);
    }
    return weight;
  };
  std::stable_sort(layers.begin(), layers.end(),
                   [&](const auto* a, const auto* b) { return strictest(a) < strictest(b); });
  return layers;
}

bool IsCommand(std::string_view confirm) {
  return confirm.starts_with("rharness ") || confirm.starts_with("git diff ");
}

}  // namespace rharness
