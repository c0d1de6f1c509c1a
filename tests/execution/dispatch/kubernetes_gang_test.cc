// A run of two nodes by two tasks over a real Kubernetes of two nodes, which loses a pod, a rank, a
// node and the drill itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <set>
#include <thread>

#include "tests/cli/drill_program.h"
#include "tests/cli/gang_program.h"
#include "tests/execution/dispatch/kubernetes_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Runs `line` in reruns alone.
std::string InReruns(const std::string& line) {
  return "if os.environ['HOME'].endswith('workspace'): " + line;
}

class KubernetesGang : public DrillProgram {
 protected:
  static void SetUpTestSuite() { world_ = new KubernetesWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Kubernetes here: " << world_->problem();
    environment_["KUBECONFIG"] = std::getenv("KUBECONFIG");
    Write("data.csv", "0.5");
    Write("site.json", KubernetesWorld::Template(At("")));
  }
  void TearDown() override {
    if (!world_->problem().empty()) return;
    EXPECT_EQ(KubernetesWorld::Run({"get", "jobs,services", "-o", "name"}), "service/kubernetes\n");
    const auto pods = [] { return KubernetesWorld::Run({"get", "pods", "-o", "name"}); };
    for (int i = 0; i < 200 && !pods().empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    EXPECT_EQ(pods(), "") << "they go with their Job";
    KubernetesWorld::Run({"delete", "jobs", "--all", "--wait=false"});
    KubernetesWorld::Run({"delete", "pods", "--all", "--grace-period=0", "--force"});
  }
  void Record(const std::string& line = "") const {
    Write("train.py", GangProgram(line));
    const ProcessResult recorded = Run({kRharness, "record", "--nodes", "2", "--tasks-per-node",
                                        "2", "--out", "runs/a.json", "--", "python3", "train.py"});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  }
  // A drill, and what befalls it once its ranks run.
  ProcessResult Drill(const std::function<void(int)>& fault = {}) const {
    std::thread trouble;
    ProcessResult result =
        RunProcess(ProcessSpec{{kRharness, "drill", "runs", "--out", At("out"), "--dispatch",
                                "kubernetes", "--pod-template", "site.json"},
                               environment_,
                               folder_.path()},
                   {.timeout = std::chrono::minutes(6)}, [&](int pid) {
                     if (!fault) return;
                     trouble = std::thread([this, &fault, pid] {
                       const fs::path started = At("out/dispatch/1/0/out/gang/a.1.1/start.json");
                       for (int i = 0; i < 600 && !fs::exists(started); ++i) {
                         std::this_thread::sleep_for(std::chrono::milliseconds(100));
                       }
                       EXPECT_TRUE(fs::exists(started));
                       fault(pid);
                     });
                   });
    if (trouble.joinable()) trouble.join();
    return result;
  }
  void ExpectIdentical(const ProcessResult& drilled, int attempt) const {
    EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
    EXPECT_THAT(drilled.stdout_text, HasSubstr("identical"));
    const auto evidence = LoadEvidence(At("out/runs/a/1/evidence.json"));
    ASSERT_TRUE(evidence.ok()) << evidence.error().ToString();
    EXPECT_EQ(evidence->attempt, attempt);
    ASSERT_TRUE(evidence->gang.has_value());
    EXPECT_EQ(evidence->gang->ranks.size(), 4U);
    std::set<std::string> hosts;
    for (const GangNode& node : evidence->gang->nodes) hosts.insert(node.host);
    EXPECT_THAT(hosts, ElementsAre("n1", "n2")) << "each pod has a node of its own";
  }

  static KubernetesWorld* world_;
};
KubernetesWorld* KubernetesGang::world_ = nullptr;

TEST_F(KubernetesGang, ComesBackBitForBitFromTwoNodes) {
  Record();
  ExpectIdentical(Drill(), 1);
}

// The head's or the other: whichever the server lists first, and second.
TEST_F(KubernetesGang, OutlivesEachOfItsPodsAndNamesItWithItsNode) {
  Record(InReruns("time.sleep(15)"));
  for (const char* which : {"0", "1"}) {
    fs::remove_all(At("out"));
    std::string pod;
    std::string node;
    const ProcessResult drilled = Drill([&](int) {
      const std::string item = std::string("jsonpath={.items[") + which + "].";
      pod = KubernetesWorld::Run({"get", "pods", "-o", item + "metadata.name}"});
      node = KubernetesWorld::Run({"get", "pods", "-o", item + "spec.nodeName}"});
      KubernetesWorld::Run({"delete", "pod", pod, "--grace-period=0", "--force"});
    });
    ExpectIdentical(drilled, 2);
    // By what Kubernetes says of the pod, or by what the node could still say itself.
    EXPECT_THAT(drilled.stderr_text,
                AllOf(HasSubstr("trying again"),
                      AnyOf(HasSubstr(pod + " on " + node), HasSubstr("(" + node + "): "))));
  }
}

TEST_F(KubernetesGang, IsEndedByTheRankThatFailsWhichIsNamedWithItsNode) {
  Record(InReruns("rank == 3 and sys.exit('rank three is ill')"));
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 4) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, testing::ContainsRegex("rank 3 on n[12] exited with 1"));
  EXPECT_THAT(drilled.stdout_text, HasSubstr("rank three is ill"));
}

TEST_F(KubernetesGang, IsToldWithinAMinuteThatANodeOfItCanNeverComeUp) {
  Record();
  Write("site.json",
        KubernetesWorld::Template(At(""), R"("nodeSelector": {"kubernetes.io/hostname": "n1"})"));
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 4) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(Read(At("out/report.json")),
              HasSubstr("the run needs 2 nodes, and the scheduler finds no node for rharness-"));
  EXPECT_LT(Seconds(drilled.outcome.wall).count(), 75.0);
}

TEST_F(KubernetesGang, LeavesNothingWhereItsDrillIsCancelled) {
  Record(InReruns("time.sleep(60)"));
  const ProcessResult cancelled = Drill([](int pid) { ::kill(pid, SIGTERM); });
  EXPECT_LT(Seconds(cancelled.outcome.wall).count(), 50.0);
}

TEST_F(KubernetesGang, GoesOnWhereItsDrillWasKilled) {
  Record(InReruns("time.sleep(15)"));
  const ProcessResult killed = Drill([](int pid) { ::kill(pid, SIGKILL); });
  ASSERT_EQ(killed.outcome.kind, OutcomeKind::kSignalled);
  EXPECT_FALSE(fs::exists(At("out/report.json")));
  ExpectIdentical(Run({kRharness, "drill", "--resume", "--out", At("out").string()}), 1);
}

// Last, since it takes minutes. The second attempt waits for the node, which it needs.
TEST_F(KubernetesGang, ZOutlivesANode) {
  Record(InReruns("time.sleep(15)"));
  std::thread repair;
  const ProcessResult drilled = Drill([&](int) {
    world_->Do("lose", "n2");
    repair = std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(75));
      for (const char* service : {"containerd-n2", "kubelet-n2"}) world_->Do("serve", service);
    });
  });
  repair.join();
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stderr_text, HasSubstr("n2"));
}

}  // namespace
}  // namespace rharness
