// Compares a record's declarations with what was seen, and reports contradictions.
//
// Role: pure; `record` writes the sentences into its notes, a rerun into its remarks.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_OBSERVED_FINDINGS_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_OBSERVED_FINDINGS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/records/manifest/observation.h"
#include "harness/verdict/verdict.h"

namespace rharness {

struct DeclaredOfRun {
  std::map<std::string, std::int64_t> seeds;
  std::map<std::string, std::string> flags;
  std::set<std::string> variables;  // by name, as the run was observed to read them
};

// The code of a finding: a process was ended by a signal, or a file could not be written.
inline constexpr char kLossCode[] = "lost_something";

// Codes: "generator_unseeded", "seed_of_the_moment", "seed_not_set", "workers_alike",
// "hash_salted", "file_order", "file_times", "worker_order", "flag_not_in_force",
// "variable_not_recorded", "variable_not_read", "undeclared_input", "nondeterministic_operator",
// "lost_something". Subjects: "seed init", "variable BATCH", "input config.yaml", "inputs in
// /site/lib". The limit is what was declared. Three or more undeclared files of a folder share a
// line; those outside of installations come first, those of program launchers (pyenv, modules)
// last. At most kMostFindings per code; the last one then counts the rest. A seed is set if its
// value is among those that anything set. No finding: a flag that no library in use has, a variable
// if not every program was observed, and anything else that was not observed.
inline constexpr std::size_t kMostFindings = 8;
std::vector<Finding> FindingsOf(const DeclaredOfRun& declared, const Observation& seen);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_OBSERVED_FINDINGS_H_
