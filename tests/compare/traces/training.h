// Traces of a training of two layers, as a PyTorch hook sees it, and differences planted in them.
#ifndef RHARNESS_TESTS_COMPARE_TRACES_TRAINING_H_
#define RHARNESS_TESTS_COMPARE_TRACES_TRAINING_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/traces/onset.h"

namespace rharness {

// A tensor whose bits are `bits` and whose values are about `size`, off by `off` of that.
inline TraceRecord Tensor(std::int64_t step, TraceKind kind, const std::string& name) {
  TraceRecord record{.step = step, .kind = kind, .name = name, .shape = {8, 64}};
  record.dtype = "float32";
  record.digest = "sha256:" + name + std::to_string(step);
  record.norm = record.max = 1.0;
  record.sketch = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  return record;
}

// fc1, relu as a function, fc2 with dropout in front; a step as a PyTorch hook sees it.
inline Trace Training(std::vector<std::int64_t> steps) {
  Trace trace{.path = "t", .ended = true};
  for (const std::int64_t step : steps) {
    const auto add = [&](TraceKind kind, const std::string& name) {
      trace.records.push_back(Tensor(step, kind, name));
      trace.records.back().order = static_cast<std::int64_t>(trace.records.size());
    };
    add(TraceKind::kRng, "torch");
    add(TraceKind::kSetting, "optimizer.0.lr");
    trace.records.back().value = "0.1";
    for (const char* name : {"fc1.weight", "fc2.weight"}) add(TraceKind::kParameter, name);
    add(TraceKind::kBuffer, "norm.running_mean");
    add(TraceKind::kState, "fc1.weight.momentum");
    add(TraceKind::kBatch, "");
    for (const char* name : {"fc1", "norm", "drop", "fc2"}) {
      add(TraceKind::kInput, name);
      add(TraceKind::kOutput, name);
      trace.records.back().random = std::string(name) == "drop";
    }
    add(TraceKind::kOutput, "");
    add(TraceKind::kLoss, "loss");
    for (const char* name : {"", "fc2", "drop", "norm", "fc1"})
      add(TraceKind::kOutputGradient, name);
    for (const char* name : {"fc2.weight", "fc1.weight"}) add(TraceKind::kGradient, name);
    for (const char* name : {"fc1.weight", "fc2.weight"}) add(TraceKind::kUpdated, name);
  }
  return trace;
}

// Makes this record another one, and everything after it, but what never depends on it.
inline Trace PlantedAt(Trace trace, std::int64_t step, TraceKind kind, const std::string& name,
                       double distance = 1e-7) {
  bool found = false;
  for (TraceRecord& record : trace.records) {
    found = found || (record.step == step && record.kind == kind && record.name == name);
    const bool input = record.kind == TraceKind::kBatch || record.kind == TraceKind::kRng ||
                       record.kind == TraceKind::kSetting;
    const bool later = record.step > step || record.kind > TraceKind::kBatch;
    const bool itself = record.kind == kind && record.name == name;
    if (!found || (input && !itself) || (!itself && !later)) continue;
    record.digest += "'";
    record.sketch[0] += distance;
    if (itself && kind == TraceKind::kBatch) record.norm += distance;
  }
  EXPECT_TRUE(found);
  return trace;
}

inline Onset Between(const Trace& a, const Trace& b) { return FindOnset({a}, {b}); }

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_TRACES_TRAINING_H_
