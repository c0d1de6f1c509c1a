// The drill of the shipped history over a real Kubernetes of two nodes, which loses pods, a node
// and the drill itself half-way: whatever befalls it, it ends as if nothing had.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "tests/execution/dispatch/kubernetes_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::Pair;
using testing::SizeIs;

constexpr char kProgram[] = RHARNESS_BIN_DIR "/rharness";
constexpr int kRuns = 3;

// Evidence over a volume that pods and drill share (false), or in the logs of the pods (true).
class KubernetesDrill : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { world_ = new KubernetesWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Kubernetes here: " << world_->problem();
    auto made = ScopedTempDir::Make("rharness-kubernetes-drill-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    // What the pods see is this folder; by log, the drill's is beside it.
    fs::create_directories(Site("bin"));
    ASSERT_TRUE(
        WriteFileAtomic(At("site.json"), KubernetesWorld::Template(Site(""), "", "localhost/base:1",
                                                                   {RHARNESS_SOURCE_DIR}))
            .ok());
    const ProcessResult added = Run({kProgram, "--quiet", "history", "add", "--history",
                                     At("runs.db"), Source("scenarios/digits_portable/history")});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  }
  void TearDown() override {
    if (!world_->problem().empty()) return;
    KubernetesWorld::Run({"delete", "jobs", "--all", "--cascade=background", "--wait=false"});
    KubernetesWorld::Run({"delete", "pods", "--all", "--grace-period=0", "--force"});
  }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  fs::path Site(const std::string& name) const { return At("site") / name; }
  fs::path Out() const { return GetParam() ? At("out") : Site("out"); }
  static std::string Source(const std::string& name) {
    return (fs::path(RHARNESS_SOURCE_DIR) / name).string();
  }

