// Which metrics decide.
#include "harness/judge/decide_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rharness {
namespace {

// Names of those that decide, of a record with and without seeds.
std::vector<std::string> Deciding(std::vector<Metric> metrics, bool seeds) {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.family = "f";
  manifest.metrics = std::move(metrics);
  if (seeds) manifest.seeds = {{"numpy", 1}};
  Evidence evidence;
  evidence.run_id = "r";
  evidence.rerun = 1;
  evidence.outcome.kind = OutcomeKind::kExited;
  for (const Metric& metric : manifest.metrics) {
    evidence.metrics.metrics[metric.name] = metric.value;
  }
  const auto decided = DecideMetrics({ComparedRunOf(manifest, {evidence})}, Family({manifest}));
  std::vector<std::string> names;
  for (const MetricDecision& decision : decided.runs.front()) {
    if (decision.primary) names.push_back(decision.name);
  }
  return names;
}

TEST(DecideMetrics, AMetricWithAStatedMarginDecidesBesideAPrimaryOne) {
  for (const bool seeds : {true, false}) {
    const auto names =
        Deciding({{.name = "accuracy", .value = 0.9, .primary = true, .margin = 0.01},
                  {.name = "f1", .value = 0.9, .margin = 0.01},
                  {.name = "recall", .value = 0.9}},
                 seeds);
    EXPECT_EQ(names, (std::vector<std::string>{"accuracy", "f1"})) << seeds;
  }
}

// Then curves decide; a metric that happens to stay the same must not take their place.
TEST(DecideMetrics, WithoutAPrimaryOneNoneDecides) {
  for (const bool seeds : {true, false}) {
    EXPECT_TRUE(Deciding({{.name = "accuracy", .value = 0.5, .margin = 0.01}}, seeds).empty());
  }
}

}  // namespace
}  // namespace rharness
