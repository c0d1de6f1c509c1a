// Many p-values at once.
//
// Role: adjusted p-values, in the order of the input; compare each with alpha. Values outside [0,
// 1] and NaN count as 1, so they are never rejected. Ties get equal adjusted values. Source: Holm
// 1979; Benjamini and Hochberg 1995 (doi:10.1111/j.2517-6161.1995.tb02031.x).
#ifndef RHARNESS_COMPARE_STATS_MULTIPLICITY_H_
#define RHARNESS_COMPARE_STATS_MULTIPLICITY_H_

#include <vector>

namespace rharness::stats {

std::vector<double> AdjustBonferroni(std::vector<double> p);
// Family-wise error, uniformly better than Bonferroni: for claims over the primary metrics.
std::vector<double> AdjustHolm(std::vector<double> p);
// False discovery rate: advisory, for secondary metrics and fleets.
std::vector<double> AdjustBenjaminiHochberg(std::vector<double> p);

struct CombinedP {
  double statistic = 0.0;
  double p = 1.0;
};
// Fisher's -2 sum ln p against chi-squared with twice as many df; p = 1 for no values.
CombinedP CombineFisher(const std::vector<double>& p);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_MULTIPLICITY_H_
