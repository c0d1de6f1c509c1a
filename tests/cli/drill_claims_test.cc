// Drills that share a history never rerun the same run at the same time: real programs, on a file
// and on a server.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <future>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include "harness/drill/drill.h"
#include "harness/history/store.h"
#include "tests/cli/drill_program.h"
#include "tests/history/postgresql_world.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

// $1: a folder; $2: the run, which is noted there. It lasts while "hold" is there.
constexpr char kHeldScript[] = R"sh(echo "$2" >> "$1/calls"
while [ -e "$1/hold" ]; do sleep 0.05; done
printf '{"metrics": {"accuracy": %s}}' "$(cat value)" > metrics.json
)sh";

class DrillClaims : public DrillProgram, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    url_ = At("runs.db").string();
    if (OnServer()) {
      if (!World().problem().empty()) GTEST_SKIP() << World().problem();
      url_ = World().MakeDatabase();
    }
    Write("train.sh", kHeldScript);
  }
  bool OnServer() const { return std::string(GetParam()) == "postgresql"; }
  static PostgresqlWorld& World() { return PostgresqlWorld::Shared(); }

  // Runs "run-0", "run-1", ...
  void RecordRunsOf(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "run-" + std::to_string(i);
      Record(name, {}, {"sh", "train.sh", At("").string(), name});
    }
    const ProcessResult added =
        Run({kRharness, "--quiet", "history", "add", "--history", url_, "runs"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
    std::filesystem::remove(At("calls"));
  }
  std::vector<std::string> Argv(const std::string& out, std::vector<std::string> options) const {
    std::vector<std::string> argv = {kRharness, "drill", "--history", url_, "--out", out};
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
  }
  ProcessResult DrillTo(const std::string& out, std::vector<std::string> options = {}) const {
    return Run(Argv(out, std::move(options)));
  }
  std::vector<std::string> Reruns() const {
    std::vector<std::string> names;
    const auto text = ReadFile(At("calls"));
    std::istringstream lines(text.ok() ? *text : "");
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    return names;
  }
  void AwaitReruns(std::size_t count) const {
    for (int i = 0; i < 600 && Reruns().size() < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_GE(Reruns().size(), count);
  }
  std::unique_ptr<HistoryStore> Store() const {
    return std::move(HistoryStore::OpenExisting(url_)).value();
  }
  // As another drill would.
  void ClaimAsOther(const std::vector<std::string>& run_ids) const {
    const auto outcome = Store()->TakeClaims(
        {"20260101T000000Z-0badcafe", "node7", 4711, "elsewhere", std::chrono::minutes(10)},
        run_ids, 99);
    ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
    ASSERT_EQ(outcome->taken, run_ids);
  }
  Status EndClaimsOfOther() const {
    return Store()->ReleaseClaims("20260101T000000Z-0badcafe", "elsewhere");
  }
  std::size_t Verdicts(const std::string& run_id) const {
    return Store()->Verdicts(run_id).value().size();
  }

  std::string url_;
};

TEST_P(DrillClaims, OfEightAtOnceShareTheRunsOut) {
  constexpr int kDrills = 8, kEach = 2;
  RecordRunsOf(kDrills * kEach);
  std::vector<ProcessResult> results(kDrills);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kDrills; ++i) {
      threads.emplace_back([this, i, &results] {
        results[static_cast<std::size_t>(i)] =
            DrillTo("out" + std::to_string(i), {"--sample", std::to_string(kEach)});
      });
    }
  }
  for (const ProcessResult& result : results) {
    EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString() << result.stderr_text;
  }
  std::map<std::string, int> times;
  for (const std::string& name : Reruns()) ++times[name];
  EXPECT_EQ(times.size(), static_cast<std::size_t>(kDrills * kEach));
  for (const auto& [name, count] : times) {
    EXPECT_EQ(count, 1) << name;
    EXPECT_EQ(Verdicts(name), 1U) << name;
  }
  EXPECT_TRUE(Store()->Claims()->empty());
}

