// A drill's verdict on one run, as a statement: predicate "urn:rharness:verdict:v1".
//
// Role: pure; a report, a manifest and the reruns' evidence in, a statement out, and back. Subjects
// are the record's checkpoints, whose bits were compared, and its manifest. The schema is
// verdict.schema.json in this folder. Not here: signing (envelope.h), trust (trust.h).
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_VERDICT_STATEMENT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_VERDICT_STATEMENT_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/attestation/statement.h"
#include "harness/verdict/verdict.h"
#include "reports/model.h"

namespace rharness {

inline constexpr char kVerdictPredicate[] = "urn:rharness:verdict:v1";

// A rerun as the drill's folder has it.
struct AttestedRerun {
  int index = 0;
  RerunEnd::State state = RerunEnd::State::kInfra;
  std::string outcome;                   // "exited with 0"
  std::string reason;                    // empty when compared
  std::string evidence_sha256;           // of evidence.json; empty: there is none
  std::vector<SignedSubject> artifacts;  // its checkpoints
};

struct AttestedLayer {
  Layer layer = Layer::kData;
  LayerState state = LayerState::kUnknown;
  std::vector<std::string> differs;  // keys of differing facts, kMostReasons at most
  std::vector<Finding> reasons;      // of this layer
};

struct AttestedVerdict {
  std::string run_id;
  std::string family;
  std::string declared;    // "bitwise" or "statistical"
  SignedSubject manifest;  // "RUN.json", as written by `rharness record` and `import`
  std::vector<SignedSubject> artifacts;
  std::vector<std::string> unproven;  // paths of recorded checkpoints that are no subjects
  std::string drill_id;
  WallTime started{};  // of the drill
  WallTime decided{};  // when it ended
  std::string report_sha256;
  std::string version;  // of rharness that drilled
  Verdict verdict = Verdict::kInconclusive;
  std::string headline;
  std::array<AttestedLayer, 5> layers;  // in the order of kLayers
  std::vector<Finding> reasons;         // of no layer
  std::size_t reasons_left_out = 0;     // beyond kMostReasons
  std::vector<AttestedRerun> reruns;
};

inline constexpr std::size_t kMostReasons = 200;  // of a statement, the decisive ones first

// The drill's, beside its runs.
struct AttestedDrill {
  const Report* report = nullptr;
  std::string report_sha256;  // of report.json
};

// `unsignable`: paths of recorded checkpoints that are no subjects.
AttestedVerdict AttestedVerdictOf(const AttestedDrill& drill, const ReportRun& run,
                                  const Manifest& manifest,
                                  const std::vector<std::string>& unsignable,
                                  std::vector<AttestedRerun> reruns);

// The tensor files of these artifacts, by their paths, with every part.
std::vector<SignedSubject> CheckpointSubjects(const std::vector<Artifact>& artifacts);

SignedStatement VerdictStatement(const AttestedVerdict& verdict);
// Errors: integrity for another predicate type, missing or mistyped members, a missing or repeated
// layer, an unknown verdict or state, a manifest that is no subject.
Result<AttestedVerdict> ReadVerdictStatement(const SignedStatement& statement,
                                             std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_VERDICT_STATEMENT_H_
