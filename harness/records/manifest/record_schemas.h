// The JSON Schemas of manifests and evidence, made from the lists of their members.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_SCHEMAS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_SCHEMAS_H_

#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_schema.h"

namespace rharness {

Json ManifestSchema();
Json EvidenceSchema();

// Both, by the name of the file.
std::vector<NamedSchema> RecordSchemas();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_SCHEMAS_H_
