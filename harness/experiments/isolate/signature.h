// What a difference looks like: which tensors, which metrics and curves and which way, or which
// failure. And whether another one is the same.
//
// Role: keeps a search from taking another failure for evidence. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SIGNATURE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SIGNATURE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/experiments/isolate/search.h"

namespace rharness {

struct Signature {
  std::string failure;       // how the run failed, without numbers; empty: it did not
  std::string failure_text;  // the same as it was told; may be empty where `failure` is
  std::set<std::string>
      changed;  // "weights model.safetensors: fc1.bias", "metric loss: not finite"
  std::map<std::string, double> moved;        // metrics by more than matters: their differences
  std::map<std::string, int> curves;          // beyond their bands: 1 up, -1 down, 0 both
  std::map<std::string, double> differences;  // of all metrics that were compared, 0 too
  std::string not_judged;  // why nothing can be said; empty: all of the above holds

  bool Empty() const {
    return failure.empty() && changed.empty() && moved.empty() && curves.empty();
  }
};

// Of one rerun, judged. `bits`: tensors count that differ in a bit and, where none does, metrics
// and curves that do; else what stopped being finite, what moved and what is beyond its band. A
// metric has moved where the judge says so, or by more than its margin, or, where it has none, by
// more than a hundredth of its record.
Signature SignatureOf(const Comparison& judged, bool bits);

// kReproduces: all of the target, and nothing beside it. A metric has to have moved half as far at
// least, the same way, and a failure to be that failure. kOther: there is something that the target
// has not. kDoesNot: nothing, and the target was seen to be absent. kPartly: part of the target, or
// something where the target is a failure.
TrialAnswer Relate(const Signature& target, const Signature& seen);

// "4 tensors of weights model.safetensors differ, first fc1.bias", "metric test_accuracy down by
// 0.21"; a line a part.
std::vector<std::string> DescribeSignature(const Signature& signature);
// The same in one line: "no difference" where there is none.
std::string DescribeInLine(const Signature& signature);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SIGNATURE_H_
