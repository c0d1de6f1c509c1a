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
  void Begin(const char* log) const {
    Must(Run({kRharness, "audit", "append", "--begin", "--history", "runs.db", "--log", log}));
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
  // The command that a message names, as the program that is tested.
  static std::string Told(const std::string& message) {
    const auto begin = message.find("`rharness ") + 1;
    const std::string command = message.substr(begin, message.find('`', begin) - begin);
    return std::string(kRharness) + command.substr(std::string("rharness").size());
  }
  std::ptrdiff_t calls_ = 0;
};

TEST_F(AuditedDrill, TellsInTheWordsOfAnAppendThatNoHeadIsSigned) {
  Begin("fresh.audit");
  Retire("a");
  const ProcessResult fresh = DrillB("one", "fresh.audit");
  EXPECT_THAT(fresh.stderr_text, HasSubstr("the log has "));
  EXPECT_THAT(fresh.stderr_text, HasSubstr(" entries\n"));
  EXPECT_THAT(fresh.stderr_text, HasSubstr("no head is signed; --key signs one"));
  const ProcessResult signed_before = DrillB("two", "runs.db.audit");
  EXPECT_THAT(signed_before.stderr_text,
              HasSubstr("no head covers the new entries; --key signs one"));
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

TEST_F(AuditedDrill, BeginsNoLogAndSaysWhatDoes) {
  fs::create_directory(At("empty"));
  for (const char* log : {"empty", "missing"}) {
    const ProcessResult refused = DrillB("one", log, {"--key", "ada.pem"});
    ExpectRefusedAtOnce(refused, 2, "there is none; is its volume mounted? `rharness audit append");
    EXPECT_FALSE(fs::exists(At("one")));
    // Pasted elsewhere.
    Must(Run({"sh", "-c", "cd / && " + Told(refused.stderr_text)}));
    EXPECT_TRUE(fs::exists(At(std::string(log) + "/heads.jsonl")));
    EXPECT_EQ(DrillB(std::string("with-") + log, log).outcome.exit_code, 0);
    Write(std::string(log) + "/README", "Ada's");
    EXPECT_EQ(DrillB(std::string("again-") + log, log).outcome.exit_code, 0);
    calls_ = Calls();
  }
}

TEST_F(AuditedDrill, ADryRunTellsWhatTheDrillWouldRefuse) {
  const ProcessResult plan = DrillB("one", "runs.db.audit", {"--key", "ada.pem", "--dry-run"});
  EXPECT_EQ(plan.outcome.exit_code, 0) << plan.stderr_text;
  const ProcessResult missing = DrillB("one", "missing", {"--dry-run"});
  ExpectRefusedAtOnce(missing, 2, "there is none; is its volume mounted? ");
  EXPECT_EQ(missing.stdout_text, plan.stdout_text) << "the plan is told all the same";
  EXPECT_FALSE(fs::exists(At("missing")));
  ExpectRefusedAtOnce(DrillB("one", "out", {"--dry-run"}), 2, "that are no audit log's");
  ExpectRefusedAtOnce(DrillB("one", "runs.db.audit", {"--dry-run", "--key", "no.pem"}), 2,
                      "no.pem");
  ExpectRefusedAtOnce(DrillB("runs.db.audit/one", "runs.db.audit", {"--dry-run"}), 2,
                      "one is in the other");
  EXPECT_FALSE(fs::exists(At("one")));
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
  EXPECT_THAT(result.stderr_text, HasSubstr("/runs.db.audit` enters new records"));
}

TEST_F(AuditedDrill, TheCommandThatItNamesThenSealsTheLogWithTheKeyAndThePolicy) {
  fs::rename(At("runs.db.audit"), At("it's kept"));
  fs::create_directory(At("keys"));
  fs::copy_file(At("ada.pem"), At("keys/my key.pem"));
  Write("mine.yaml", Read(At("policy.yaml")));
  const std::string heads = Read(At("it's kept/heads.jsonl"));
  // What is entered is not of this log's history until the row is as it was.
  const auto reason = [&](const char* text) {
    RawDatabase(At("runs.db"))
        .RunPastTriggers(std::string("UPDATE retirements SET reason = '") + text + "'");
  };
  reason("another");
  const ProcessResult result =
      DrillB("one", "it's kept", {"--key", "keys/my key.pem", "--policy", "mine.yaml"});
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text;
  EXPECT_EQ(Read(At("it's kept/heads.jsonl")), heads);
  reason("its data is gone");
  const ProcessResult pasted = Run({"sh", "-c", "cd / && " + Told(result.stderr_text)});
  EXPECT_EQ(pasted.outcome.exit_code, 0) << pasted.stderr_text;
  EXPECT_THAT(pasted.stdout_text, HasSubstr("signed a head over all of them"));
  EXPECT_THAT(Read(At("it's kept/entries.jsonl")), HasSubstr("mine.yaml"));
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
  // One whose volume is not mounted is not begun anew.
  fs::rename(At("runs.db.audit"), At("elsewhere"));
  const ProcessResult gone = Run({kRharness, "drill", "--resume", "--out", "one"});
  EXPECT_EQ(gone.outcome.exit_code, 2) << gone.stdout_text;
  EXPECT_THAT(gone.stderr_text, HasSubstr("there is none; is its volume mounted? "));
  EXPECT_FALSE(fs::exists(At("runs.db.audit")));
  Must(Run({"sh", "-c", "cd / && " + Told(gone.stderr_text)}));
  EXPECT_FALSE(Entries().empty());
  fs::remove_all(At("runs.db.audit"));
  fs::rename(At("elsewhere"), At("runs.db.audit"));
  // Another log takes its place, and its key is not used there.
  Begin("other.audit");
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
