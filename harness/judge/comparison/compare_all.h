// The passes of `rharness compare`: pair up, load, compare, tally.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_COMPARE_ALL_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_COMPARE_ALL_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/base/result.h"
#include "harness/judge/comparison/compare_subjects.h"
#include "harness/judge/comparison/pairs.h"
#include "harness/judge/comparison/subject.h"

namespace rharness {

struct ComparisonRequest {
  std::filesystem::path a;
  std::filesystem::path b;
  std::filesystem::path pairs;  // instead of a and b
  std::vector<std::filesystem::path> replicates;
  std::filesystem::path rcp;  // MLPerf reference convergence points; empty: none
  SubjectOptions subject;
  CompareOptions compare;
  // Reads one side; called once for each.
  std::function<Result<Subject>(const std::filesystem::path&, const SubjectOptions&)> load =
      LoadSubject;
  // Called before each pair: number done, total, and its name; at the end without a name.
  std::function<void(std::size_t, std::size_t, const std::string&)> progress;
};

// One comparison, or one per pair. In a set of pairs an unreadable side makes its pair
// not_comparable, with the error as its reason; for a single pair it is the error of the call. So
// is an unreadable folder of MLPerf results, or of one checkpoint: its files are no pairs. Errors:
// those of LoadSubject, FindPairs and PairFolders.
Result<ComparisonSet> CompareAll(ComparisonRequest request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_COMPARE_ALL_H_
