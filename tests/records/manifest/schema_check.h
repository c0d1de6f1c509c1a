// JSON Schemas against what is written and read: each described member, each required one.
#ifndef RHARNESS_TESTS_RECORDS_MANIFEST_SCHEMA_CHECK_H_
#define RHARNESS_TESTS_RECORDS_MANIFEST_SCHEMA_CHECK_H_

#include <functional>
#include <set>
#include <string>

#include "harness/base/json.h"

namespace rharness {

Json LoadSchemaFile(const std::string& path);

// Every member of `record` is described by the schema.
void ExpectDescribed(const Json& schema, const Json& record);

// Without a member the record is accepted exactly if the schema does not require that; more than
// `least` members must have been tried.
void ExpectSameRequirements(const Json& schema, const Json& record,
                            const std::function<bool(const Json&)>& accepts, int least = 50);

// The properties that have no description.
void CollectDescribed(const Json& node, std::set<std::string>* missing);

// By Python's jsonschema: 0 valid, 1 invalid, 77 no validator here.
int Validate(const std::string& schema, const Json& json);
int ValidateBy(const Json& schema, const Json& json);

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_MANIFEST_SCHEMA_CHECK_H_
