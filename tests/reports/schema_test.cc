// The schemas against what the writers write, so that neither moves alone.
#include <gtest/gtest.h>

#include <limits>

#include "harness/base/files.h"
#include "reports/comparison_report.h"
#include "reports/model.h"
#include "tests/reports/sample_comparison.h"
#include "tests/reports/sample_report.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

TEST(ReportSchema, DescribesExactlyWhatIsWritten) {
  const Result<Json> schema = ReadJsonFile(RHARNESS_SOURCE_DIR "/reports/report.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  Report report = SampleReport();
  report.runs[3].metrics[0].reruns.push_back(std::numeric_limits<double>::quiet_NaN());
  report.runs[2].layers[2].differences[0].recorded = std::nullopt;
  report.last_success = report.started;
  for (const Report& each : {report, EmptyReport()}) {
    Validator(*schema).Check(ToJson(each), *schema, "$");
  }
}

TEST(ComparisonSchema, DescribesExactlyWhatIsWritten) {
  const Result<Json> schema = ReadJsonFile(RHARNESS_SOURCE_DIR "/reports/comparison.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  for (const ComparisonSet& set : {RichComparison(), IdenticalComparison(), EmptyComparison(),
                                   InconclusiveComparison(), PairsComparison(95)}) {
    const Json json = ToJson(set);
    const char* form = json.Find("comparisons") == nullptr ? "single" : "set";
    Validator(*schema).Check(json, *schema->Find("$defs")->Find(form), "$");
  }
}

}  // namespace
}  // namespace rharness
