// A dispatcher on a scripted cluster, with one attempt to hand over.
#ifndef RHARNESS_TESTS_EXECUTION_DISPATCH_CLUSTER_THAT_FAILS_H_
#define RHARNESS_TESTS_EXECUTION_DISPATCH_CLUSTER_THAT_FAILS_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/execution/dispatch/kubernetes_dispatcher.h"
#include "harness/execution/rerun/end_marker.h"
#include "tests/execution/dispatch/scripted_cluster.h"

namespace rharness {

class ClusterThatFails : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScopedTempDir::Make();
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    ASSERT_TRUE(WriteFileAtomic(folder() / "site.json",
                                R"({"kind": "PodTemplate", "template": {"spec": {"containers": [{
                                    "image": "localhost/base:1",
                                    "volumeMounts": [{"mountPath": ")" +
                                    folder().string() + "\"}]}]}}}")
                    .ok());
    Make();
    Ticket ticket{.drill_id = "d", .launcher = "host"};
    ticket.manifest.run_id = "r";
    ticket.manifest.command = {"true"};
    attempt_ = {0, ticket};
  }
  void Make(bool by_log = false) {
    client_ = std::make_unique<KubernetesClient>(
        std::vector<std::string>(), [this](const ProcessSpec& spec) { return cluster_(spec); });
    dispatcher_ = std::make_unique<KubernetesDispatcher>(
        KubernetesOptions{.folder = folder() / "drill",
                          .drill_id = "d",
                          .program = "/rharness",
                          .pod_template = folder() / "site.json",
                          .evidence_in_log = by_log},
        client_.get(), &clock_, std::function<Status(const RerunStep&)>(),
        [this] { return stop_; });
  }
  std::filesystem::path folder() const { return folder_->path(); }
  std::filesystem::path task() const { return folder() / "drill/dispatch/1/0"; }
  // What has ended after so much time on the clock.
  std::vector<AttemptEnd> After(std::chrono::seconds time) {
    const auto until = clock_.Monotonic() + time;
    while (clock_.Monotonic() < until) {
      auto ends = dispatcher_->Wait(std::chrono::milliseconds(100));
      EXPECT_TRUE(ends.ok());
      if (!ends.ok() || !ends->empty()) return ends.ok() ? *ends : std::vector<AttemptEnd>();
      clock_.SleepFor(std::chrono::milliseconds(100));
    }
    return {};
  }
  static std::string PodOf(const std::string& status, const std::string& metadata = "") {
    return answers::Pod({.job = "rharness-d-1-0", .metadata = metadata, .status = status});
  }
  // The task leaves its evidence, as `rharness rerun` does.
  void Finish(OutcomeKind outcome = OutcomeKind::kExited) {
    RerunResult result;
    result.evidence.run_id = "r";
    result.evidence.rerun = 1;
    result.evidence.attempt = 1;
    result.evidence.ticket_sha256 = TicketSha256(attempt_.ticket);
    result.evidence.outcome.kind = outcome;
    const std::filesystem::path out = task() / "out";
    ASSERT_TRUE(WriteFileAtomic(out / "claimed.json", "{}").ok());
    ASSERT_TRUE(
        WriteFileAtomic(out / "runs/r/1/evidence.json", ToJson(result.evidence).Dump(2) + "\n")
            .ok());
    ASSERT_TRUE(WriteEndMarker(out, attempt_.ticket, result).ok());
  }

  std::unique_ptr<ScopedTempDir> folder_;
  ScriptedCluster cluster_;
  FakeClock clock_;
  std::unique_ptr<KubernetesClient> client_;
  std::unique_ptr<KubernetesDispatcher> dispatcher_;
  Attempt attempt_;
  bool stop_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_DISPATCH_CLUSTER_THAT_FAILS_H_
