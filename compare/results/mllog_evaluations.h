// Collects the evaluations of one MLPerf log while it is read.
//
// Role: private to mllog.cc. Evaluations may come late and out of order (some systems evaluate
// beside the training), so curves are sorted at the end, while "last" stays the order of the log.
#ifndef RHARNESS_COMPARE_RESULTS_MLLOG_EVALUATIONS_H_
#define RHARNESS_COMPARE_RESULTS_MLLOG_EVALUATIONS_H_

#include <map>
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

  // Whether there is an evaluation and every one has its position in this unit.
  bool Has(ConvergenceUnit unit) const;
  Result<std::vector<MllogCurve>> Curves(ConvergenceUnit unit) const;
  Result<double> Last(ConvergenceUnit unit) const;  // needs one evaluation
  // Position to curve name to value; the last logged value wins.
  Result<std::map<double, std::map<std::string, double>>> LastValues(ConvergenceUnit unit) const;

 private:
  struct Taken {
    std::string name;
    double value = 0.0;
    int line = 0;
    std::map<ConvergenceUnit, double> positions;
  };
  Status TakeValues(const Json& value, Taken taken, const std::string& place);
  Result<double> Position(const Taken& one, ConvergenceUnit unit) const;
  Status AddCurves(const std::string& name, const std::vector<MllogEvaluation>& sorted,
                   std::vector<MllogCurve>* curves) const;

  std::string file_;
  std::vector<Taken> taken_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_MLLOG_EVALUATIONS_H_
