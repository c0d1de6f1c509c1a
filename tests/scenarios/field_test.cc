// The scenarios of the field that need no framework, through the real programs; and that the driver
// notices when rharness is wrong, or a fault is none.
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

class Field : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
    fs::create_directories(At("programs"));
    fs::create_directories(At("scenarios"));
    fs::create_symlink(fs::path(RHARNESS_BIN_DIR) / "rharness", At("programs/rharness"));
    fs::copy(RHARNESS_SOURCE_DIR "/scenarios/field", At("scenarios/field"),
             fs::copy_options::recursive);
    fs::copy(RHARNESS_SOURCE_DIR "/scenarios/data", At("scenarios/data"),
             fs::copy_options::recursive);
  }

  fs::path At(const std::string& name) const { return folder_.path() / name; }
  // Of the copied table of cases: one text for another, which must be there.
  void Change(const std::string& what, const std::string& to) const {
    auto text = ReadFile(At("scenarios/field/cases.py"));
    ASSERT_TRUE(text.ok());
    const std::size_t at = text->find(what);
    ASSERT_NE(at, text->npos) << what;
    text->replace(at, what.size(), to);
    ASSERT_TRUE(WriteFileAtomic(At("scenarios/field/cases.py"), *text).ok());
  }
  ProcessResult Drill(const std::vector<std::string>& options) const {
    ProcessSpec spec{.argv = {"/usr/bin/python3", "scenarios/field/drill_field.py", "--bin",
                              "programs", "--out", "out", "--venvs", "nowhere"},
                     .environment = PickEnvironment({"PATH", "TMPDIR", "HOME"}),
                     .working_directory = folder_.path()};
    spec.argv.insert(spec.argv.end(), options.begin(), options.end());
    spec.environment["RHARNESS_HISTORY"] = "elsewhere.db";  // must lead nowhere
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(560);
    return RunProcess(spec, limits);
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make("rharness-field-")).value();
};

TEST_F(Field, NamesVerdictAndCauseOfEachFaultThatNeedsNoFramework) {
  const ProcessResult drill = Drill({"--quick"});
  ASSERT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
  for (const char* name :
       {"federated", "events-append", "events-late", "checkpoint-mixed", "checkpoint-half"}) {
    EXPECT_THAT(drill.stdout_text, HasSubstr(std::string("ok     ") + name + ": "));
  }
  EXPECT_THAT(drill.stdout_text, HasSubstr(" 0 wrong, 0 broken, 0 skipped"));
}

TEST_F(Field, SaysThatAFaultThatIsNoneGotTheWrongVerdictAndNoCause) {
  Change("now={\"DELIVERY\": \"3\", \"OMP_NUM_THREADS\"",
         "now={\"DELIVERY\": \"once\", \"OMP_NUM_THREADS\"");
  const ProcessResult drill = Drill({"--only", "events-append"});
  EXPECT_EQ(drill.outcome.exit_code, 1) << drill.stdout_text << drill.stderr_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr("WRONG  events-append"));
  EXPECT_THAT(drill.stdout_text, HasSubstr("with the fault it must be drifted and is identical"));
  EXPECT_THAT(drill.stdout_text, HasSubstr("the cause must be ['env:DELIVERY'] and is none"));
}

TEST_F(Field, SaysThatAnotherCauseWasNamed) {
  Change("(\"env:DELIVERY\",)", "(\"env:TZ\",)");
  const ProcessResult drill = Drill({"--only", "events-append"});
  EXPECT_EQ(drill.outcome.exit_code, 1) << drill.stdout_text << drill.stderr_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr("the cause must be ['env:TZ'] and is ['env:DELIVERY']"));
}

TEST_F(Field, SkipsWhatHasNoFrameworkAndCountsItAsNothingElse) {
  const ProcessResult drill = Drill({"--only", "loader"});
  EXPECT_EQ(drill.outcome.exit_code, 77) << drill.stdout_text << drill.stderr_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr("skip   loader: no torch: "));
  EXPECT_THAT(drill.stdout_text, HasSubstr("0 as they must be, 0 wrong, 0 broken, 2 skipped"));
}

TEST_F(Field, LeavesAFolderOfOthersAlone) {
  ASSERT_TRUE(WriteFileAtomic(At("out/thesis.txt"), "mine").ok());
  const ProcessResult drill = Drill({"--only", "events"});
  EXPECT_EQ(drill.outcome.exit_code, 4);
  EXPECT_THAT(drill.stderr_text, HasSubstr("holds other files"));
  EXPECT_TRUE(fs::exists(At("out/thesis.txt")));
}

TEST_F(Field, KnowsItsCasesByName) {
  EXPECT_EQ(Drill({"--only", "nothing"}).outcome.exit_code, 2);
  EXPECT_THAT(Drill({"--list"}).stdout_text, HasSubstr("checkpoint-half"));
}

}  // namespace
}  // namespace rharness
