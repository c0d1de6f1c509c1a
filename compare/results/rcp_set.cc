// Reference convergence points: files to records.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/results/mllog.h"
#include "compare/results/rcp.h"
#include "compare/results/rcp_statistics.h"
#include "compare/stats/moments.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMaxRcpBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMaxRecords = 10'000;
constexpr std::size_t kMaxCounts = 10'000;
constexpr double kMaxCount = 1e15;  // as of the positions in a log

std::string_view CountsKey(std::string_view benchmark) {
  const bool samples = benchmark == "flux1" || benchmark == "llama2_70b_lora";
  return samples ? "samples to converge" : "Epochs to converge";
}

void CheckCounts(const MlperfBenchmark& rules, std::string_view key,
                 const std::vector<double>& counts, JsonReader* reader) {
  const std::size_t trimmed = 2 * static_cast<std::size_t>(rules.rejected_each_side);
  // A test needs a degree of freedom: n_reference + (submission_runs - 2) - 2 >= 1.
  const std::size_t least = trimmed + (rules.submission_runs > 3 ? 1 : 2);
  if (counts.size() < least || counts.size() > kMaxCounts) {
    reader->Fail(fmt::format("{} counts; expected {} to {}", counts.size(), least, kMaxCounts),
                 key);
  }
  for (const double count : counts) {
    if (!(count > 0.0 && count <= kMaxCount)) {
      reader->Fail(fmt::format("a count of {}; expected a number in (0, {}]", count, kMaxCount),
                   key);
    }
  }
}

void ReadRecord(const std::string& name, JsonReader* reader, RcpSet* set) {
  std::string benchmark;
  RcpRecord record{.name = name};
  reader->Read("Benchmark", &benchmark);
  reader->Read("BS", &record.batch_size);
  if (!reader->ok()) return;
  const bool by_steps = benchmark == kStableDiffusionBySteps;
  const MlperfBenchmark* rules = FindMlperfBenchmark(by_steps ? kStableDiffusion : benchmark);
  if (rules == nullptr) return reader->Fail("a benchmark without rules", "Benchmark");
  const ConvergenceUnit unit = by_steps ? ConvergenceUnit::kSteps : rules->unit;
  if (!set->rules.name.empty() && (set->rules.name != rules->name || set->unit != unit)) {
    return reader->Fail("another benchmark than in the records before", "Benchmark");
  }
  set->rules = *rules;
  set->unit = unit;
  if (record.batch_size <= 0 || record.batch_size >= kBatchSizeLimit) {
    return reader->Fail(fmt::format("expected a batch size in [1, {})", kBatchSizeLimit), "BS");
  }
  const std::string_view key = CountsKey(benchmark);
  reader->ReadArray(key, &record.counts);
  if (!reader->ok()) return;
  CheckCounts(*rules, key, record.counts, reader);
  if (reader->ok()) set->records.push_back(std::move(record));
}

Result<RcpSet> BuildSet(const Json& json, const std::string& file) {
  if (!json.IsObject()) return InvalidInput("expected an object of records", file);
  if (json.AsObject().empty() || json.AsObject().size() > kMaxRecords) {
    return InvalidInput(fmt::format("expected 1 to {} records", kMaxRecords), file);
  }
  RcpSet set;
  for (const auto& [name, value] : json.AsObject()) {
    JsonReader reader(value, file, "$." + name);
    ReadRecord(name, &reader, &set);
    RETURN_IF_ERROR(reader.status());
  }
  std::sort(set.records.begin(), set.records.end(),
            [](const RcpRecord& a, const RcpRecord& b) { return a.batch_size < b.batch_size; });
  for (std::size_t i = 1; i < set.records.size(); ++i) {
    if (set.records[i - 1].batch_size != set.records[i].batch_size) continue;
    return InvalidInput(fmt::format("{} and {} have one batch size, {}", set.records[i - 1].name,
                                    set.records[i].name, set.records[i].batch_size),
                        file);
  }
  for (RcpRecord& record : set.records) ComputeRcpStatistics(set.rules, &record);
  PruneRcps(set.rules, &set.records);
  return set;
}

}  // namespace

Result<RcpSet> ParseRcpSet(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  return BuildSet(json, std::string(file));
}

Result<RcpSet> LoadRcpSet(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path, kMaxRcpBytes));
  return BuildSet(json, path.string());
}

Result<RcpSet> LoadRcpSetOf(const std::filesystem::path& folder, std::string_view benchmark) {
  const MlperfBenchmark* rules = FindMlperfBenchmark(benchmark);
  if (rules == nullptr) {
    return InvalidInput("expected a benchmark with rules of MLPerf", std::string(benchmark));
  }
  ASSIGN_OR_RETURN(RcpSet set, LoadRcpSet(folder / fmt::format("rcps_{}.json", rules->name)));
  if (set.rules.name == rules->name) return set;
  return InvalidInput(fmt::format("holds records of {}, not of {}", set.rules.name, rules->name),
                      folder.string());
}

VariancePrior FitRcpPrior(const RcpSet& set) {
  std::vector<double> variances;
  std::vector<double> dfs;
  for (const RcpRecord& record : set.records) {
    std::vector<double> logs = record.counts;
    for (double& value : logs) value = std::log(value);
    const stats::Moments moments = stats::ComputeMoments(logs);
    if (moments.count < 2.0) continue;
    variances.push_back(moments.Variance());
    dfs.push_back(moments.count - 1.0);
  }
  return FitVariancePrior(variances, dfs);
}

}  // namespace rharness
