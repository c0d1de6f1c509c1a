// The signature of a difference: its tensors, its metrics and curves with directions, or its
// failure. And the comparison of two signatures.
//
// Role: prevents a search from taking another failure for evidence. Pure.
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
  std::string failure_text;  // the full text; may be empty if `failure` is
  std::set<std::string>
      changed;  // "weights model.safetensors: fc1.bias", "metric loss: not finite"
  std::map<std::string, double> moved;        // metrics that moved relevantly: their differences
  std::map<std::string, int> curves;          // beyond their bands: 1 up, -1 down, 0 both
  std::map<std::string, double> differences;  // of all compared metrics, including 0
  std::string not_judged;  // why there is no conclusion; empty: all of the above holds

  bool Empty() const {
    return failure.empty() && changed.empty() && moved.empty() && curves.empty();
  }
};

// Of one judged rerun. `bits`: counts tensors that differ in a bit and, if none does, such metrics
// and curves; else values that stopped being finite, moved metrics and curves beyond their band. A
// metric has moved if the judge says so, or by more than its margin, or, without one, by more than
// a hundredth of its record.
Signature SignatureOf(const Comparison& judged, bool bits);

// kReproduces: all of the target, and nothing else. A metric must have moved at least half as far,
// in the same direction, and a failure must be the same failure. kOther: there is a difference
// missing from the target. kDoesNot: no difference, and the target was seen to be absent. kPartly:
// part of the target, or any difference if the target is a failure.
TrialAnswer Relate(const Signature& target, const Signature& seen);

// "4 tensors of weights model.safetensors differ, first fc1.bias", "metric test_accuracy down by
// 0.21"; one line per part.
std::vector<std::string> DescribeSignature(const Signature& signature);
// The same in one line: "no difference" if there is none.
std::string DescribeInLine(const Signature& signature);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SIGNATURE_H_
