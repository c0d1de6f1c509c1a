// A server of 1.30: reruns that need the same are indexes of one Job, which end each for itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/execution/dispatch/cluster_that_fails.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ClusterOfIndexes : public ClusterThatFails {
 protected:
  void SetUp() override {
    ClusterThatFails::SetUp();
    cluster_.minor = "30";
    ASSERT_TRUE(dispatcher_->Adopt().ok());
    other_ = attempt_;
    other_.index = 1;
    other_.ticket.manifest.run_id = "s";
    ASSERT_TRUE(dispatcher_->Submit({attempt_, other_}).ok());
  }
  static std::string PodAt(const std::string& index, const std::string& status) {
    return answers::Pod(
        {.name = "rharness-d-1-" + index + "-x2x9q",
         .job = "rharness-d-1",
         .index = "",
         .metadata =
             R"(, "annotations": {"batch.kubernetes.io/job-completion-index": ")" + index + "\"}",
         .status = status});
  }
  static std::string Running() { return answers::ContainerStatus("Running", R"("running": {})"); }
  Attempt other_;
};

TEST_F(ClusterOfIndexes, HandsOneJobOverForAllThatNeedTheSame) {
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1"));
  const std::string jobs = *ReadFile(folder() / "drill/dispatch/1/jobs.json");
  EXPECT_THAT(jobs, HasSubstr(R"("completions": 2)"));
  EXPECT_THAT(jobs, HasSubstr("/dispatch/1/$(JOB_COMPLETION_INDEX)/ticket.json"));
}

TEST_F(ClusterOfIndexes, TriesOneAgainWhileTheOthersGoOn) {
  cluster_.pods = PodAt("0", Running()) + "," + PodAt("1", answers::kPreempted);
  const auto lost = After(std::chrono::minutes(2));
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].index, 1U);
  EXPECT_EQ(lost[0].kind, AttemptEnd::Kind::kPreempted) << lost[0].evidence.obstacle;
  EXPECT_THAT(cluster_.deleted, IsEmpty()) << "the Job is the other one's, too";
  other_.ticket.attempt = 2;
  ASSERT_TRUE(dispatcher_->Submit({other_}).ok());
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1", "rharness-d-2"));
  Finish();
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].index, 0U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kFinal) << ends[0].evidence.obstacle;
  ASSERT_EQ(cluster_.deleted.size(), 1U);
  EXPECT_THAT(cluster_.deleted[0], HasSubstr("rharness-batch in (1)"));
}

// A pod that never starts is taken off the server; its Job stays, for the others.
TEST_F(ClusterOfIndexes, TakesThePodOfOneAwayThatCannotStart) {
  cluster_.pods = PodAt("0", Running()) + "," + PodAt("1", answers::kPullBackOff);
  const auto ends = After(std::chrono::minutes(2));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].index, 1U);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("is not available on n1"));
  EXPECT_THAT(cluster_.deleted, ElementsAre(HasSubstr("delete pods rharness-d-1-1-x2x9q")));
}

TEST_F(ClusterOfIndexes, IsFoundAgainByAnotherProcess) {
  Make();
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_, other_}).ok());
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1")) << "nothing is handed over twice";
  cluster_.pods = PodAt("0", Running()) + "," + PodAt("1", Running());
  Finish();
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].index, 0U);
}

}  // namespace
}  // namespace rharness
