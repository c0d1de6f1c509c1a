// Local records of the real MLflow, wandb and Inspect as logs of a run: the points that these
// libraries read themselves.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/records/logs/run_log.h"
#include "tests/records/intake/peer_programs.h"

namespace rharness {
namespace {

class LogPeer : public PeerPrograms {
 protected:
  void Check(const std::string& library, std::size_t logs) {
    const auto read = ParseJson(RunScript("tracker_logs.py", {library}), "");
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    if (read->AsObject().empty()) GTEST_SKIP() << library << " is not installed there";
    EXPECT_EQ(read->AsObject().size(), logs);
    for (const auto& [path, metrics] : read->AsObject()) CheckLog(library, path, metrics);
  }

 private:
  static bool IsSame(double ours, const Json& theirs) {
    if (theirs.kind() != Json::Kind::kString) return ours == theirs.ToDouble();
    return theirs.AsString() == "nan" ? std::isnan(ours) : std::isinf(ours) && ours > 0;
  }

  void CheckLog(const std::string& library, const std::string& path, const Json& metrics) {
    const auto log = ReadRunLog(HeldFolder::Open(root()).value(), path, {});
    ASSERT_TRUE(log.ok()) << log.error().ToString();
    EXPECT_EQ(log->kind, library);
    const RunMetrics& ours = log->read.metrics;
    EXPECT_EQ(ours.metrics.size(), metrics.AsObject().size()) << path;
    for (const auto& [name, points] : metrics.AsObject()) {
      const Json::Array& theirs = points.AsArray();
      ASSERT_TRUE(ours.metrics.contains(name)) << path << " " << name;
      EXPECT_TRUE(IsSame(ours.metrics.at(name), theirs.back().AsArray()[1])) << path << " " << name;
      if (theirs.size() < 2) continue;
      const auto curve = std::ranges::find(ours.curves, name, &Curve::name);
      ASSERT_NE(curve, ours.curves.end()) << path << " " << name;
      ASSERT_EQ(curve->steps.size(), theirs.size()) << path << " " << name;
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        EXPECT_EQ(curve->steps[i], theirs[i].AsArray()[0].ToInt64()) << path << " " << name;
        EXPECT_TRUE(IsSame(curve->values[i], theirs[i].AsArray()[1])) << path << " " << name;
      }
    }
  }
};

TEST_F(LogPeer, OfMlflowReadsTheSamePointsOfEachLocalStore) { Check("mlflow", 3); }
TEST_F(LogPeer, OfWandbHasThePointsThatWereLogged) { Check("wandb", 1); }
TEST_F(LogPeer, OfInspectReadsTheSameAggregatesOfBothForms) { Check("inspect", 2); }

}  // namespace
}  // namespace rharness
