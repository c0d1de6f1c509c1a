// `rharness incident` where it goes on, where places are wrong, and where drills could not tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "tests/cli/incident_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class IncidentGoesOn : public IncidentProgram {
 protected:
  // Killed while it rerun the last good run.
  void BeginAndKill(const std::vector<std::string>& more) {
    Write("kill_at", "");
    EXPECT_FALSE(IncidentOf("c", more).outcome.Succeeded());
    EXPECT_FALSE(fs::exists(At("kill_at")));
  }
  ProcessResult Resume(const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {kRharness, "incident", "--resume", "--out", "inc"};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
  // The checkpoint of run a with another last digit.
  void KeepOther(const std::string& file) {
    std::string text = Read(At("kept/a/w.safetensors"));
    text.back() = '6';
    Write(file, text);
  }
};

TEST_F(IncidentGoesOn, HoldsFilesToWhatItWasBegunWith) {
  MakeHistory();
  KeepOther("art/w.safetensors");
  BeginAndKill({"--artifacts", "art"});
  const ProcessResult resumed = Resume();
  EXPECT_EQ(resumed.outcome.exit_code, 5) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_THAT(Text(Told(), "headline"), HasSubstr("w.safetensors is not the recorded one"));
  EXPECT_THAT(Text(Told(), "next"), HasSubstr("do not go back to these files"));
}

TEST_F(IncidentGoesOn, TellsOfTamperingAlsoWhereTheFileWasPutBack) {
  MakeHistory();
  const std::string whole = Read(At("kept/a/w.safetensors"));
  KeepOther("kept/a/w.safetensors");
  BeginAndKill({});
  Write("kept/a/w.safetensors", whole);
  const ProcessResult resumed = Resume({"--history", "runs.db"});
  EXPECT_EQ(resumed.outcome.exit_code, 5) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_THAT(Text(Told(), "headline"), HasSubstr("so it was when the incident began"));
}

TEST_F(IncidentGoesOn, LooksWhereItLookedAtFirst) {
  MakeHistory();
  KeepOther("kept/a/w.safetensors");
  fs::create_directories(At("moved"));
  for (const char* one : {"train.sh", "value", "kept"}) fs::rename(At(one), At("moved") / one);
  BeginAndKill({"--root", "moved"});
  const ProcessResult resumed = Resume();
  EXPECT_EQ(resumed.outcome.exit_code, 5) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_THAT(Text(Told(), "files"), HasSubstr(R"("state":"changed")"));
}

TEST_F(IncidentGoesOn, RefusesWhatItWasNotBegunWith) {
  MakeHistory();
  Write("policy.yaml",
        "version: 1\nobjectives:\n  - {families: tiny, reproducible: 0.9, owner: ada}\n");
  Write("trust.yaml", "version: 1\nkeys: []\nrules: []\n");
  fs::create_directories(At("art"));
  BeginAndKill({"--policy", "policy.yaml"});
  const std::vector<std::vector<std::string>> others = {
      {"--artifacts", "art"},     {"--signatures", "art"},   {"--trust", "trust.yaml"},
      {"--policy", "other.yaml"}, {"--history", "other.db"}, {"--root", "art"},
      {"--data-cache", "art"},    {"--map", "x=art"},        {"--no-rerun"}};
  for (const std::vector<std::string>& other : others) {
    const ProcessResult refused = Resume(other);
    EXPECT_EQ(refused.outcome.exit_code, 2) << other.front() << refused.stdout_text;
    EXPECT_THAT(refused.stderr_text, HasSubstr(other.front()));
    EXPECT_FALSE(fs::exists(At("inc"))) << other.front();
  }
  EXPECT_THAT(Resume({"--policy", "other.yaml"}).stderr_text,
              HasSubstr("differs from the incident's own setting, " + At("policy.yaml").string()));
  const ProcessResult same = Resume({"--policy", "policy.yaml", "--history", "runs.db"});
  EXPECT_EQ(same.outcome.exit_code, 0) << same.stdout_text << same.stderr_text;
  EXPECT_THAT(Answer(Told(), "what_happened"), HasSubstr("ada owns the family tiny"));
}

