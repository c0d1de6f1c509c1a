// What both ends of a search say before it begins: is the difference there with everything changed
// and gone with nothing changed, and can one rerun tell? Pure.
//
// Where reruns of one setting are equal bit for bit, one rerun tells. Where they are not, the
// metric whose ends lie furthest apart, in standard deviations, is cut in the middle between them;
// how often a rerun lies on the wrong side is then known (with the few reruns of the ends taken
// into account: Student's t, and never below what so many reruns can show), and the search asks as
// often as that needs. A failure that not every rerun of the changed end shows is told by how often
// each end showed it (the mean of Jeffreys' posterior): seen, it says much, and absent, little.
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
  std::string metric;   // of noisy runs: the one that tells, with...
  double middle = 0.0;  // ...the difference from the record at which it is cut
  // Of noisy runs: the chance that a rerun shows the difference where it is not, and that it does
  // not show it where it is.
  double false_reproduces = 0.0;
  double miss = 0.0;
  std::string why_not;  // no rerun could tell, or an end is not as it must be; empty: all is well
  SearchEnd end = SearchEnd::kGoesOn;  // of why_not: which
};

// `expected`: the signature of a drift that was seen before; nullptr: what the changed end shows.
Calibration Calibrate(const SearchEndReruns& all, const SearchEndReruns& none,
                      const Signature* expected);

// A rerun of a noisy search, by its metric, or by whether it shows the failure that is looked for.
// Another failure is kOther, as in Relate.
TrialAnswer RelateNoisy(const Calibration& calibration, const Signature& seen);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_CALIBRATION_H_