  // The recorded program, but some seconds slower.
  void SlowDown() const {
    ASSERT_TRUE(WriteFileAtomic(Site("bin/digits_portable"),
                                "#!/bin/sh\nsleep 8\nexec " RHARNESS_BIN_DIR
                                "/digits_portable \"$@\"\n")
                    .ok());
    fs::permissions(Site("bin/digits_portable"), fs::perms{0755});
  }
  ProcessResult Run(std::vector<std::string> argv,
                    const std::function<void(int)>& on_start = {}) const {
    auto environment = ProcessEnvironment();
    environment["PATH"] = std::string(RHARNESS_BIN_DIR) + ":/usr/bin:/bin";
    return RunProcess({.argv = std::move(argv), .environment = std::move(environment)},
                      {.timeout = std::chrono::minutes(6)}, on_start);
  }
  // A drill, and what befalls it once `fault` finds as many pods at work as there are runs.
  ProcessResult Drill(const std::function<void(int)>& fault = {}) const {
    std::vector<std::string> argv = {
        kProgram,     "drill",      "--history",      At("runs.db"),
        "--out",      Out(),        "--root",         RHARNESS_SOURCE_DIR,
        "--dispatch", "kubernetes", "--pod-template", At("site.json")};
    if (GetParam()) argv.insert(argv.end(), {"--pod-evidence", "log", "--pod-program", kProgram});
    std::thread trouble;
    ProcessResult result = Run(argv, [&](int pid) {
      if (fault) {
        trouble = std::thread([&fault, pid] {
          AwaitPods();
          fault(pid);
        });
      }
    });
    if (trouble.joinable()) trouble.join();
    return result;
  }
  static void AwaitPods() {
    const auto working = [] {
      const std::string phases = KubernetesWorld::Run(
          {"get", "pods", "--selector=rharness-drill", "-o", "jsonpath={.items[*].status.phase}"});
      std::size_t count = 0;
      for (auto at = phases.find("Running"); at != phases.npos; at = phases.find("Running", at + 1))
        ++count;
      return count >= kRuns;
    };
    for (int i = 0; i < 300 && !working(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_TRUE(working());
  }

  std::map<std::string, std::string> Verdicts() const {
    std::map<std::string, std::string> verdicts;
    const auto json = ReadJsonFile(Out() / "report.json");
    if (!json.ok()) return verdicts;
    for (const Json& run : json->Find("runs")->AsArray()) {
      verdicts[run.Find("run_id")->AsString()] = run.Find("verdict")->AsString();
    }
    return verdicts;
  }
  // The attempt of each rerun whose evidence was taken, and that none was taken twice.
  std::map<std::string, int> Attempts() const {
    std::map<std::string, int> attempts;
    const auto text = ReadFile(Out() / "journal.jsonl");
    std::istringstream journal(text.ok() ? *text : "");
    for (std::string line; std::getline(journal, line);) {
      const auto json = ParseJson(line.substr(std::min(line.find('{'), line.size())), "journal");
      const Json* state = json.ok() ? json->Find("state") : nullptr;
      if (state == nullptr || state->AsString() != "collected") continue;
      const std::string job = json->Find("job")->AsString();
      EXPECT_FALSE(attempts.contains(job)) << job << " was taken twice";
      attempts[job] = static_cast<int>(json->Find("attempt")->ToInt64().value_or(0));
    }
    return attempts;
  }
  void ExpectAllIdentical(const ProcessResult& drilled) const {
    EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stderr_text;
    EXPECT_THAT(Verdicts(), SizeIs(kRuns)) << drilled.stderr_text;
    EXPECT_THAT(Verdicts(), Each(Pair(testing::_, "identical"))) << drilled.stderr_text;
    EXPECT_THAT(Attempts(), SizeIs(kRuns));
    EXPECT_EQ(KubernetesWorld::Run({"get", "jobs", "-o", "name"}), "");
    EXPECT_THAT(KubernetesWorld::Run({"get", "secrets", "-o", "name"}),
                testing::Not(testing::HasSubstr("rharness")));
  }

  static KubernetesWorld* world_;
  std::unique_ptr<ScopedTempDir> folder_;
};
KubernetesWorld* KubernetesDrill::world_ = nullptr;

TEST_P(KubernetesDrill, RerunsTheShippedHistory) {
  ExpectAllIdentical(Drill());
  EXPECT_THAT(Attempts(), Each(Pair(testing::_, 1)));
}

TEST_P(KubernetesDrill, OutlivesThePodsOfAllItsReruns) {
  SlowDown();
  const ProcessResult drilled = Drill([](int) {
    KubernetesWorld::Run({"delete", "pods", "--all", "--grace-period=0", "--force"});
  });
  ExpectAllIdentical(drilled);
  // What Jobs make in their place finds the attempts claimed. By log each pod has its own folder
  // and does the attempt again, unless the Job has seen the deleted one fail.
  const auto expected = GetParam() ? testing::Matcher<int>(testing::AnyOf(1, 2)) : testing::Eq(2);
  EXPECT_THAT(Attempts(), Each(Pair(testing::_, expected))) << drilled.stderr_text;
}

TEST_P(KubernetesDrill, GoesOnWhereItWasKilled) {
  SlowDown();
  const ProcessResult killed = Drill([](int pid) { ::kill(pid, SIGKILL); });
  ASSERT_EQ(killed.outcome.kind, OutcomeKind::kSignalled);
  EXPECT_TRUE(Verdicts().empty());
  ExpectAllIdentical(Run({kProgram, "drill", "--resume", "--out", Out()}));
  EXPECT_THAT(Attempts(), Each(Pair(testing::_, 1))) << "none was started again";
}

// Last, since it takes minutes: a node that is not heard of is given up slowly.
TEST_P(KubernetesDrill, ZOutlivesANode) {
  SlowDown();
  std::string node;
  ExpectAllIdentical(Drill([&](int) {
    node = KubernetesWorld::Run({"get", "pods", "-o", "jsonpath={.items[0].spec.nodeName}"});
    world_->Do("lose", node);
  }));
  const auto attempts = Attempts();
  EXPECT_TRUE(std::ranges::any_of(attempts, [](const auto& one) { return one.second == 2; }));
  for (const char* service : {"containerd-", "kubelet-"}) world_->Do("serve", service + node);
  const auto ready = [] {
    const std::string nodes = KubernetesWorld::Run({"get", "nodes", "--no-headers"});
    return nodes.find("NotReady") == nodes.npos && !nodes.empty();
  };
  for (int i = 0; i < 600 && !ready(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_TRUE(ready()) << node << " did not come back";
}

INSTANTIATE_TEST_SUITE_P(Evidence, KubernetesDrill, testing::Bool(),
                         [](const auto& one) { return one.param ? "InTheLog" : "OnAVolume"; });

}  // namespace
}  // namespace rharness
