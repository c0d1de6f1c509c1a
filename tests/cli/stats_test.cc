// `rharness stats` as a user meets it: the real program, its output and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

ProcessResult Stats(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {RHARNESS_BIN_DIR "/rharness", "stats"});
  return RunProcess({.argv = std::move(arguments), .environment = {}, .working_directory = {}});
}

class StatsVerb : public testing::Test {
 protected:
  std::string Write(const std::string& text) const {
    const std::string path = (folder_.path() / "inputs.json").string();
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path;
  }
  ScopedTempDir folder_ = ScopedTempDir::Make("stats-").value();
};

TEST_F(StatsVerb, PrintsWhatTheMethodComputes) {
  const ProcessResult result =
      Stats({"burn_rate_threshold", "--in", Write(R"({"budget_fraction": 0.1, "window_hours": 24,
                                                "period_hours": 720})")});
  EXPECT_EQ(result.outcome.exit_code, 0);
  const Json output = ParseJson(result.stdout_text, "stdout").value();
  EXPECT_DOUBLE_EQ(*output.Find("expected")->Find("burn_rate")->ToDouble(), 3.0);
}

TEST_F(StatsVerb, NamesTheNearestMethods) {
  const ProcessResult result = Stats({"burn_rat"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("burn_rate"));
  EXPECT_EQ(result.stdout_text, "");
}

TEST_F(StatsVerb, SaysWhichInputIsWrong) {
  const ProcessResult result = Stats({"mcnemar", "--in", Write("{\"b\": 1, \"c\": -1}")});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("inputs.json: $.c: found -1; expected a whole number"));
  EXPECT_EQ(Stats({"mcnemar", "--in", Write("{")}).outcome.exit_code, 2);
  EXPECT_EQ(Stats({"mcnemar", "--in", "/absent"}).outcome.exit_code, 2);
  EXPECT_EQ(Stats({"mcnemar"}).outcome.exit_code, 2);  // nothing on stdin
  EXPECT_EQ(Stats({}).outcome.exit_code, 2);
}

TEST_F(StatsVerb, ListsMethodsWithTheirInputs) {
  const ProcessResult text = Stats({"--list"});
  EXPECT_EQ(text.outcome.exit_code, 0);
  EXPECT_THAT(text.stdout_text, HasSubstr("\nwelch_t\n"));
  EXPECT_THAT(text.stdout_text, HasSubstr("GPU hours"));
  const ProcessResult json = Stats({"--list", "--json"});
  EXPECT_EQ(ParseJson(json.stdout_text, "stdout")->Find("schema")->AsString(),
            "rharness.stats_methods/v1");
}

}  // namespace
}  // namespace rharness
