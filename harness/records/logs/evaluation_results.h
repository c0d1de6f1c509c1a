// Aggregate metrics of evaluation harnesses, from the results that each writes.
//
// Role: private to this folder. One number a metric; not here: the items of an evaluation
// (compare/items).
#ifndef RHARNESS_HARNESS_RECORDS_LOGS_EVALUATION_RESULTS_H_
#define RHARNESS_HARNESS_RECORDS_LOGS_EVALUATION_RESULTS_H_

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

struct EvaluationResults {
  std::map<std::string, double> values;
  std::vector<std::string> remarks;  // one sentence each
};

// By first bytes, which may be cut off.
bool LooksLikeHarnessResults(std::string_view head);
bool LooksLikeInspectJson(std::string_view head);
bool LooksLikeInspectArchive(std::string_view head);
bool LooksLikeHelmStats(std::string_view head);

// All errors: invalid_input with `file`, and what was expected.

// Of lm-evaluation-harness: {"results": {TASK: {"METRIC,FILTER": value}}} as "TASK/METRIC", or
// "TASK/METRIC,FILTER" unless the filter is "none"; without standard errors.
Result<EvaluationResults> ParseHarnessResults(std::string_view text, const std::string& file);
// Of Inspect: {"eval": {"task"}, "results": {"scores": [{"name", "reducer", "metrics": {METRIC:
// {"value"}}}]}} as "TASK/SCORE/METRIC"; "TASK/SCORE,REDUCER/METRIC" where a score was reduced in
// several ways. An evaluation that did not succeed is a remark. Source: inspect_ai/log/_log.py of
// Inspect 0.3.285; 0.3.60 and 0.3.150 write alike.
Result<EvaluationResults> ParseInspectLog(std::string_view text, const std::string& file);
// The same of header.json in a .eval archive. Errors: also those of zip_archive.h.
Result<EvaluationResults> ReadInspectArchive(const HeldFolder& folder,
                                             const std::filesystem::path& relative,
                                             const std::string& file);
// Of HELM's stats.json: [{"name": {"name", "split", "sub_split", "perturbation": {"name"}},
// "count", "mean"}] as "METRIC/SPLIT/SUB_SPLIT/PERTURBATION" with the parts that there are: the
// mean, where the count is not 0. Source: helm/benchmark/metrics/statistic.py and metric_name.py.
Result<EvaluationResults> ParseHelmStats(std::string_view text, const std::string& file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LOGS_EVALUATION_RESULTS_H_