// The settings name a history, and its runs' commands are carried out.
TEST_F(IncidentGoesOn, BelievesNothingThatSomebodyElseCouldHaveWritten) {
  MakeHistory();
  BeginAndKill({});
  const auto expect_refusal = [&](const std::string& name, const std::string& why) {
    const ProcessResult refused = Resume();
    EXPECT_EQ(refused.outcome.exit_code, 2) << name << refused.stdout_text << refused.stderr_text;
    EXPECT_THAT(refused.stderr_text, HasSubstr(At(name).string() + ": " + why));
    EXPECT_FALSE(fs::exists(At("inc"))) << name;
  };
  for (const char* name : {"inc.work", "inc.work/settings.json", "inc.work/lock"}) {
    const fs::perms own = fs::status(At(name)).permissions();
    fs::permissions(At(name), own | fs::perms::others_write);
    expect_refusal(name, "can be written to by others");
    fs::permissions(At(name), own);
    if (::geteuid() != 0) continue;  // only root can give files away
    ASSERT_EQ(::chown(At(name).c_str(), 65534, 65534), 0);
    expect_refusal(name, "belongs to user 65534");
    ASSERT_EQ(::chown(At(name).c_str(), 0, 0), 0);
  }
  fs::rename(At("inc.work/settings.json"), At("elsewhere.json"));
  fs::create_symlink(At("elsewhere.json"), At("inc.work/settings.json"));
  expect_refusal("inc.work/settings.json", "is a symbolic link");
  fs::rename(At("elsewhere.json"), At("inc.work/settings.json"));
  EXPECT_EQ(Resume().outcome.exit_code, 0);
}

TEST_F(IncidentGoesOn, WorksAloneInItsFolderWhichIsItsOwnersAlone) {
  MakeHistory();
  BeginAndKill({});
  EXPECT_EQ(fs::status(At("inc.work")).permissions(), fs::perms::owner_all);
  {
    const auto lock = FolderLock::Take(At("inc.work"));
    ASSERT_TRUE(lock.ok()) << lock.error().ToString();
    const ProcessResult second = Resume();
    EXPECT_EQ(second.outcome.exit_code, 2) << second.stdout_text;
    EXPECT_THAT(second.stderr_text, HasSubstr("another process is working in this folder"));
  }
  EXPECT_EQ(Resume().outcome.exit_code, 0);
}

TEST_F(IncidentGoesOn, GoesBackToNoRunThatWasRetiredMeanwhile) {
  MakeHistory();
  BeginAndKill({});
  ASSERT_TRUE(Run({kRharness, "--quiet", "history", "retire", "a", "--history", "runs.db",
                   "--reason", "backdoored data"})
                  .outcome.Succeeded());
  const ProcessResult refused = Resume();
  EXPECT_EQ(refused.outcome.exit_code, 2) << refused.stdout_text << refused.stderr_text;
  EXPECT_THAT(refused.stderr_text, HasSubstr("'a', which the incident began with, was retired"));
  EXPECT_THAT(refused.stderr_text, HasSubstr("backdoored data"));
  EXPECT_FALSE(fs::exists(At("inc")));
}

// The rerun itself retires the run that is rerun.
TEST_F(IncidentGoesOn, GoesBackToNoRunThatWasRetiredWhileItWasRerun) {
  Write("train.sh", std::string("[ \"$RETIRE\" = 1 ] && $RHARNESS history retire a --history "
                                "$RUNS --reason 'backdoored data' >&2\n") +
                        kIncidentTrainer);
  MakeHistory();
  const ProcessResult refused =
      IncidentOf("c", {"--env", "RETIRE=1", "--env", "RHARNESS=" + std::string(kRharness), "--env",
                       "RUNS=" + At("runs.db").string()});
  EXPECT_EQ(refused.outcome.exit_code, 2) << refused.stdout_text << refused.stderr_text;
  EXPECT_THAT(refused.stderr_text, HasSubstr("was retired meanwhile: backdoored data"));
  EXPECT_FALSE(fs::exists(At("inc")));
}

TEST_F(IncidentGoesOn, SaysHowWhereItWasInterrupted) {
  MakeHistory();
  const ProcessResult stopped =
      Run({"sh", "-c",
           std::string(kRharness) +
               " incident c --history runs.db --env HANG=1 --out inc & pid=$!\n"
               "for i in $(seq 600); do [ -e inc.work/drill/journal.jsonl ] && break; sleep 0.1; "
               "done\nkill -INT $pid\nwait $pid"});
  EXPECT_EQ(stopped.outcome.exit_code, 4) << stopped.stdout_text << stopped.stderr_text;
  EXPECT_THAT(stopped.stdout_text,
              HasSubstr("rharness incident --resume --history runs.db --out inc"));
  EXPECT_THAT(stopped.stdout_text, Not(HasSubstr("rollback/report.html")));
}

