// The JSON Schemas of what `rharness audit` prints.
#ifndef RHARNESS_HARNESS_CLI_AUDIT_SCHEMAS_H_
#define RHARNESS_HARNESS_CLI_AUDIT_SCHEMAS_H_

#include <vector>

#include "harness/base/json_schema.h"

namespace rharness {

// All of them, by the name of the file.
std::vector<NamedSchema> AuditSchemas();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_AUDIT_SCHEMAS_H_
