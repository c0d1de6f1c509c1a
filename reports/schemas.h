// The JSON Schemas of what is written here, made from the lists of members.
//
// Role: `rharness documents --schemas` writes them for whoever installs.
#ifndef RHARNESS_REPORTS_SCHEMAS_H_
#define RHARNESS_REPORTS_SCHEMAS_H_

#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_schema.h"

namespace rharness {

Json AuditReportSchema();
Json ComparisonSchema();
Json DeletionListSchema();
Json DeletionsSchema();
Json FingerprintDiffSchema();
Json FleetSchema();
Json GamedaySchema();
Json GateSchema();
Json HistorySchema();
Json IncidentSchema();
Json IsolationSchema();
Json ObjectivesSchema();
Json OnsetSchema();
Json PropertiesSchema();
Json ReportSchema();
Json RetentionSchema();
Json RetirementsSchema();
Json RunbookSchema();
Json SensitivitySchema();
Json TrendsSchema();

// All of them, by the name of the file.
std::vector<NamedSchema> ReportSchemas();

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SCHEMAS_H_