TEST_P(DrillClaims, OfAnotherDrillAreLeftToItAndTold) {
  RecordRunsOf(3);
  ClaimAsOther({"run-1"});
  const ProcessResult partial = DrillTo("out");
  EXPECT_EQ(partial.outcome.exit_code, 3) << partial.stdout_text << partial.stderr_text;
  EXPECT_THAT(Reruns(), UnorderedElementsAre("run-0", "run-2"));
  EXPECT_THAT(StoredReport().notes,
              testing::Contains(AllOf(HasSubstr("20260101T000000Z-0badcafe"), HasSubstr("node7"),
                                      HasSubstr("process 4711"), HasSubstr("since 20"),
                                      HasSubstr("run-1"))));
  const ProcessResult sampled =
      DrillTo("sampled", {"--sample", "1", "--select", "verified = never"});
  EXPECT_EQ(sampled.outcome.exit_code, 2) << "only run-1 is left: " << sampled.stdout_text;
  EXPECT_THAT(sampled.stderr_text, AllOf(HasSubstr("nothing to do"), HasSubstr("node7")));
  EXPECT_FALSE(std::filesystem::exists(At("sampled")));
  EXPECT_EQ(DrillTo("two", {"--sample", "2"}).outcome.exit_code, 0) << "takes the next ones";
  const ProcessResult planned = DrillTo("planned", {"--dry-run"});
  EXPECT_THAT(planned.stdout_text, Not(HasSubstr("run-1")));
  EXPECT_THAT(planned.stderr_text, HasSubstr("skipped; drill"));
  ASSERT_TRUE(EndClaimsOfOther().ok());
  EXPECT_EQ(DrillTo("all").outcome.exit_code, 0);
  EXPECT_EQ(Verdicts("run-1"), 1U);
}

TEST_P(DrillClaims, LeaveTheNextRunsToABudget) {
  RecordRunsOf(3);
  ClaimAsOther({"run-0", "run-1"});
  const ProcessResult result = DrillTo("out", {"--budget", "1h"});
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stderr_text;
  EXPECT_THAT(Reruns(), ElementsAre("run-2"));
}

TEST_P(DrillClaims, OfAKilledDrillAreItsOwnAgainOrAnothersByThen) {
  RecordRunsOf(2);
  Write("hold", "");
  std::atomic<int> pid{0};
  std::jthread first([&] {
    RunProcess({Argv("out", {}), environment_, folder_.path()}, {}, [&](int one) { pid = one; });
  });
  AwaitReruns(1);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  first.join();
  const auto left = Store()->Claims().value();
  ASSERT_EQ(left.size(), 2U) << "its lease is not over";
  std::filesystem::remove(At("hold"));
  EXPECT_EQ(DrillTo("other").outcome.exit_code, 0) << "here it shows that its process is gone";
  ClaimAsOther({"run-1"});
  const ProcessResult refused = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(refused.outcome.exit_code, 4) << refused.stderr_text;
  EXPECT_THAT(refused.stderr_text, AllOf(HasSubstr("run-1"), HasSubstr("node7")));
  ASSERT_TRUE(EndClaimsOfOther().ok());
  const ProcessResult resumed = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(resumed.outcome.exit_code, 0) << resumed.stderr_text;
  EXPECT_EQ(Verdicts("run-0"), 2U);
  EXPECT_EQ(Verdicts("run-1"), 2U);
  EXPECT_TRUE(Store()->Claims()->empty());
}

