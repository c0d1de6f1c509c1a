// The schemas against what the writers write, so that neither moves alone.
#include <gtest/gtest.h>

#include <limits>

#include "reports/comparison_report.h"
#include "reports/model.h"
#include "reports/schemas.h"
#include "tests/reports/sample_comparison.h"
#include "tests/reports/sample_report.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

TEST(ReportSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = ReportSchema();
  Report report = SampleReport();
  report.runs[3].metrics[0].reruns.push_back(std::numeric_limits<double>::quiet_NaN());
  report.runs[2].layers[2].differences[0].recorded = std::nullopt;
  report.last_success = report.started;
  for (const Report& each : {report, EmptyReport()}) {
    Validator(schema).Check(ToJson(each), schema, "$");
  }
}

TEST(ComparisonSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = ComparisonSchema();
  for (const ComparisonSet& set : {RichComparison(), IdenticalComparison(), EmptyComparison(),
                                   InconclusiveComparison(), PairsComparison(95)}) {
    const Json json = ToJson(set);
    const char* form = json.Find("comparisons") == nullptr ? "single" : "set";
    Validator(schema).Check(json, *schema.Find("$defs")->Find(form), "$");
  }
}

}  // namespace
}  // namespace rharness
