// A drill's folder in, a signed statement of each of its verdicts out.
//
// Role: the effects around verdict_statement.h and envelope.h. Before signing, the report is
// checked against the drill's other records: each rerun's evidence and logs against the journal,
// kept files against the evidence, each verdict against the history. Not here: trust
// (verification.h).
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_DRILL_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_DRILL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/attestation/attest_state.h"
#include "harness/trust/attestation/signer.h"
#include "harness/verdict/verdict.h"

namespace rharness {

struct AttestedFile {
  std::string run_id;
  Verdict verdict = Verdict::kInconclusive;
  std::filesystem::path path;
  AttestState state = AttestState::kWritten;
};

struct AttestRequest {
  std::filesystem::path drill;
  std::string history;        // URL; empty: the report's
  std::filesystem::path out;  // empty: "attestations" in the drill's folder
};

// OUT/RUN.verdict.intoto.jsonl for each run of the drill, of one line. Every statement is made and
// signed before the first is written, each file atomically; a repetition changes nothing, and with
// another key it adds that key's signature. Then it enters them into the history. Errors:
// not_found, io, invalid_input (no drill, a drill without runs, an existing file with another
// statement); integrity if report, journal, evidence and history disagree (writes nothing then);
// the signer's.
Result<std::vector<AttestedFile>> AttestDrill(const AttestRequest& request, Signer* signer);

// "RUN.verdict.intoto.jsonl". Source: in-toto/attestation, spec/v1/bundle.md.
std::string AttestationName(std::string_view run_id);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_DRILL_H_
