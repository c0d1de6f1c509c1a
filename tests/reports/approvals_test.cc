// What takes two people, as text and as JSON: retirements, lists of what is deleted.
#include <gmock/gmock.h>

#include "reports/retention_report.h"
#include "reports/retirements_report.h"
#include "reports/schemas.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

RetentionReport Rich() {
  return {.history = "runs.db",
          .policy = "policy.yaml",
          .list = {.root = "/srv/runs",
                   .policy_sha256 = std::string(64, 'e'),
                   .items = {{"a\x1b[31m.bin",
                              3 << 20,
                              std::string(64, 'c'),
                              "weights",
                              {"a", "b"},
                              "old",
                              "nothing"}}},
          .kept_runs = {{"c", "mlp", "held"},
                        {"d", "mlp", "held"},
                        {"e", "mlp", "young"},
                        {"f", "mlp", "held"},
                        {"g", "mlp", "held"}},
          .kept_files = {{"a", "x.bin", "is data of run d"}}};
}

void CheckSchema(const Json& schema, const Json& json) {
  Validator(schema).Check(json, schema, "$");
}

TEST(RetentionText, SaysWhatGoesWhyAndWhatIsKept) {
  const std::string text = WriteTerminal(Rich());
  EXPECT_THAT(text, HasSubstr("3.0 MiB, weights of a, b\n  why   old\n  lost  nothing\n"));
  EXPECT_THAT(text, HasSubstr("5 runs kept:\n  c, d, f and 1 more: held\n  e: young\n"));
  EXPECT_THAT(text, HasSubstr("  x.bin of a: is data of run d\n"));
  EXPECT_THAT(text, HasSubstr("1 file below /srv/runs would be deleted, 3.0 MiB."));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_EQ(WriteTerminal(RetentionReport()), "Nothing would be deleted.\n");
}

TEST(ApprovalSchemas, DescribeExactlyWhatIsWritten) {
  CheckSchema(RetentionSchema(), ToJson(Rich()));
  CheckSchema(DeletionListSchema(), ToJson(Rich().list));
  DeletionTold told{.list_sha256 = std::string(64, 'a')};
  told.state = DeletionState::kDoubtful;
  told.doubt = "why";
  told.ended_by = "Ada";
  CheckSchema(DeletionsSchema(), ToJson(std::vector<DeletionTold>{told}));
  RetirementTold retired{.run_id = "a"};
  retired.state = RetirementState::kDoubtful;
  retired.statement_sha256 = "5e";
  retired.expires = retired.ended = retired.asked = WallTime{};
  retired.doubt = "why";
  CheckSchema(RetirementsSchema(), ToJson(std::vector<RetirementTold>{retired}));
}

}  // namespace
}  // namespace rharness
