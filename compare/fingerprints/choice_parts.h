// What a choice says of the processor and of threads, apart from what it says of the routine.
//
// Role: private to this folder. Pure. The members "core", "target", "enabled" and "baseline" name
// the processor that kernels were picked for; "threads" is how many were in force. Neither is
// another behaviour where order and bits are the same.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_CHOICE_PARTS_H_
#define RHARNESS_COMPARE_FINGERPRINTS_CHOICE_PARTS_H_

#include <map>
#include <string>

#include "compare/fingerprints/fingerprint.h"

namespace rharness {

struct ChoiceParts {
  std::string rest;       // the choice without these members; a text that is no object: as it is
  std::string processor;  // those that name it, as JSON; empty: none
  std::string threads;    // as JSON; empty: not said
};
ChoiceParts PartsOf(const std::string& choice);

// The threads that this case ran with: what its own choice says, else that of the probe's case
// "blas". Empty: not said, or its name says how many ("64x64x64 threads 2"), so that it is what was
// asked.
std::string ThreadsInForce(const FingerprintProbe& probe, const std::string& name);

// "core Haswell → Nehalem, threads 1 → 2 and 3 more".
std::string MembersChanged(const std::map<std::string, std::string>& was,
                           const std::map<std::string, std::string>& is);
// The members that differ, where both are objects.
std::string DescribeChoiceChange(const std::string& before, const std::string& after);
// At most 120 bytes of a text, and "..." for more.
std::string ShortOf(const std::string& text);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_CHOICE_PARTS_H_
