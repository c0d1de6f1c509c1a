// Many p-values at once.
#include "compare/stats/multiplicity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

void Sanitize(std::vector<double>* p) {
  for (double& value : *p) {
    if (!(value >= 0.0 && value <= 1.0)) value = 1.0;
  }
}

std::vector<std::size_t> AscendingOrder(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> AdjustBonferroni(std::vector<double> p) {
  Sanitize(&p);
  for (double& value : p) value = std::min(1.0, value * static_cast<double>(p.size()));
  return p;
}

std::vector<double> AdjustHolm(std::vector<double> p) {
  Sanitize(&p);
  std::vector<double> adjusted(p.size());
  double running = 0.0;
  const std::vector<std::size_t> order = AscendingOrder(p);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto remaining = static_cast<double>(order.size() - rank);
    running = std::max(running, std::min(1.0, remaining * p[order[rank]]));
    adjusted[order[rank]] = running;
  }
  return adjusted;
}

std::vector<double> AdjustBenjaminiHochberg(std::vector<double> p) {
  Sanitize(&p);
  std::vector<double> adjusted(p.size());
  double running = 1.0;
  const std::vector<std::size_t> order = AscendingOrder(p);
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const double factor = static_cast<double>(order.size()) / static_cast<double>(rank);
    running = std::min(running, factor * p[order[rank - 1]]);
    adjusted[order[rank - 1]] = running;
  }
  return adjusted;
}

CombinedP CombineFisher(const std::vector<double>& p) {
  if (p.empty()) return {};
  CombinedP result;
  for (double value : p) result.statistic -= 2.0 * std::log(value);
  result.p = ChiSquaredUpper(result.statistic, 2.0 * static_cast<double>(p.size()));
  return result;
}

}  // namespace rharness::stats
