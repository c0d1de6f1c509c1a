// Five runs declared bitwise, a policy that asks something of them, and drills with and without a
// drift.
#ifndef RHARNESS_TESTS_CLI_SLO_PROGRAM_H_
#define RHARNESS_TESTS_CLI_SLO_PROGRAM_H_

#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {

class SloProgram : public DrillProgram {
 protected:
  SloProgram() {
    Write("train.sh",
          "printf '{\"metrics\": {\"accuracy\": %s%s}}' \"$(cat value)\" \"$SHIFT\" > "
          "metrics.json\n");
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      Record(name, {"--determinism", "bitwise"});
    }
    const ProcessResult added =
        Run({kRharness, "--quiet", "history", "add", "--force", "--history", "runs.db", "runs"});
    EXPECT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
    Write(
        "policy.yaml",
        "version: 1\nobjectives:\n  - {families: tiny, reproducible: 0.9, flaky: 0.1, owner: ada,\n"
        "     alert: page}\n");
  }
  ProcessResult Slo(std::vector<std::string> options) const {
    options.insert(options.begin(), {kRharness, "slo", "--history", "runs.db"});
    return Run(std::move(options));
  }
  int DrillInto(const std::string& out, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill", "--history",
                                     "runs.db", "--out",   out,     "--no-confirm"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv).outcome.exit_code;
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_SLO_PROGRAM_H_
