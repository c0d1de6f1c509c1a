// A run over two nodes as the dispatcher sees it: two pods that run together or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/execution/dispatch/cluster_that_fails.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ClusterOfTwo : public ClusterThatFails {
 protected:
  void SetUp() override {
    ClusterThatFails::SetUp();
    attempt_.ticket.manifest.gang = Gang{.nodes = 2,
                                         .tasks_per_node = 1,
                                         .start = GangStart::kPerTask,
                                         .workspace = {},
                                         .rendezvous = {},
                                         .parts = {}};
  }
  void Submit() {
    ASSERT_TRUE(dispatcher_->Adopt().ok());
    ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  }
  static std::string Pod(const std::string& name, const std::string& node,
                         const std::string& status) {
    return answers::Pod({.name = name, .job = "rharness-d-1-0", .node = node, .status = status});
  }
  static std::string Running(const std::string& name, const std::string& node) {
    return Pod(name, node, answers::ContainerStatus("Running", R"("running": {})"));
  }
};

TEST_F(ClusterOfTwo, GetsAServiceBesideTheJobAndRemovesBoth) {
  cluster_.minor = "30";
  Submit();
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1-0"));
  EXPECT_THAT(cluster_.services, ElementsAre("rharness-d-1-0"));
  cluster_.pods = Running("p0", "n1") + "," + Running("p1", "n2");
  EXPECT_TRUE(After(std::chrono::minutes(5)).empty());
  Make();  // another process
  Submit();
  Finish();
  ASSERT_EQ(After(std::chrono::minutes(1)).size(), 1U);
  EXPECT_THAT(cluster_.deleted, Contains(HasSubstr("delete services --selector=rharness-drill=d")));
}

TEST_F(ClusterOfTwo, RemovesTheServiceWhenItIsCancelled) {
  cluster_.minor = "30";
  Submit();
  stop_ = true;
  (void)After(std::chrono::seconds(2));
  EXPECT_THAT(cluster_.deleted, Contains(HasSubstr("delete services --selector=rharness-drill=d")));
}

TEST_F(ClusterOfTwo, NeedsNoServiceWhereTheServerIsOld) {
  Submit();
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1-0"));
  EXPECT_THAT(cluster_.services, IsEmpty());
  Finish();
  ASSERT_EQ(After(std::chrono::minutes(1)).size(), 1U);
  EXPECT_THAT(cluster_.deleted, Not(Contains(HasSubstr("services"))));
}

TEST_F(ClusterOfTwo, RemovesThePodGroupThatItsTemplateAskedForAlsoAsAnotherProcess) {
  const auto site = ReadFile(folder() / "site.json");
  ASSERT_TRUE(site.ok());
  std::string text = *site;
  text.insert(1, R"("metadata": {"annotations": {"rharness-pod-groups": "volcano"}}, )");
  ASSERT_TRUE(WriteFileAtomic(folder() / "site.json", text).ok());
  Submit();
  ASSERT_TRUE(WriteFileAtomic(folder() / "site.json", *site).ok()) << "it says so no more";
  Make();
  Submit();
  Finish();
  ASSERT_EQ(After(std::chrono::minutes(1)).size(), 1U);
  EXPECT_THAT(cluster_.deleted, Contains(HasSubstr("delete podgroups.scheduling.volcano.sh "
                                                   "--selector=rharness-drill=d")));
}

// As 1.30 answers where Volcano is not installed.
TEST_F(ClusterOfTwo, SaysInTheServersWordsThatItHasNoPodGroups) {
  cluster_.refusal =
      "error: resource mapping not found for name: \"rharness-d-1-0\" namespace: \"\" from "
      "\"jobs.json\": no matches for kind \"PodGroup\" in version "
      "\"scheduling.volcano.sh/v1beta1\"\nensure CRDs are installed first\n";
  Submit();
  const auto ends = After(std::chrono::seconds(30));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kCutShort);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("no matches for kind \"PodGroup\""));
}

TEST_F(ClusterOfTwo, SaysWithinAMinuteThatOneOfItsPodsFitsNowhere) {
  Submit();
  cluster_.pods =
      Running("p0", "n1") + "," +
      Pod("p1", "",
          answers::Unschedulable(
              "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."));
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kCutShort);
  EXPECT_THAT(ends[0].evidence.obstacle,
              HasSubstr("the run needs 2 nodes, and the scheduler finds no node for p1"));
  EXPECT_THAT(cluster_.deleted.at(0), HasSubstr("delete jobs rharness-d-1-0"));
}

// What the Job makes in its place finds the number taken, and the Job ends the others.
TEST_F(ClusterOfTwo, NamesThePodThatSomebodyDeletedWithItsNode) {
  Submit();
  cluster_.pods = Running("p0", "n1") + "," + Running("p1", "n2");
  EXPECT_TRUE(After(std::chrono::minutes(1)).empty());
  const std::string again = Pod(
      "p2", "n2",
      answers::ContainerStatus("Failed", R"("terminated": {"exitCode": 6, "reason": "Error"})"));
  cluster_.pods = Running("p0", "n1") + "," + again;
  EXPECT_TRUE(After(std::chrono::seconds(6)).empty());
  cluster_.pods = again;
  Finish(OutcomeKind::kCancelled);
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("its pod p1 on n2 is gone"));
}

// A node of a gang that is silent is avoided, whichever of its pods is there.
TEST_F(ClusterOfTwo, AvoidsTheNodeThatDoesNotAnswer) {
  Submit();
  const std::string silent =
      Pod("p1", "n2",
          answers::ContainerStatus("Running", R"("running": {})",
                                   R"(, "conditions": [{"type": "Ready", "status": "False"}])"));
  cluster_.pods = Running("p0", "n1") + "," + silent;
  const auto ends = After(std::chrono::minutes(5));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("its node does not answer on n2"));
  attempt_.ticket.attempt = 2;
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_THAT(*ReadFile(folder() / "drill/dispatch/2/jobs.json"), HasSubstr("[\"n2\"]"));
}

}  // namespace
}  // namespace rharness
