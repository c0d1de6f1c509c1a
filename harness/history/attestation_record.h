// A row of the history's signed verdicts.
#ifndef RHARNESS_HARNESS_HISTORY_ATTESTATION_RECORD_H_
#define RHARNESS_HARNESS_HISTORY_ATTESTATION_RECORD_H_

#include <string>

#include "harness/base/clock.h"

namespace rharness {

// That a verdict was signed, and by which key.
struct AttestationRecord {
  std::string drill_id;  // as VerdictRecord has it
  std::string run_id;
  std::string keyid;
  std::string statement_sha256;  // of the signed statement
  WallTime attested{};
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_ATTESTATION_RECORD_H_
