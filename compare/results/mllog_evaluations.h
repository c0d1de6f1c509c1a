// Collects the evaluations of one MLPerf log while it is read.
//
// Role: private to mllog.cc. Evaluations may come late and out of order (some systems evaluate
// beside the training), so curves are sorted at the end, while "last" stays the order of the log.
#ifndef RHARNESS_COMPARE_RESULTS_MLLOG_EVALUATIONS_H_
#define RHARNESS_COMPARE_RESULTS_MLLOG_EVALUATIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/results/mllog.h"
#include "compare/results/mllog_lines.h"

namespace rharness {

class MllogEvaluations {
 public:
  explicit MllogEvaluations(std::string_view file) : file_(file) {}

  // An event eval_accuracy or eval_error.
  Status Take(const MllogEvent& event);
  bool empty() const { return taken_.empty(); }

  // For benchmarks that no rule names: samples where every evaluation has them, else epochs.
  ConvergenceUnit GuessUnit() const;
  Result<std::vector<MllogCurve>> Curves(ConvergenceUnit unit) const;
  Result<double> Last(ConvergenceUnit unit) const;  // needs one evaluation

 private:
  struct Taken {
    std::string name;
    double value = 0.0;
    int line = 0;
    std::optional<double> epoch;    // rounded to three decimals
    std::optional<double> samples;  // as logged
  };
  Result<double> Position(const Taken& one, ConvergenceUnit unit) const;

  std::string file_;
  std::vector<Taken> taken_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_MLLOG_EVALUATIONS_H_
