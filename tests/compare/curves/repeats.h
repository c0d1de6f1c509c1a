// Real repeats of training runs, and how often the band of further runs is left by one more.
//
// Role: what `curve-table` prints of a file of repeats and repeats_test.cc asserts. The file is
// CSV: group, run, step and val_loss among its columns; a group is one configuration and its runs
// differ in seed alone.
#ifndef RHARNESS_TESTS_COMPARE_CURVES_REPEATS_H_
#define RHARNESS_TESTS_COMPARE_CURVES_REPEATS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "compare/curves/series.h"
#include "harness/base/result.h"

namespace rharness {

struct RepeatGroup {
  std::string name;
  std::vector<CurveSeries> runs;  // on the steps that all of them have, full precision as printed
  double late_deviation = 0.0;    // of the mean over the last quarter
};

Result<std::vector<RepeatGroup>> LoadRepeats(const std::filesystem::path& csv);

struct RepeatRates {
  int replicates = 0;  // beside A; 0: a single pair
  int trials = 0;
  int groups = 0;
  double beyond = 0.0;  // of further runs of the same group
  double undecided = 0.0;
  double within = 0.0;
  double worst_group = 0.0;  // share beyond, of the groups with 100 trials and more
  double found_5 = 0.0;      // last quarter shifted by 5, 10 and 38 deviations of the late mean
  double found_10 = 0.0;
  double found_38 = 0.0;
};

// `trials` draws, groups in turn, runs without replacement; the same for the same seed.
std::vector<RepeatRates> RatesOf(const std::vector<RepeatGroup>& groups, int trials);

std::string Print(const std::vector<RepeatRates>& rates);

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_CURVES_REPEATS_H_
