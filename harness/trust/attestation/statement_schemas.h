// The JSON Schemas of signed statements, each in the frame of in-toto.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_SCHEMAS_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_SCHEMAS_H_

#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_schema.h"

namespace rharness {

Json RetirementSchema();
Json WithdrawalSchema();
Json DeletionSchema();
Json EndorsementSchema();

// All of them, by the name of the file.
std::vector<NamedSchema> StatementSchemas();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_SCHEMAS_H_
