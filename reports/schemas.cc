// The table of schemas; see schemas.h.
#include "reports/schemas.h"

namespace rharness {

std::vector<NamedSchema> ReportSchemas() {
  return {{"audit_report", AuditReportSchema},
          {"comparison", ComparisonSchema},
          {"deletion_list", DeletionListSchema},
          {"deletions", DeletionsSchema},
          {"fingerprint_diff", FingerprintDiffSchema},
          {"fleet", FleetSchema},
          {"gameday", GamedaySchema},
          {"gate", GateSchema},
          {"history", HistorySchema},
          {"incident", IncidentSchema},
          {"isolation", IsolationSchema},
          {"objectives", ObjectivesSchema},
          {"onset", OnsetSchema},
          {"properties", PropertiesSchema},
          {"report", ReportSchema},
          {"retention", RetentionSchema},
          {"retirements", RetirementsSchema},
          {"runbook", RunbookSchema},
          {"sensitivity", SensitivitySchema},
          {"trends", TrendsSchema}};
}

}  // namespace rharness
