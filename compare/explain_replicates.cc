// Causes that further runs speak for.
#include "compare/explain_rules.h"

namespace rharness {

void AnotherSeed(const ExplainInput& in, CauseList* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.kind != CurveKind::kLoss || curve.differing == 0) continue;
    if (curve.basis == "rounding" && curve.state == CurveState::kWithin) {
      out->Add(CausePlace::kPattern,
               {"rounding",
                Layer::kEnvironment,
                Strength::kLikely,
                "The smallest change carries this training as far: another order of addition "
                "is enough (another kernel, library or device).",
                {curve.message},
                "rerun in the recorded environment, one library put back at a time"});
      return;
    }
    if (curve.basis != "replicates" || curve.state == CurveState::kBeyond) continue;
    if (curve.nature == DifferenceNature::kRounding) continue;
    out->Add(CausePlace::kPattern,
             {"another_seed",
              Layer::kRandomness,
              Strength::kPossible,
              "B differs from A about as further runs differ among themselves: another seed, "
              "or operations that are not deterministic.",
              {curve.message},
              "compare the seeds of both runs; rerun A twice with its seed"});
    return;
  }
}

}  // namespace rharness
