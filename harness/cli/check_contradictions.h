// `rharness check`: does a run's record contradict itself, its log, its script or its image?
#ifndef RHARNESS_HARNESS_CLI_CHECK_CONTRADICTIONS_H_
#define RHARNESS_HARNESS_CLI_CHECK_CONTRADICTIONS_H_

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/records/lint/contradictions.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct WitnessArguments {
  std::vector<std::string> logs;
  std::vector<std::string> scripts;
  std::string inspection;  // a file

  // Whether any was named: they speak of one run.
  bool Any() const { return !logs.empty() || !scripts.empty() || !inspection.empty(); }
};

void AddWitnessOptions(Command* verb, WitnessArguments* arguments);

// What was read of one record, and what in it cannot all be true.
struct ContradictionsOfOne {
  std::string place;
  std::vector<std::string> read;
  LintOutcome outcome;
};

// `root`: a folder below which the logs and code files that the manifest names are read, code files
// only as they were recorded; empty: they are not. Errors: those of reading a file that was named.
Result<ContradictionsOfOne> FindContradictionsOf(const std::string& place, const Manifest& manifest,
                                                 const WitnessArguments& arguments,
                                                 const std::string& root);

std::string LinesOf(const ContradictionsOfOne& one);
// "rharness.lint/v2".
Json ContradictionsJson(const std::vector<ContradictionsOfOne>& all);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_CHECK_CONTRADICTIONS_H_
