// How each declared output of a drill was compared.
#ifndef RHARNESS_REPORTS_OUTPUTS_H_
#define RHARNESS_REPORTS_OUTPUTS_H_

#include <string>
#include <vector>

#include "reports/model.h"

namespace rharness {

// One sentence per output and way of comparing, with the number of runs: "other model.pkl: by the
// SHA-256 of the file in 3 runs; equal in 2". Those that were compared by less than their tensors
// come first, else in the order of the report. `all`: false leaves out outputs compared by their
// tensors or tensor digests. Curves and metrics are no outputs. Texts have passed SafeText.
std::vector<std::string> OutputLines(const Report& report, bool all);

// "Not compared: predictions.txt and 2 more.": outputs that records name and nothing compares, of
// which a pass says nothing; empty without any.
std::string NotComparedLine(const Report& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_OUTPUTS_H_
