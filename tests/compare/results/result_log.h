// Writes MLPerf logs for tests, and runs and groups from them.
#ifndef RHARNESS_TESTS_COMPARE_RESULTS_RESULT_LOG_H_
#define RHARNESS_TESTS_COMPARE_RESULTS_RESULT_LOG_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/results/result_group.h"

namespace rharness {

// One line; value and metadata are JSON.
inline std::string LogLine(std::string_view key, std::string_view value,
                           std::string_view metadata = "{}", int time_ms = 0) {
  return fmt::format(
      ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"POINT_IN_TIME\", "
      "\"key\": \"{}\", \"value\": {}, \"metadata\": {}}}\n",
      time_ms, key, value, metadata);
}

inline std::string EvalLine(double position, std::string_view value,
                            std::string_view position_key = "epoch_num") {
  return LogLine("eval_accuracy", value, fmt::format("{{\"{}\": {}}}", position_key, position));
}

struct LogSpec {
  std::string benchmark = "retinanet";
  int batch_size = 256;
  int seed = 1;
  std::string learning_rate = "0.0001";
  std::string position_key = "epoch_num";
  std::vector<std::pair<double, double>> evaluations = {{1, 0.25}, {2, 0.3}, {3, 0.35}};
  std::string status = "success";  // empty: no run_stop
};

inline std::string WriteLog(const LogSpec& spec) {
  std::string log = "some other text\n";
  log += LogLine("submission_benchmark", "\"" + spec.benchmark + "\"");
  log += LogLine("submission_org", "\"Org\"") + LogLine("submission_platform", "\"Box\"");
  log += LogLine("global_batch_size", fmt::format("{}", spec.batch_size));
  log += LogLine("seed", fmt::format("{}", spec.seed));
  log += LogLine("opt_base_learning_rate", spec.learning_rate);
  log += LogLine("gradient_accumulation_steps", "1");
  log += LogLine("run_start", "null", "{}", 60'000);
  for (const auto& [position, value] : spec.evaluations) {
    log += EvalLine(position, fmt::format("{}", value), spec.position_key);
  }
  if (!spec.status.empty()) {
    log += LogLine("run_stop", "null", "{\"status\": \"" + spec.status + "\"}", 660'000);
  }
  return log;
}

inline MllogRun MakeRun(const LogSpec& spec) {
  auto run = ParseMllog(WriteLog(spec), fmt::format("result_{}.txt", spec.seed));
  EXPECT_TRUE(run.ok()) << run.error().ToString();
  return *run;
}

inline ResultGroup MakeGroup(const std::string& name, const std::vector<LogSpec>& specs) {
  std::vector<MllogRun> runs;
  for (const LogSpec& spec : specs) runs.push_back(MakeRun(spec));
  auto group = BuildResultGroup(name, std::move(runs));
  EXPECT_TRUE(group.ok()) << group.error().ToString();
  return *group;
}

// Runs that reach the target at these counts, evaluated every `interval`; negative: they do not
// reach it by minus that count. Seeds from first_seed on.
inline std::vector<LogSpec> RunsReaching(const std::vector<double>& counts, double interval,
                                         int first_seed, LogSpec common = {}) {
  std::vector<LogSpec> specs;
  for (const double count : counts) {
    LogSpec spec = common;
    const double last = count < 0 ? -count : count;
    spec.seed = first_seed + static_cast<int>(specs.size());
    spec.status = count < 0 ? "aborted" : "success";
    spec.evaluations.clear();
    for (const double position : {last - 2 * interval, last - interval, last}) {
      if (position > 0) spec.evaluations.emplace_back(position, 1.0 / (1.0 + position));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

inline bool HasFinding(const std::vector<Finding>& findings, std::string_view code) {
  for (const Finding& finding : findings) {
    if (finding.code == code) return true;
  }
  return false;
}

// Real records beside the source tree, or where RHARNESS_SHARED_DATA says.
inline std::filesystem::path SharedData() {
  const char* shared = std::getenv("RHARNESS_SHARED_DATA");
  if (shared != nullptr) return shared;
  return std::filesystem::path(RHARNESS_SOURCE_DIR) / ".." / "shared" / "data";
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_RESULTS_RESULT_LOG_H_
