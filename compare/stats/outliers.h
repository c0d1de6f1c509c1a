// Finds values of a sample that lie farther out than normal values do.
#ifndef RHARNESS_COMPARE_STATS_OUTLIERS_H_
#define RHARNESS_COMPARE_STATS_OUTLIERS_H_

#include <vector>

namespace rharness::stats {

// Generalized ESD (Rosner 1983, doi:10.1080/00401706.1983.10487848): at most a quarter of the
// values, at `alpha` over all of them. Removes the most extreme value repeatedly, and flags those
// up to the last one beyond its limit, so that several do not hide each other. One flag per value;
// none below four values, or if all are equal. Values must be finite. O(n^2).
std::vector<bool> FindOutliers(const std::vector<double>& values, double alpha);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_OUTLIERS_H_
