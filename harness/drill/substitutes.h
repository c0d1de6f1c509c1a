// The hardware that may replace the recorded one, run by run, from the policy's substitutes.
#ifndef RHARNESS_HARNESS_DRILL_SUBSTITUTES_H_
#define RHARNESS_HARNESS_DRILL_SUBSTITUTES_H_

#include <set>
#include <string>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/records/manifest/hardware_class.h"
#include "harness/records/policy/policy.h"

namespace rharness {

class Substitutes {
 public:
  // Reads the fingerprints of proofs. Errors: those of LoadFingerprint; invalid_input for a
  // fingerprint of other GPUs than its substitute names.
  static Result<Substitutes> Load(const std::vector<Substitute>& substitutes, WallTime now);

  // For this run. A substitute that somebody answers for is valid until its day ends. One by proof
  // is valid if the two fingerprints compare every probe family that the run declares, and differ
  // in none of them: in none at all for a run that declares none.
  std::vector<Substitution> For(const Manifest& run) const;
  // A sentence for each that For never returns: its day has ended, or the proof shows a difference.
  std::vector<std::string> Notes() const;

 private:
  struct Proved {
    Substitute substitute;
    FingerprintDifference difference;  // of its fingerprints, and...
    std::set<std::string> families;    // ...those that both show; none without proof
    bool expired = false;
  };
  static bool Holds(const Proved& one, const std::vector<std::string>& families);

  std::vector<Proved> all_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SUBSTITUTES_H_
