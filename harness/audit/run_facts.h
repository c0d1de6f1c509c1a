// How a run was made and from what, as its manifest says it, for somebody who asks in words.
//
// Role: pure. The order is that of the question: program, data, randomness, machine, results.
#ifndef RHARNESS_HARNESS_AUDIT_RUN_FACTS_H_
#define RHARNESS_HARNESS_AUDIT_RUN_FACTS_H_

#include <vector>

#include "harness/manifest/manifest.h"
#include "reports/audit_report.h"

namespace rharness {

std::vector<AuditFact> RunFacts(const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_AUDIT_RUN_FACTS_H_
