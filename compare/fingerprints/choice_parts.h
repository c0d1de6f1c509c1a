// The parts of a choice that describe the processor and threads, apart from the routine.
//
// Role: private to this folder. Pure. The members "core", "target", "enabled" and "baseline" name
// the processor that kernels were picked for; "threads" is the number in force. With equal order
// and bits neither is another behaviour. Of an answer (answer_change.h) "logprobs" show in its
// bits, and "differs" is a sentence.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_CHOICE_PARTS_H_
#define RHARNESS_COMPARE_FINGERPRINTS_CHOICE_PARTS_H_

#include <map>
#include <string>
#include <vector>

#include "compare/fingerprints/fingerprint.h"

namespace rharness {

struct ChoiceParts {
  std::string rest;       // the choice without these members; unchanged if it is no object
  std::string processor;  // the members that name it, as JSON; empty: none
  std::string threads;    // as JSON; empty: not said
};
ChoiceParts PartsOf(const std::string& choice);

// The threads that this case ran with: from its own choice, else from the probe's case "blas".
// Empty: not stated, or its name states the number ("64x64x64 threads 2"), so that it was
// requested.
std::string ThreadsInForce(const FingerprintProbe& probe, const std::string& name);

// "ran with 2 threads, and with 1 before: ...", of cases whose order differs for that reason.
std::string OtherThreadsWords(const FingerprintProbe& before, const FingerprintProbe& after,
                              const std::vector<std::string>& cases);

// "core Haswell → Nehalem, threads 1 → 2 and 3 more".
std::string MembersChanged(const std::map<std::string, std::string>& was,
                           const std::map<std::string, std::string>& is);
// The members that differ, where both are objects.
std::string DescribeChoiceChange(const std::string& before, const std::string& after);
// At most 120 bytes of a text, with "..." if cut.
std::string ShortOf(const std::string& text);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_CHOICE_PARTS_H_
