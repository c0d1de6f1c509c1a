// A stop that signals every process, and what a drill that was killed leaves running.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "harness/history/store.h"
#include "tests/cli/unfinished_drill.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// $1: a folder, $2: what it does when it is asked to end. While "gate" is there, it hangs.
constexpr char kPatient[] = R"sh(echo run >> "$1/calls"
if [ -e "$1/gate" ]; then
  trap "$2" TERM
  sleep 600 & child=$!
  echo $$ > "$1/hangs"
  wait
  kill $child
fi
printf '{"metrics": {"accuracy": 0.75}}' > metrics.json
)sh";

// As above, with one child in a session of its own and one in the background; their ids are told.
constexpr char kScattering[] = R"sh(echo run >> "$1/calls"
if [ -e "$1/gate" ]; then
  setsid sh -c 'echo $$ > "$0/escaped"; exec sleep 600' "$1" &
  sleep 600 & echo $! > "$1/background"
  echo $$ > "$1/hangs"
  wait
fi
printf '{"metrics": {"accuracy": 0.75}}' > metrics.json
)sh";

class StoppedDrill : public UnfinishedDrill {
 protected:
  void RecordOne(const char* script, const std::string& how) {
    Write("train.sh", script);
    Record("a", {}, {"sh", "train.sh", At("").string(), how});
    Add();
    Write("gate", "");
  }
  // The process id that the trainer wrote there; 0: none within a minute.
  int PidIn(const std::string& name) const {
    int pid = 0;
    EXPECT_TRUE(Eventually([&] {
      const auto text = ReadFile(At(name));
      if (text.ok() && text->ends_with('\n')) pid = std::atoi(text->c_str());
      return pid > 0;
    })) << name;
    return pid;
  }
  std::optional<Verdict> LastVerdict() const {
    const auto store = HistoryStore::Open(At("runs.db").string());
    EXPECT_TRUE(store.ok());
    return (*store)->Find("a")->last_verdict;
  }
  static bool Lives(int pid) { return ::kill(pid, 0) == 0; }
  static bool Gone(int pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(stat)), {});
    return text.empty() || text.find(") Z ") != std::string::npos;
  }
  ProcessResult Resume() {
    fs::remove(At("gate"));
    return Run({kRharness, "drill", "--resume", "--out", "out"});
  }
};

TEST_F(StoppedDrill, JudgesNoRerunThatWasStoppedWithItHoweverTheRerunEnded) {
  // Killed by the signal; failing because of it; ending as if nothing were the matter.
  for (const char* how : {"-", "exit 1", "exit 143", "exit 0"}) {
    ASSERT_TRUE(RemoveTree(At("out")).ok());
    for (const char* old : {"runs.db", "runs/a.json", "hangs", "gate"}) fs::remove(At(old));
    RecordOne(kPatient, how);
    Background drill(DrillArguments(), At(""), environment_);
    const int pid = PidIn("hangs");
    ASSERT_GT(pid, 1);
    // The run first, as it may happen, where its end looks like a stop: then the drill waits for
    // its own. An end that looks like any other is not waited for as long, or at all.
    const bool looks_stopped = std::string(how) == "-" || std::string(how) == "exit 143";
    if (!looks_stopped) drill.Signal(SIGTERM);
    ::kill(pid, SIGTERM);
    if (looks_stopped) drill.Signal(SIGTERM);
    const int status = drill.Wait();
    ASSERT_TRUE(WIFEXITED(status)) << how;
    EXPECT_EQ(WEXITSTATUS(status), 4) << how;
    EXPECT_EQ(ReadJournal(At("out/journal.jsonl"))->last.at("a.1").state, AttemptState::kEnded)
        << how;
    EXPECT_TRUE(StoredReport().interrupted) << how;
    EXPECT_EQ(LastVerdict(), std::nullopt) << how;
    const ProcessResult result = Resume();
    EXPECT_EQ(result.outcome.exit_code, 0) << how << result.stdout_text << result.stderr_text;
    EXPECT_EQ(LastVerdict(), Verdict::kIdentical) << how;
  }
}

TEST_F(StoppedDrill, JudgesARerunThatSomebodyElseEnded) {
  RecordOne(kPatient, "-");
  Background drill(DrillArguments(), At(""), environment_);
  const int pid = PidIn("hangs");
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGTERM);
  const int status = drill.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_EQ(LastVerdict(), Verdict::kFailed);
}

TEST_F(StoppedDrill, LeavesNothingRunningBesideWhatResumeStarts) {
  RecordOne(kScattering, "");
  Background drill(DrillArguments(), At(""), environment_);
  const int leader = PidIn("hangs");
  const int escaped = PidIn("escaped");
  const int background = PidIn("background");
  ASSERT_GT(std::min({leader, escaped, background}), 1);
  drill.KillWithKeeper();
  drill.Wait();
  // The leader is gone as well: nobody leads the others any more.
  ::kill(leader, SIGKILL);
  EXPECT_TRUE(Lives(escaped) && Lives(background));
  const ProcessResult result = Resume();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_TRUE(Gone(escaped)) << escaped;
  EXPECT_TRUE(Gone(background)) << background;
}

// Git hangs in the checkout, with a child in a session of its own, when the drill is killed.
TEST_F(StoppedDrill, LeavesNoGitRunningBesideWhatResumeStarts) {
  Write("train.sh", kPatient);
  const ProcessResult made =
      Run({"sh", "-c",
           "git init -q . && git add train.sh && "
           "git -c user.name=a -c user.email=a@b commit -qm one && command -v git"});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
  ASSERT_TRUE(Run({kRharness,
                   "--quiet",
                   "record",
                   "--out",
                   "runs/a.json",
                   "--root",
                   ".",
                   "--metrics",
                   "metrics.json",
                   "--metric",
                   "accuracy,direction=higher,primary,margin=0.01",
                   "--family",
                   "tiny",
                   "--seed",
                   "init=1",
                   "--",
                   "sh",
                   "train.sh",
                   At("").string(),
                   "-"})
                  .outcome.Succeeded());
  Add();
  Write("gate", "");
  Write("bin/git", "#!/bin/sh\nif [ -e " + At("gate").string() +
                       R"sh( ]; then
  cd "$(dirname "$0")/.." || exit 1
  setsid sh -c 'echo $$ > escaped; exec sleep 600' &
  echo $$ > hangs
  exec sleep 600
fi
exec )sh" + made.stdout_text.substr(0, made.stdout_text.find('\n')) +
                       " \"$@\"\n");
  fs::permissions(At("bin/git"), fs::perms::owner_all);
  environment_["PATH"] = At("bin").string() + ":" + environment_["PATH"];
  Background drill(DrillArguments(), At(""), environment_);
  const int git = PidIn("hangs");
  const int escaped = PidIn("escaped");
  ASSERT_GT(std::min(git, escaped), 1);
  drill.KillWithKeeper();
  drill.Wait();
  EXPECT_TRUE(Lives(escaped));
  const ProcessResult result = Resume();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_TRUE(Gone(git)) << git;
  EXPECT_TRUE(Gone(escaped)) << escaped;
  EXPECT_EQ(Calls(), 1);
}

}  // namespace
}  // namespace rharness
