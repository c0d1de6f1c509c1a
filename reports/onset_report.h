// Where two runs part, from all their kept data: "rharness.onset/v1".
//
// Role: a noun with every number and sentence in it; harness/experiments/onset fills it, a Document
// of it has every format.
#ifndef RHARNESS_REPORTS_ONSET_REPORT_H_
#define RHARNESS_REPORTS_ONSET_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/traces/call_onset.h"
#include "compare/traces/onset.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/member_facts.h"
#include "reports/document.h"

namespace rharness {

// A kept checkpoint, one of those whose names differ in one number.
enum class CheckpointState { kEqual, kDiffers, kOnlyA, kOnlyB, kNotCompared };
inline constexpr NameTable<CheckpointState, 5> kCheckpointStateNames = {
    {{CheckpointState::kEqual, "equal"},
     {CheckpointState::kDiffers, "differs"},
     {CheckpointState::kOnlyA, "only_a"},
     {CheckpointState::kOnlyB, "only_b"},
     {CheckpointState::kNotCompared, "not_compared"}}};
struct OnsetCheckpoint {
  std::string name;
  std::int64_t number = 0;
  CheckpointState state = CheckpointState::kNotCompared;
};

// Of the first checkpoint that differs.
struct OnsetTensor {
  std::string name;
  std::uint64_t elements = 0;  // 0: only digests were at hand
  std::uint64_t differing = 0;
  double max_abs = 0.0;   // NaN: not known
  double relative = 0.0;  // norm of the difference over the larger norm; NaN: not known
  std::uint64_t max_ulp = 0;
};

struct OnsetReport {
  std::string a;  // what was given
  std::string b;
  std::string version;
  WallTime made{};
  std::string headline;  // one sentence
  std::string next;
  std::vector<std::string> reasons;
  bool traced = false;
  Onset traces;                              // where they were
  std::optional<CallOnset> calls;            // where both have their operators
  std::vector<OnsetCheckpoint> checkpoints;  // by number
  std::vector<OnsetTensor> tensors;          // differing ones, in the named order
  std::string tensor_order;                  // in words
  std::vector<CurveComparison> curves;       // recorded ones, of both sides
  std::vector<std::string> notes;
  int exit_code = 3;  // 0: the place where they part is named; 3: it is not
};

Json ToJson(const OnsetReport& report);
// The step in network order, and the distance of the runs by step.
Document DocumentOf(const OnsetReport& report);
// Each record of the origin's step as a cell: equal, origin, handed on. Empty without any.
std::string SvgOnsetStrip(const Onset& onset, std::string_view id);
// Relative distances of parameters, outputs and loss by step, on a log axis. Empty if nothing
// differs.
std::string SvgOnsetGrowth(const Onset& onset, std::string_view id);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_ONSET_REPORT_H_
