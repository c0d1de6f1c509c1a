// rharness drill --audit: what is told before anything is rerun, after it, and when it is resumed.
#include <gmock/gmock.h>

#include "tests/cli/audit_world.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class AuditedDrill : public AuditWorld {
 protected:
  ProcessResult DrillB(const std::string& out, const std::string& log,
                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> argv = {kRharness, "drill",    "--history",  "runs.db", "--out",
                                     out,       "--select", "run_id = b", "--audit", log};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
  void ExpectRefusedAtOnce(const ProcessResult& result, int code, const char* why) {
    EXPECT_EQ(result.outcome.exit_code, code) << result.stdout_text << result.stderr_text;
    EXPECT_THAT(result.stderr_text, HasSubstr(why));
    EXPECT_EQ(Calls(), calls_);
  }
  void SetUp() override {
    AuditWorld::SetUp();
    Write("value", "0.75");
    calls_ = Calls();
  }
  std::ptrdiff_t calls_ = 0;
};

TEST_F(AuditedDrill, TellsInTheWordsOfAnAppendThatNoHeadIsSigned) {
  const ProcessResult fresh = DrillB("one", "fresh.audit");
  EXPECT_THAT(fresh.stderr_text, HasSubstr("the log has "));
  EXPECT_THAT(fresh.stderr_text, HasSubstr(" entries\n"));
  EXPECT_THAT(fresh.stderr_text, HasSubstr("no head is signed; --key signs one"));
  const ProcessResult signed_before = DrillB("two", "runs.db.audit");
  EXPECT_THAT(signed_before.stderr_text,
              HasSubstr("what was entered is under none; --key signs one"));
  const ProcessResult with_key = DrillB("three", "runs.db.audit", {"--key", "ada.pem"});
  EXPECT_THAT(with_key.stderr_text, HasSubstr("signed a head over all of them"));
}

TEST_F(AuditedDrill, RefusesAFolderOfSomethingElseBeforeAnythingIsRerun) {
  ExpectRefusedAtOnce(DrillB("one", "out"), 2, "holds files that are no audit log's");
  ExpectRefusedAtOnce(DrillB("one", "one"), 2, "are one folder");
  ExpectRefusedAtOnce(DrillB("one", "one/log"), 2, "one is in the other");
  ExpectRefusedAtOnce(DrillB("logs/one", "logs"), 2, "one is in the other");
  EXPECT_FALSE(fs::exists(At("one")));
  const ProcessResult append =
      Run({kRharness, "audit", "append", "--history", "runs.db", "--log", "out"});
  EXPECT_EQ(append.outcome.exit_code, 2) << append.stdout_text;
  EXPECT_THAT(append.stderr_text, HasSubstr("holds files that are no audit log's"));
  EXPECT_FALSE(fs::exists(At("out/entries.jsonl")));
}

TEST_F(AuditedDrill, TakesAnEmptyFolderAndALogWithFilesOfOthers) {
  fs::create_directory(At("empty"));
  EXPECT_EQ(DrillB("one", "empty").outcome.exit_code, 0);
  EXPECT_TRUE(fs::exists(At("empty/entries.jsonl")));
  Write("empty/README", "Ada's");
  EXPECT_EQ(DrillB("two", "empty").outcome.exit_code, 0);
}

TEST_F(AuditedDrill, TellsAtOnceOfALogThatCannotBeMadeOrRead) {
  ExpectRefusedAtOnce(DrillB("one", "value/log"), 2, "audit log value/log: ");
  Write(LogFile("append.json"), "{}");
  ExpectRefusedAtOnce(DrillB("one", "runs.db.audit"), 5, "nothing was rerun");
  EXPECT_FALSE(fs::exists(At("one")));
}

TEST_F(AuditedDrill, SaysWhereTheVerdictsAreWhenTheyCannotBeEntered) {
  RawDatabase(At("runs.db")).RunPastTriggers("UPDATE retirements SET reason = 'another'");
  const ProcessResult result = DrillB("one", "runs.db.audit");
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("audit log runs.db.audit: "));
  EXPECT_THAT(result.stderr_text,
              HasSubstr("the verdicts are in the history; `rharness audit append --history "));
  EXPECT_THAT(result.stderr_text, HasSubstr("--log runs.db.audit` enters them"));
}

TEST_F(AuditedDrill, GoesOnWithTheLogItWasBegunWith) {
  Must(DrillB("one", "runs.db.audit", {"--key", "ada.pem"}));
  Retire("b");
  const ProcessResult resumed = Run({"sh", "-c", R"(cd / && exec "$0" drill --resume --out "$1")",
                                     kRharness, At("one").string()});
  EXPECT_EQ(resumed.outcome.exit_code, 0) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_THAT(resumed.stderr_text, HasSubstr("signed a head over all of them"));
  EXPECT_EQ(Entries().back().kind, "retirement");
  EXPECT_EQ(Entries().back().name, "b");
  // Another log takes its place, and its key is not used there.
  const ProcessResult other =
      Run({kRharness, "drill", "--resume", "--out", "one", "--audit", "other.audit"});
  EXPECT_THAT(other.stderr_text, HasSubstr("no head is signed"));
  EXPECT_TRUE(fs::exists(At("other.audit/entries.jsonl")));
  // One that was begun without has none.
  const ProcessResult without = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_THAT(without.stderr_text, Not(HasSubstr("the log has")));
}

}  // namespace
}  // namespace rharness