// A folder that is none, and one in which nothing lies, say nothing of a run.
TEST_F(IncidentGoesOn, LeavesAGoodRunAsItIsWhereTheRootIsWrong) {
  MakeHistory();
  for (const char* verb : {"incident", "drill"}) {
    std::vector<std::string> argv = {kRharness, verb,      "--history", "runs.db",
                                     "--root",  "nowhere", "--out",     "wrong"};
    if (std::string(verb) == "incident") argv.push_back("c");
    const ProcessResult wrong = Run(argv);
    EXPECT_EQ(wrong.outcome.exit_code, 2) << verb << wrong.stdout_text << wrong.stderr_text;
    EXPECT_THAT(wrong.stderr_text, HasSubstr("--root")) << verb;
  }
  fs::create_directories(At("empty"));
  const ProcessResult empty = IncidentOf("c", {"--root", "empty", "--out", "none"});
  EXPECT_EQ(empty.outcome.exit_code, 3) << empty.stdout_text << empty.stderr_text;
  EXPECT_THAT(Text(Told("none"), "rollback"), HasSubstr(R"("state":"not_run")"));
  EXPECT_THAT(Text(Told("none"), "next"), HasSubstr("--artifacts DIR --out OTHER"));
  // Drilled from there, a is not comparable, and as good as it was.
  EXPECT_EQ(Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--root", "empty",
                 "--select", "run_id = a", "--out", "open"})
                .outcome.exit_code,
            3);
  const ProcessResult after = IncidentOf("c");
  EXPECT_EQ(after.outcome.exit_code, 0) << after.stdout_text << after.stderr_text;
  EXPECT_THAT(Text(Told(), "good"), HasSubstr(R"("run_id":"a")"));
}

TEST_F(IncidentGoesOn, TellsWhyTheRunWentBadWhereTheLastDrillCouldNotTell) {
  MakeHistory();
  Write("value", "0.99");
  ASSERT_EQ(DrillInto("open", "c"), 3);
  Write("value", "0.75");
  const ProcessResult result = IncidentOf("c");
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  const std::string happened = Answer(Told(), "what_happened");
  EXPECT_THAT(happened, HasSubstr("c was rerun and is failed"));
  EXPECT_THAT(happened, HasSubstr("run_failed: the run exited with 7"));
  EXPECT_THAT(happened, HasSubstr("the last one called it not comparable"));
  EXPECT_THAT(Answer(Told(), "prevent"), HasSubstr("runbook: run_failed"));
  EXPECT_THAT(Text(Told(), "runbook"), HasSubstr("run_failed"));
}

TEST_F(IncidentGoesOn, NamesAGoodRunThatWasRecordedLater) {
  for (const char* name : {"a", "b", "c"}) RecordKept(name);
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  ASSERT_EQ(DrillInto("second", "a", "SHIFT=1"), 1);
  const ProcessResult result = IncidentOf("a");
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Text(Told(), "headline"),
              HasSubstr("of 2 other runs 2 are good, but were recorded later: --good b"));
  EXPECT_THAT(Text(Told(), "next"),
              HasSubstr("rharness incident a --history runs.db --good b --out OTHER"));
  EXPECT_EQ(IncidentOf("a", {"--good", "b", "--out", "other"}).outcome.exit_code, 0);
}

TEST_F(IncidentGoesOn, ReadsWhatIsNamedAlsoWhereNoRunIsGood) {
  RecordKept("a");
  RecordKept("b");
  Add();
  Write("broken.yaml", "version: 1\nkeys: {");
  const std::vector<std::vector<std::string>> wrong = {{"--artifacts", "nowhere"},
                                                       {"--signatures", "nowhere"},
                                                       {"--trust", "no.yaml"},
                                                       {"--trust", "broken.yaml"}};
  for (std::vector<std::string> one : wrong) {
    const ProcessResult refused = IncidentOf("b", one);
    EXPECT_EQ(refused.outcome.exit_code, 2) << one.back() << refused.stdout_text;
    EXPECT_THAT(refused.stderr_text, HasSubstr(one.back()));
    EXPECT_FALSE(fs::exists(At("inc.work"))) << one.back();
  }
}

// The newest good run has no file any more, and that of the one before it is another.
TEST_F(IncidentGoesOn, EndsWithFiveAlsoWhereAnOlderRunsFileWasChanged) {
  for (const char* name : {"a", "b", "c"}) RecordKept(name);
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  ASSERT_EQ(DrillInto("third", "c", "CRASH=1"), 4);
  fs::remove(At("kept/b/w.safetensors"));
  KeepOther("kept/a/w.safetensors");
  const ProcessResult result = IncidentOf("c");
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Text(Told(), "good"), HasSubstr(R"("run_id":"b")"));
  EXPECT_THAT(Told().Find("notes")->Dump(),
              HasSubstr("a: its file w.safetensors is not the recorded one"));
}

TEST_F(IncidentGoesOn, CountsChangedFilesInWords) {
  MakeHistory();
  KeepOther("kept/a/w.safetensors");
  EXPECT_EQ(IncidentOf("c", {"--no-rerun"}).outcome.exit_code, 5);
  EXPECT_THAT(Answer(Told(), "way_back"), HasSubstr("its checkpoint file is not the recorded one"));
}

}  // namespace
}  // namespace rharness
