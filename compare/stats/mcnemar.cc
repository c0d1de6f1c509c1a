// McNemar's test: do two runs err on different examples of one evaluation set?
#include "compare/stats/mcnemar.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"

namespace rharness::stats {

McNemarResult McNemar(double b, double c) {
  if (!(b >= 0.0) || !(c >= 0.0)) return {std::nan(""), std::nan(""), std::nan("")};
  const double discordant = b + c;
  if (discordant == 0.0) return {};
  McNemarResult result;
  result.p_exact = std::min(1.0, 2.0 * BinomialCdf(std::min(b, c), discordant, 0.5));
  result.chi_squared = (b - c) * (b - c) / discordant;
  result.p_chi_squared = ChiSquaredUpper(result.chi_squared, 1.0);
  return result;
}

double DiscordantStandardError(double b, double c, double examples) {
  return std::sqrt(b + c) / examples;
}

}  // namespace rharness::stats