// A machine that stood still, a history that could not be reached: the lease is over, and another
// drill has the run.
TEST_P(DrillClaims, ThatAreLostInTheMiddleEndTheDrillAndNoVerdictOfIt) {
  RecordRunsOf(1);
  Write("hold", "");
  DrillOptions options{.history = url_, .out = At("out"), .places = {.root = folder_.path()}};
  options.plan.slots.cpus = 1;
  // It renews when its lease has long been over.
  const DrillHooks hooks{
      .claims = {.lease = std::chrono::milliseconds(500), .renew_every = std::chrono::seconds(4)}};
  auto first =
      std::async(std::launch::async, [&] { return RunDrill(options, hooks, &SystemClock()); });
  AwaitReruns(1);
  auto second = std::async(std::launch::async, [&] {
    ProcessResult result;
    for (int i = 0; i < 50; ++i) {  // it has come just when the lease was renewed
      result = DrillTo("other");
      if (result.outcome.exit_code != 2) break;
    }
    return result;
  });
  const Result<Report> lost = first.get();
  ASSERT_FALSE(lost.ok()) << "it went on beside the other one";
  EXPECT_EQ(lost.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(lost.error().message, AllOf(HasSubstr("other drills claimed 1 of its runs"),
                                          HasSubstr("run-0"), HasSubstr("--resume")));
  EXPECT_EQ(Verdicts("run-0"), 0U);
  EXPECT_EQ(Store()->Claims()->size(), 1U) << "which is the other one's, and stays so";
  EXPECT_EQ(RunDrill({.out = At("out"), .resume = true}, {}, &SystemClock()).error().code,
            ErrorCode::kTimeout);
  std::filesystem::remove(At("hold"));
  const ProcessResult other = second.get();
  EXPECT_EQ(other.outcome.exit_code, 0) << other.stderr_text;
  EXPECT_EQ(Verdicts("run-0"), 1U);
  const auto resumed = RunDrill({.out = At("out"), .resume = true}, {}, &SystemClock());
  ASSERT_TRUE(resumed.ok()) << resumed.error().ToString();
  EXPECT_EQ(resumed->exit_code, 0);
  EXPECT_EQ(Verdicts("run-0"), 2U);
  EXPECT_EQ(Reruns().size(), 3U) << "that of the first one was ended, and is done again";
  EXPECT_TRUE(Store()->Claims()->empty());
}

TEST_P(DrillClaims, AreToldOfARunThatIsShown) {
  RecordRunsOf(1);
  ClaimAsOther({"run-0"});
  const ProcessResult shown = Run({kRharness, "history", "show", "--history", url_, "run-0"});
  EXPECT_THAT(shown.stdout_text, HasSubstr("node7"));
}

INSTANTIATE_TEST_SUITE_P(Both, DrillClaims, testing::Values("sqlite", "postgresql"),
                         [](const auto& info) { return std::string(info.param); });

class DrillOnServer : public DrillClaims {};

TEST_P(DrillOnServer, OutlivesARestartOfItInTheMiddle) {
  RecordRunsOf(2);
  Write("hold", "");
  ProcessResult result;
  {
    std::jthread drill([&] { result = DrillTo("out"); });
    AwaitReruns(1);
    World().Kill();
    World().Start();
    std::filesystem::remove(At("hold"));
  }
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Verdicts("run-0"), 1U);
  EXPECT_EQ(Verdicts("run-1"), 1U);
}

TEST_P(DrillOnServer, KeepsItsUrlAndNoPassword) {
  RecordRunsOf(1);
  const std::string database =
      url_.substr(url_.find("@/") + 2, url_.find('?') - url_.find("@/") - 2);
  const std::string url = World().TcpUrl("guarded", database);
  environment_["PGPASSWORD"] = "s3cret";
  const ProcessResult result = Run({kRharness, "drill", "--history", url, "--out", "out"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(StoredReport().history, url);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(At("out"))) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(Read(entry.path()), Not(HasSubstr("s3cret"))) << entry.path();
  }
  EXPECT_EQ(Run({kRharness, "drill", "--resume", "--out", "out"}).outcome.exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Server, DrillOnServer, testing::Values("postgresql"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace rharness
