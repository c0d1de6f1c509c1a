// How a run was made and from what, in words, from its manifest.
//
// Role: pure. The order is that of the question: program, data, randomness, machine, results.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_RUN_FACTS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_RUN_FACTS_H_

#include <string>
#include <vector>

#include "harness/records/manifest/manifest.h"
#include "reports/audit_report.h"

namespace rharness {

// Includes the files that it was seen to read and load (observation.h), declared or not.
std::vector<AuditFact> RunFacts(const Manifest& manifest);

// "2 NVIDIA H100, driver 580.65, AMD EPYC 9654 (96 cores), 1.0 TiB"; "not recorded".
std::string HardwareWords(const Hardware& hardware);
// "glibc=2.36, python=3.11.2"; empty: nothing is recorded.
std::string SoftwareWords(const Environment& environment);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_RUN_FACTS_H_
