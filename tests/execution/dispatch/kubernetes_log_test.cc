// Pods that share no volume with the harness: tickets as Secrets, evidence in logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/execution/rerun/framed_files.h"
#include "harness/execution/rerun/framed_log.h"
#include "tests/execution/dispatch/cluster_that_fails.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ClusterWithoutAVolume : public ClusterThatFails {
 protected:
  void SetUp() override {
    ClusterThatFails::SetUp();
    ASSERT_TRUE(WriteFileAtomic(folder() / "site.json",
                                R"({"kind": "PodTemplate", "template": {"spec": {"containers": [{
                                    "image": "localhost/base:1"}]}}})")
                    .ok());
    Make(true);
    ASSERT_TRUE(dispatcher_->Adopt().ok());
    ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
    cluster_.pods = PodOf(answers::ContainerStatus("Running", R"("running": {})"));
    EXPECT_TRUE(After(std::chrono::seconds(20)).empty());
    Finish();  // somewhere else, as it were
    pod_folder_ = folder() / "pod";
    fs::rename(task() / "out", pod_folder_);
  }
  // What the pod prints at its end.
  std::string Framed() const {
    auto end = ReadEndMarker(pod_folder_, attempt_.ticket);
    EXPECT_TRUE(end.ok() && *end);
    const auto framed = FrameRerun(pod_folder_, attempt_.ticket, (*end)->result);
    EXPECT_TRUE(framed.ok()) << framed.error().ToString();
    return "rharness: warning: something\n" + *framed;
  }
  void EndPod() {
    cluster_.pods = PodOf(answers::ContainerStatus(
        "Succeeded", R"("terminated": {"exitCode": 0, "reason": "Completed"})"));
  }
  fs::path pod_folder_;
};

TEST_F(ClusterWithoutAVolume, HandsTheTicketOverAsASecret) {
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1-0"));
  EXPECT_THAT(cluster_.secrets, HasSubstr(R"("name":"rharness-d-1-0")"));
  const auto secret = ParseJson(cluster_.secrets, "secret");
  ASSERT_TRUE(secret.ok());
  const auto json = ParseJson(TextAt(*secret, {"stringData", "ticket.json"}), "ticket");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(TicketSha256(*ParseTicket(*json, "ticket")), TicketSha256(attempt_.ticket));
  const std::string jobs = *ReadFile(folder() / "drill/dispatch/1/jobs.json");
  EXPECT_THAT(jobs, HasSubstr("\"--to-log\""));
  EXPECT_THAT(jobs, HasSubstr("\"secretName\": \"rharness-d-1-0\""));
}

TEST_F(ClusterWithoutAVolume, BringsEvidenceHomeInTheLogOfThePod) {
  cluster_.log = Framed();
  EXPECT_TRUE(After(std::chrono::seconds(20)).empty()) << "not before its end";
  EXPECT_EQ(cluster_.calls["logs"], 0);
  EndPod();
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kFinal) << ends[0].evidence.obstacle;
  EXPECT_TRUE(LoadEvidence(folder() / "drill/runs/r/1/evidence.json").ok());
  ASSERT_EQ(cluster_.deleted.size(), 2U);
  EXPECT_THAT(cluster_.deleted[1], HasSubstr("delete secrets --selector=rharness-drill=d"));
}

TEST_F(ClusterWithoutAVolume, TriesAgainWhatTheLogHasNotWhole) {
  const std::string whole = Framed();
  cluster_.log = whole.substr(0, whole.size() - 20);
  EndPod();
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("log of pod"));
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("cut off"));
  EXPECT_FALSE(fs::exists(folder() / "drill/runs/r/1"));
}

TEST_F(ClusterWithoutAVolume, WaitsForALogAndThenTriesAgain) {
  EndPod();
  EXPECT_TRUE(After(std::chrono::seconds(20)).empty());
  EXPECT_GE(cluster_.calls["logs"], 1);
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("is not available: kubectl logs"));
}

// Whoever writes into the pod's log writes nothing anywhere else here.
TEST_F(ClusterWithoutAVolume, LetsALogWriteNowhereElse) {
  for (const char* path : {"runs/other/1/evidence.json", "batch.json", "runs/r/2/x"}) {
    const auto framed =
        FrameFiles(TicketSha256(attempt_.ticket), {{path, "x"}, {"ended.json", "{}"}});
    ASSERT_TRUE(framed.ok());
    const auto unpacked = UnpackRerun(*framed, attempt_.ticket, task() / "out");
    ASSERT_FALSE(unpacked.ok()) << path;
    EXPECT_EQ(unpacked.error().code, ErrorCode::kIntegrity);
    EXPECT_FALSE(fs::exists(task() / "out"));
  }
}

TEST_F(ClusterWithoutAVolume, RefusesATicketThatNoSecretHolds) {
  attempt_.index = 1;
  attempt_.ticket.manifest.run_id = "large";
  attempt_.ticket.manifest.command = {"echo", std::string(1 << 20, 'x')};
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  const auto ends = After(std::chrono::seconds(5));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].index, 1U);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("a Secret holds"));
}

}  // namespace
}  // namespace rharness
