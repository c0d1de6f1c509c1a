// Runs with their reruns, as the tests of the ladder put them together.
#ifndef RHARNESS_TESTS_COMPARE_RERUN_PARTS_H_
#define RHARNESS_TESTS_COMPARE_RERUN_PARTS_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compare/comparison.h"

namespace rharness::reruns {

using State = RerunEnd::State;

enum class Bits { kEqual, kDiffer };

inline CheckpointComparison Weights(Bits bits) {
  CheckpointComparison weights{.subject = "weights model.safetensors"};
  weights.difference.compared = 4;
  weights.difference.bit_equal = bits == Bits::kEqual;
  if (bits == Bits::kDiffer) {
    TensorDifference& tensor = weights.difference.differing.emplace_back();
    tensor.name = "fc1.weight";
    tensor.elements = 640;
    tensor.differing = 3;
    tensor.max_ulp = 1;
  }
  return weights;
}

inline MetricDecision Metric(MetricVerdict verdict, double p = 0.5) {
  MetricDecision metric;
  metric.name = "test_accuracy";
  metric.verdict = verdict;
  metric.history = {0.95, 0.96};
  metric.reruns = {0.94};
  metric.recorded = 0.95;
  metric.difference = -0.015;
  metric.standard_error = 0.01;
  metric.p_difference = p;
  metric.margin = 0.01;
  return metric;
}

inline Comparison RunOf(std::vector<CheckpointComparison> checkpoints, bool bitwise = false) {
  Comparison run;
  run.is_rerun = true;
  run.declared_bitwise = run.expect_bitwise = bitwise;
  run.ends = {{.index = 1, .state = State::kCompared}};
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    run.layers[i].layer = kLayers[i];
    run.layers[i].state = LayerState::kSame;
    run.layers[i].compared = 1;
  }
  run.checkpoints = std::move(checkpoints);
  return run;
}

inline Comparison Stopped(State state, std::string reason, std::optional<Layer> layer = {}) {
  Comparison run = RunOf({});
  run.ends = {{.index = 1, .state = state, .reason = std::move(reason), .layer = layer}};
  return run;
}

inline void AddDifference(Comparison* run, Layer layer, std::string key, FactWeight weight) {
  LayerComparison& comparison = run->layers[static_cast<std::size_t>(layer)];
  comparison.state = LayerState::kDiffers;
  comparison.differences.push_back({layer, std::move(key), weight, "old", "new"});
}

// Judged, with a first finding that is decisive and says something.
inline Comparison JudgedRerun(Comparison run) {
  JudgeComparison(&run);
  EXPECT_FALSE(run.findings.empty());
  if (!run.findings.empty()) {
    EXPECT_TRUE(run.findings.front().decisive);
    EXPECT_FALSE(run.findings.front().message.empty());
  }
  return run;
}

}  // namespace rharness::reruns

#endif  // RHARNESS_TESTS_COMPARE_RERUN_PARTS_H_
