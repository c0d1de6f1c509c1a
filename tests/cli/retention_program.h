// `rharness history prune` as a program, in a folder with runs whose files a policy lets go.
#ifndef RHARNESS_TESTS_CLI_RETENTION_PROGRAM_H_
#define RHARNESS_TESTS_CLI_RETENTION_PROGRAM_H_

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "tests/cli/signed_program.h"

namespace rharness {

// Runs "a", "b" and "c", recorded in this order, each with a log of its own.
class Retention : public SignedProgram {
 protected:
  void SetUp() override {
    SignedProgram::SetUp();
    Write("train.sh",
          kScript + std::string("[ -z \"$2\" ] || printf 'log of %s' \"$2\" > $2.log\n"));
    for (const std::string run : {"a", "b", "c"}) {
      Record(run, {"--artifact", "log=" + run + ".log", "--keep", "outputs"},
             {"sh", "train.sh", At("").string(), run});
    }
    Add();
    Policy("");
  }
  void Policy(const std::string& rest) const {
    Write("policy.yaml", "version: 1\nretention:\n  - {families: \"*\", keep_last: 1}\n" + rest);
  }
  ProcessResult Retain(const std::vector<std::string>& words,
                       const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "history", "prune"};
    argv.insert(argv.end(), words.begin(), words.end());
    argv.insert(argv.end(), {"--history", "runs.db"});
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Plan(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--policy", "policy.yaml", "--root", "."};
    all.insert(all.end(), options.begin(), options.end());
    return Retain({}, all);
  }
  ProcessResult Step(const std::string& step, const std::string& key = "",
                     const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--policy", "policy.yaml", "--root",
                                    ".",        "--trust",     "trust.yaml"};
    if (!key.empty()) all.insert(all.end(), {"--key", key + ".pem"});
    all.insert(all.end(), options.begin(), options.end());
    return Retain({step}, all);
  }
  ProcessResult Ask(const std::string& key = "ada") const {
    return Step("request", key, {"--reason", "disk is full"});
  }
  void ExpectRefused(const ProcessResult& result, int code, const std::string& says) const {
    EXPECT_EQ(result.outcome.exit_code, code) << result.stdout_text << result.stderr_text;
    EXPECT_THAT(result.stderr_text, testing::HasSubstr(says));
  }
  bool IsThere(const std::string& name) const { return std::filesystem::exists(At(name)); }
  std::string Digest() const {
    const auto json = ParseJson(Plan({"--json"}).stdout_text, "plan");
    return json.ok() ? json->Find("list_sha256")->AsString() : "";
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_RETENTION_PROGRAM_H_
