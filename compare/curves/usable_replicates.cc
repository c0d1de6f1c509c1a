// Which further runs show anything.
#include "compare/curves/usable_replicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "compare/curves/replicate_band.h"

namespace rharness {
namespace {

bool AllEqual(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

}  // namespace

std::vector<double> ValuesAt(const CurveSeries& series, const std::vector<std::int64_t>& steps) {
  std::vector<double> values;
  values.reserve(steps.size());
  std::size_t i = 0;
  for (const std::int64_t step : steps) {
    while (i < series.steps.size() && series.steps[i] < step) ++i;
    if (i == series.steps.size() || series.steps[i] != step) return {};
    if (!std::isfinite(series.values[i])) return {};
    values.push_back(series.values[i]);
  }
  return values;
}

Judged OnStepsOf(const Judged& judged, const std::vector<CurveSeries>& runs) {
  constexpr std::size_t kFewestCommon = 5;
  const std::size_t usable = UsableOf(runs, judged).Count();
  if (usable >= kFewestReplicates || usable == runs.size()) return judged;
  std::vector<std::int64_t> common = judged.steps;
  for (const CurveSeries& run : runs) {
    std::vector<std::int64_t> both;
    std::ranges::set_intersection(common, run.steps, std::back_inserter(both));
    const bool stands =
        both.size() >= kFewestCommon && CoverAlike(both, judged.steps.front(), judged.steps.back());
    if (stands) common = std::move(both);
  }
  if (common.size() == judged.steps.size()) return judged;
  Judged on = judged;
  on.at.clear(), on.steps.clear(), on.a.clear(), on.b.clear();
  for (std::size_t i = 0; i < judged.steps.size(); ++i) {
    if (!std::ranges::binary_search(common, judged.steps[i])) continue;
    on.at.push_back(judged.at[i]);
    on.steps.push_back(judged.steps[i]);
    on.a.push_back(judged.a[i]);
    on.b.push_back(judged.b[i]);
  }
  return UsableOf(runs, on).Count() > usable ? on : judged;
}

UsableReplicates UsableOf(const std::vector<CurveSeries>& replicates, const Judged& judged) {
  UsableReplicates usable;
  usable.runs.push_back(judged.a);
  for (const CurveSeries& replicate : replicates) {
    std::vector<double> values = ValuesAt(replicate, judged.steps);
    if (values.empty()) {
      ++usable.incomplete;
    } else if (AllEqual(values)) {
      ++usable.constant;
    } else if (values == judged.b) {
      ++usable.same_as_b;
    } else if (std::ranges::find(usable.runs, values) != usable.runs.end()) {
      ++usable.repeated;
    } else {
      usable.runs.push_back(std::move(values));
      usable.quantum = std::max(usable.quantum, replicate.quantum);
    }
  }
  return usable;
}

std::string LeftOut(const UsableReplicates& usable) {
  std::string text;
  const auto add = [&](std::size_t count, std::string_view why) {
    if (count == 0) return;
    text += fmt::format("; left out: {} {} that {}", count, count == 1 ? "replicate" : "replicates",
                        why);
  };
  add(usable.incomplete, "had no finite value on some step");
  add(usable.constant, "never changed");
  add(usable.repeated, "equalled another run to the last bit, which shows nothing of rounding");
  add(usable.same_as_b, "equalled B to the last bit, and so was no run of its own");
  return text;
}

}  // namespace rharness
