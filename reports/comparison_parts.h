// What comparison.json and report.json have in common of a comparison: causes, checkpoints, curves.
//
// Role: private to reports/. Readers leave their errors in the reader that they are given; the
// vectors of a curve must have one length.
#ifndef RHARNESS_REPORTS_COMPARISON_PARTS_H_
#define RHARNESS_REPORTS_COMPARISON_PARTS_H_

#include "compare/comparison.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"

namespace rharness {

Json CauseJson(const Cause& cause);
Json CheckpointJson(const CheckpointComparison& checkpoint);
Json CurveJson(const CurveComparison& curve);
Json EndJson(const RerunEnd& end);

Cause ReadCause(JsonReader& reader);
CheckpointComparison ReadCheckpoint(JsonReader& reader);
CurveComparison ReadCurve(JsonReader& reader);
RerunEnd ReadEnd(JsonReader& reader);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_PARTS_H_
