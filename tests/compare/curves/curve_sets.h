// Labelled sets of real pairs of loss curves, and how the comparison does on them.
//
// Role: what `curve-table` prints and detection_test.cc asserts. A set is a folder of pairs
// (NAME/before.json, NAME/after.json) that one change made and its maintainers accepted; a set
// whose name begins with "control" changed no loss. A pair apart by 1 % and more at some step is a
// real change that came with it (a golden file refreshed late); between 0.5 and 1 % it counts for
// neither.
#ifndef RHARNESS_TESTS_COMPARE_CURVES_CURVE_SETS_H_
#define RHARNESS_TESTS_COMPARE_CURVES_CURVE_SETS_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "harness/base/result.h"

namespace rharness {

struct LabelledPair {
  std::string name;
  CurveSeries before;  // "lm loss", else the first loss
  CurveSeries after;
  double largest = 0.0;  // relative difference over the steps finite on both sides
};

struct LabelledSet {
  std::string name;
  bool control = false;
  std::vector<LabelledPair> pairs;
  int without_loss = 0;  // unreadable, or without a loss on both sides
};

// In byte order of their names. Errors: not_found without one set.
Result<std::vector<LabelledSet>> LoadLabelledSets(const std::filesystem::path& folder);

inline constexpr double kSmallChange = 5e-3;
inline constexpr double kLargeChange = 1e-2;

struct Counted {
  int trials = 0;
  int found = 0;
  double Share() const { return trials == 0 ? 0.0 : static_cast<double>(found) / trials; }
};

struct SetTable {
  std::string name;
  bool control = false;
  // Of pairs with a small change by state; "vacuous" cannot tell.
  std::map<std::string, int> small;
  std::map<std::string, int> between;
  std::map<std::string, int> large;
  double largest_score = 0.0;  // among small changes, as a share of 1 (before the room)
  double score_limit = 0.0;    // as it came from the other sets
  std::vector<std::pair<std::string, Counted>> faults;  // planted into pairs with a small change
};

// Each set is judged with the score limit of the others (of those that changed a loss; the shipped
// limit where there is none).
std::vector<SetTable> TableOf(const std::vector<LabelledSet>& sets);

std::string Print(const std::vector<SetTable>& tables);

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_CURVES_CURVE_SETS_H_
