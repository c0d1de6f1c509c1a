// Everything one run gathers on its way to a verdict.
//
// Role: passed between the passes of the judge; the rerunning code fills its evidence.
#ifndef RHARNESS_HARNESS_JUDGE_RUN_STATE_H_
#define RHARNESS_HARNESS_JUDGE_RUN_STATE_H_

#include <map>
#include <memory>

#include "compare/comparison.h"
#include "harness/judge/envelope.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct RunState {
  Manifest manifest;
  std::map<int, Evidence> evidence;  // by rerun, from 1
  // By number, from 1: with the smallest change planted. No verdict depends on them directly.
  std::map<int, Evidence> replicates;
  std::shared_ptr<const Envelope> envelope;  // of its configuration here; none: not measured
  std::map<int, Comparison> reruns;  // of evidence, compared and not judged; until all is judged
  Comparison merged;                 // its reruns as one, beside its siblings; not judged
  Comparison comparison;             // judged
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_RUN_STATE_H_
