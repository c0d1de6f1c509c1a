// The JSON Schemas of proofs and of the predicate of a signed head.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_PROOF_SCHEMAS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_PROOF_SCHEMAS_H_

#include "harness/base/json.h"

namespace rharness {

Json InclusionProofSchema();
Json ConsistencyProofSchema();
Json TreeHeadSchema();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_PROOF_SCHEMAS_H_
