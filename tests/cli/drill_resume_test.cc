// A drill that was killed or interrupted goes on where it stood; what failed for reasons of
// infrastructure is tried again, a mismatch never.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "harness/drill/settings.h"
#include "tests/cli/unfinished_drill.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

TEST_F(UnfinishedDrill, GoesOnAfterItWasKilled) {
  RecordRuns(3);
  Write("gate", "");
  Background drill(DrillArguments({"--jobs", "1"}), At(""), environment_);
  const Halfway halfway = AwaitHalfway();
  ASSERT_GT(halfway.pid, 1);
  drill.Signal(SIGKILL);
  drill.Wait();
  EXPECT_TRUE(Eventually([&] { return !ProcessStartTicks(halfway.pid); })) << "left behind";
  ExpectResumeFinishes(halfway.finished, 3);
}

TEST_F(UnfinishedDrill, EndsInOrderWhenInterruptedAndGoesOnLater) {
  RecordRuns(3);
  Write("gate", "");
  Background drill(DrillArguments({"--jobs", "1"}), At(""), environment_);
  const Halfway halfway = AwaitHalfway();
  ASSERT_GT(halfway.pid, 1);
  drill.Signal(SIGINT);
  const int status = drill.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_FALSE(ProcessStartTicks(halfway.pid)) << "left behind";
  const Report report = StoredReport();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_EQ(report.counts.at("identical"), 1);
  ExpectResumeFinishes(halfway.finished, 3);
}

TEST_F(UnfinishedDrill, GoesOnFromAnotherFolder) {
  RecordRuns(1);
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  const ProcessResult result = Run({"sh", "-c", R"(cd / && exec "$0" drill --resume --out "$1")",
                                    kRharness, At("out").string()});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Calls(), 1);
}

TEST_F(UnfinishedDrill, IsNotMadeWhereNoneWas) {
  const ProcessResult result = Run({kRharness, "drill", "--resume", "--out", "nowhere"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("no drill to resume"), std::string::npos);
  EXPECT_FALSE(fs::exists(At("nowhere")));
}

TEST_F(UnfinishedDrill, NeverTriesAMismatchAgain) {
  Record("a", {});
  Add();
  const ProcessResult result = Drill({"--env", "PATH=" + At("bin").string() + ":/usr/bin:/bin"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  fs::remove(At("calls"));
  Write("bin/cat", "#!/bin/sh\necho 0.25\n");
  fs::permissions(At("bin/cat"), fs::perms::owner_all);
  const ProcessResult moved =
      Run({kRharness, "drill", "--history", "runs.db", "--out", "out2", "--no-confirm", "--env",
           "PATH=" + At("bin").string() + ":/usr/bin:/bin"});
  EXPECT_NE(moved.outcome.exit_code, 0) << moved.stdout_text;
  EXPECT_EQ(Calls(), 1);
  const auto evidence = LoadEvidence(At("out2/runs/a/1/evidence.json"));
  ASSERT_TRUE(evidence.ok());
  EXPECT_EQ(evidence->attempt, 1);
  EXPECT_EQ(evidence->metrics.metrics.at("accuracy"), 0.25);
}

TEST_F(UnfinishedDrill, TriesAnEngineInTroubleThreeTimes) {
  Record("a", {"--image", "127.0.0.1:1/ml/tiny:1@sha256:" + std::string(64, '1')});
  Add();
  Write("bin/podman", "#!/bin/sh\n[ \"$1\" != --version ] || exit 0\necho \"$1\" >> " +
                          At("asked").string() + "\necho 'no space' >&2\nexit 125\n");
  fs::permissions(At("bin/podman"), fs::perms::owner_all);
  environment_["PATH"] = At("bin").string() + ":/usr/bin:/bin";
  const ProcessResult result = Drill();
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text;
  EXPECT_EQ(EvidenceOf("a").attempt, 3);
  const std::string asked = Read(At("asked"));
  EXPECT_EQ(std::count(asked.begin(), asked.end(), '\n'), 3) << asked;
  EXPECT_EQ(StoredReport().runs.at(0).verdict, Verdict::kInfra);
}

TEST_F(UnfinishedDrill, RefusesOptionsThatItsJournalHasOtherwise) {
  RecordRuns(1);
  ASSERT_EQ(Drill({"--jobs", "1"}).outcome.exit_code, 0);
  const auto resume = [&](const std::vector<std::string>& options) {
    std::vector<std::string> argv = {kRharness, "drill", "--resume", "--out", "out"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  };
  const std::vector<std::vector<std::string>> others = {
      {"--reruns", "5"},      {"--jobs", "2"},         {"--no-confirm"},
      {"--env", "A=b"},       {"--root", "elsewhere"}, {"--keep-workspaces"},
      {"--budget", "1h"},     {"--map", "x=y"},        {"--history", "other.db"},
      {"--rerun-disk", "1B"}, {"--rerun-time", "1h"},  {"--container-root"}};
  for (const auto& options : others) {
    const ProcessResult result = resume(options);
    EXPECT_EQ(result.outcome.exit_code, 2) << options[0] << ": " << result.stderr_text;
    EXPECT_NE(result.stderr_text.find(options[0]), std::string::npos) << result.stderr_text;
  }
  const ProcessResult same =
      resume({"--reruns", "1", "--jobs", "1", "--root", ".", "--history", "runs.db"});
  EXPECT_EQ(same.outcome.exit_code, 0) << same.stderr_text;
  EXPECT_EQ(Calls(), 1);
}

// An option that a drill takes is its journal's, or says where and how this call prints, when it
// starts reruns and how often, or is refused beside --resume.
TEST_F(UnfinishedDrill, KnowsOfEveryOptionWhoseItIs) {
  const std::set<std::string> others = {
      "--help",    "--select",  "--sample", "--seed",        "--resume",   "--out",
      "--dry-run", "--trust",   "--json",   "--quiet-hours", "--attempts", "--storm-stop",
      "--policy",  "--profile", "--order",  "--audit",       "--key",      "--passphrase-file"};
  const std::vector<std::string> kept = KeptOptions();
  std::size_t seen = 0;
  std::istringstream help(Run({kRharness, "drill", "--help"}).stdout_text);
  for (std::string line; std::getline(help, line);) {
    const std::size_t begin = line.find("--");
    if (begin == std::string::npos || begin > 5) continue;
    const std::string name = line.substr(begin, line.find_first_of(" =", begin) - begin);
    ++seen;
    EXPECT_TRUE(others.contains(name) || std::ranges::find(kept, name) != kept.end()) << name;
  }
  EXPECT_GE(seen, others.size() + kept.size());
}

TEST_F(UnfinishedDrill, StartsInAFolderWhereOneWasKilledBeforeItBegan) {
  RecordRuns(1);
  Write("out/lock", "");
  Write("out/.rharness-aB3xYz", "half a header");
  const ProcessResult resumed = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(resumed.outcome.exit_code, 2);
  EXPECT_NE(resumed.stderr_text.find("without --resume"), std::string::npos) << resumed.stderr_text;
  const ProcessResult started = Drill();
  EXPECT_EQ(started.outcome.exit_code, 0) << started.stderr_text;
  EXPECT_FALSE(fs::exists(At("out/.rharness-aB3xYz")));
}

}  // namespace
}  // namespace rharness
