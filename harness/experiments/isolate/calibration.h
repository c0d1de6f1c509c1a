// Calibrates a search from its two ends: does the difference appear with everything changed,
// disappear with nothing changed, and is one rerun enough to tell? Pure.
//
// If reruns of one setting are bit-equal, one rerun is enough. If not, the metric whose ends lie
// furthest apart, in standard deviations, is cut in the middle between them; this gives the rate of
// reruns on the wrong side (accounting for the few reruns of the ends: Student's t, and never below
// the resolution of so many reruns), and the search repeats trials accordingly. A failure that not
// every rerun of the changed end shows is rated by how often each end showed it (the mean of
// Jeffreys' posterior): its presence says much, its absence little.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_CALIBRATION_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_CALIBRATION_H_

#include <string>
#include <vector>

#include "compare/explain_reruns.h"
#include "harness/experiments/isolate/signature.h"

namespace rharness {

// An end: its reruns together, and each by itself.
struct SearchEndReruns {
  Signature together;
  std::vector<Signature> each;
  std::vector<RerunOutputs> outputs;
};

struct Calibration {
  bool exact = true;    // reruns of one setting are equal
  Signature target;     // what is looked for
  std::string metric;   // of noisy runs: the metric to use, with...
  double middle = 0.0;  // ...the difference from the record at the cut
  // Of noisy runs: the chance that a rerun shows an absent difference, and that it does not show a
  // present one.
  double false_reproduces = 0.0;
  double miss = 0.0;
  std::string why_not;  // no rerun could tell, or an end is wrong; empty: all is well
  SearchEnd end = SearchEnd::kGoesOn;  // of why_not: which
};

// `expected`: the signature of a drift that was seen before; nullptr: that of the changed end.
Calibration Calibrate(const SearchEndReruns& all, const SearchEndReruns& none,
                      const Signature* expected);

// The answer of a noisy rerun, by its metric, or by whether it shows the wanted failure. Another
// failure is kOther, as in Relate.
TrialAnswer RelateNoisy(const Calibration& calibration, const Signature& seen);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_CALIBRATION_H_
