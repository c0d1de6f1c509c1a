// The published record as a tolerance limit.
#include "compare/curves/growth_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"
#include "compare/stats/intervals.h"

namespace rharness {

double GrowthLimit(const GrowthRecord& record, double false_alarm) {
  const double factor =
      stats::ToleranceFactorOneSided(record.models, 1.0 - false_alarm, kGrowthConfidence);
  return std::pow(10.0, record.mean_log10 + factor * record.sd_log10);
}

double ReplicateFactor(const GrowthRecord& record, double runs, double false_alarm) {
  const double z = stats::NormalQuantile(1.0 - false_alarm);
  return std::pow(10.0, z * record.sd_log10 * std::sqrt(1.0 + 1.0 / runs));
}

std::string OutsideRecord(const GrowthRecord& record, const std::vector<std::int64_t>& steps,
                          const std::vector<double>& losses) {
  if (steps.front() < record.first_step || steps.back() > record.last_step) {
    return fmt::format("the published record covers steps {} to {} and this curve steps {} to {}",
                       record.first_step, record.last_step, steps.front(), steps.back());
  }
  if (steps.size() > record.most_values) {
    return fmt::format("the published record has at most {} values a curve and this one {}",
                       record.most_values, steps.size());
  }
  const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
  if (*low < record.smallest_loss || *high > record.largest_loss) {
    return fmt::format(
        "the published record has losses of {:g} to {:g} and this curve {:.6g} to "
        "{:.6g}",
        record.smallest_loss, record.largest_loss, *low, *high);
  }
  return {};
}

}  // namespace rharness
