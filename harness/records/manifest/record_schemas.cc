// Builds the schemas of records; see record_schemas.h.
#include "harness/records/manifest/record_schemas.h"

#include "harness/base/member_schema.h"
#include "harness/records/manifest/evidence_members.h"
#include "harness/records/manifest/manifest_members.h"

namespace rharness {
namespace {

constexpr char kNumber[] = "A double. NaN and the infinities are spelled as strings.";

}  // namespace

Json ManifestSchema() {
  return SchemaOf<Manifest>(
      {.id = "rharness.manifest/v1",
       .title = "rharness.manifest/v1",
       .description = "Everything that must be known to run a training run again and to judge the "
                      "result. This schema is the form of a record; whether it is complete and "
                      "consistent is what `rharness check` says.",
       .example = R"({"schema": "rharness.manifest/v1", "run_id": "digits-0007", )"
                  R"("command": ["python3", "train.py", "--seed", "7"], "seeds": {"init": 7}})",
       .number = kNumber,
       .closed = true,
       .extensible = true});
}

Json EvidenceSchema() {
  return SchemaOf<Evidence>(
      {.id = "rharness.evidence/v1",
       .title = "rharness.evidence/v1",
       .description =
           "What one rerun saw and made: written by a drill, read by comparison and report.",
       .example = R"({"schema": "rharness.evidence/v1", "run_id": "digits-0007", "rerun": 1, )"
                  R"("started": "2026-11-20T09:00:00.000Z", "ended": "2026-11-20T09:01:31.250Z", )"
                  R"("outcome": {"kind": "exited", "exit_code": 0}})",
       .number = kNumber,
       .closed = true,
       .extensible = true});
}

std::vector<NamedSchema> RecordSchemas() {
  return {{"manifest", ManifestSchema}, {"evidence", EvidenceSchema}};
}

}  // namespace rharness
