// Installed packages as facts of the environment layer.
#ifndef RHARNESS_HARNESS_JUDGE_PACKAGE_FACTS_H_
#define RHARNESS_HARNESS_JUDGE_PACKAGE_FACTS_H_

#include <string>
#include <vector>

#include "compare/facts.h"
#include "harness/records/manifest/environment.h"

namespace rharness {

// A bundle for each manager's list; for a missing but expected list, the fact that it is not known.
// Equal lists share their bundle: thousands of runs have the same thousand packages. `host_digest`:
// of the host's whole list, if only that was recorded. Thread-safe.
void AddPackages(const Environment& environment, const std::string& host_digest,
                 std::vector<Fact>* facts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_PACKAGE_FACTS_H_
