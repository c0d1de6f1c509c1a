// The table of planted causes: cases that need no framework, through the real programs; and that
// the driver counts what is right, wrong and not measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Causes : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
    fs::create_directories(At("programs"));
    fs::create_directories(At("scenarios"));
    // With what it runs under: the observers lie beside it.
    for (const char* name : {"rharness", "observe"}) {
      fs::create_symlink(fs::path(RHARNESS_BIN_DIR) / name, At("programs") / name);
    }
    for (const char* name : {"causes", "field", "data"}) {
      fs::copy(fs::path(RHARNESS_SOURCE_DIR "/scenarios") / name, At("scenarios") / name,
               fs::copy_options::recursive);
    }
  }

  fs::path At(const std::string& name) const { return folder_.path() / name; }
  // Of the copied development half: one text for another, which must be there.
  void Change(const std::string& what, const std::string& to) const {
    const fs::path table = At("scenarios/causes/cases_development.py");
    auto text = ReadFile(table);
    ASSERT_TRUE(text.ok());
    const std::size_t at = text->find(what);
    ASSERT_NE(at, text->npos) << what;
    text->replace(at, what.size(), to);
    ASSERT_TRUE(WriteFileAtomic(table, *text).ok());
  }
  ProcessResult Measure(const std::vector<std::string>& options) const {
    ProcessSpec spec{.argv = {"/usr/bin/python3", "scenarios/causes/measure_causes.py", "--bin",
                              "programs", "--out", "out", "--venvs", "nowhere"},
                     .environment = PickEnvironment({"PATH", "TMPDIR", "HOME"}),
                     .working_directory = folder_.path()};
    spec.argv.insert(spec.argv.end(), options.begin(), options.end());
    spec.environment["RHARNESS_HISTORY"] = "elsewhere.db";  // must lead nowhere
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(280);
    return RunProcess(spec, limits);
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make("rharness-causes-")).value();
};

TEST_F(Causes, MeasuresTheCasesThatNeedNoFramework) {
  const ProcessResult said = Measure({"--quick"});
  ASSERT_EQ(said.outcome.exit_code, 0) << said.stdout_text << said.stderr_text;
  EXPECT_THAT(said.stdout_text, HasSubstr("first      3 line-ends (data, plain)"));
  EXPECT_THAT(said.stdout_text, HasSubstr("first     19 commit (code, plain)"));
  EXPECT_THAT(said.stdout_text, HasSubstr("first     79 none-plain (none, plain)"));
  EXPECT_THAT(said.stdout_text, HasSubstr("isolate: env:TZ"));
  EXPECT_THAT(said.stdout_text, Not(HasSubstr("skipped:")));
  EXPECT_THAT(said.stdout_text, Not(HasSubstr("broken:")));
}

TEST_F(Causes, CountsAnotherCauseAsMissedAndAsWrong) {
  Change("data is another\", \"digits\"", "data is another\", \"INIT_SCALE\"");
  Change("\"data\", \"numpy\", \"one label", "\"environment\", \"plain\", \"one label");
  const ProcessResult said = Measure({"--only", "label-flipped"});
  EXPECT_EQ(said.outcome.exit_code, 0) << said.stdout_text << said.stderr_text;
  EXPECT_THAT(said.stdout_text, HasSubstr("MISSED     1 label-flipped (environment, plain)"));
  EXPECT_THAT(said.stdout_text, HasSubstr("WRONG AS LIKELY"));
}

TEST_F(Causes, CountsACaseWithoutItsFrameworkAsSkippedAndNeverAsRight) {
  const ProcessResult said = Measure({"--only", "nothing-seeded"});
  EXPECT_EQ(said.outcome.exit_code, 77) << said.stdout_text << said.stderr_text;
  EXPECT_THAT(said.stdout_text, HasSubstr("skipped: nothing-seeded: no torch: "));
  EXPECT_THAT(said.stdout_text, HasSubstr("all                          1        0    0 ("));
}

TEST_F(Causes, CallsAPlantThatMovesNothingBroken) {
  Change("change=rows(flip_label)", "change=rows(list)");
  Change("\"data\", \"numpy\", \"one label", "\"data\", \"plain\", \"one label");
  const ProcessResult said = Measure({"--only", "label-flipped"});
  EXPECT_EQ(said.outcome.exit_code, 4) << said.stdout_text << said.stderr_text;
  EXPECT_THAT(said.stdout_text, HasSubstr("what was planted moved nothing"));
}

TEST_F(Causes, TakesNoCaseThatLiesInTheOtherHalf) {
  Change("Case(1, ", "Case(94, ");
  const ProcessResult said = Measure({"--list"});
  EXPECT_EQ(said.outcome.exit_code, 2) << said.stdout_text;
  EXPECT_THAT(said.stderr_text, HasSubstr("a case in the other half"));
}

}  // namespace
}  // namespace rharness
