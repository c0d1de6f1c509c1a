// One MLPerf training result: events in, a run out.
#include "compare/results/mllog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "compare/results/mllog_evaluations.h"
#include "compare/results/mllog_lines.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMaxSettings = 1024;
constexpr std::size_t kMaxSeeds = std::size_t{1} << 16;  // each rank may log its own
constexpr std::size_t kMaxNameBytes = 1024;

using Settings = std::map<std::string, std::string>;

// Besides opt_*.
constexpr std::array<std::string_view, 6> kHyperparameterKeys = {
    "max_sequence_length", "lora_alpha", "lora_rank", "vocab_size", "dropout", "precision"};
constexpr std::array<std::string_view, 4> kContextKeys = {
    "gradient_accumulation_steps", "eval_samples", "max_steps", "epoch_count"};
constexpr std::array<std::string_view, 2> kTargetKeys = {"target_accuracy", "quality_target"};

template <std::size_t n>
bool IsOneOf(std::string_view key, const std::array<std::string_view, n>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// One spelling for equal numbers; numbers that are no double keep theirs.
std::string Spell(const Json& value) {
  if (value.kind() == Json::Kind::kString) return value.AsString();
  // + 0.0 turns -0 into 0.
  if (value.kind() == Json::Kind::kDouble) return fmt::format("{}", *value.ToDouble() + 0.0);
  return value.Dump();
}

class Parser {
 public:
  explicit Parser(std::string_view file) : evaluations_(file) { run_.file = std::string(file); }

  Status Take(const MllogEvent& event) {
    const std::string_view key = event.key;
    if (key == "submission_benchmark") return TakeName(event, &run_.benchmark);
    if (key == "submission_org") return TakeName(event, &run_.organisation);
    if (key == "submission_platform") return TakeName(event, &run_.platform);
    if (key == "global_batch_size") return TakeBatchSize(event);
    if (key == "train_batch_size") train_batch_size_ = event.value->ToInt64();
    if (key == "seed") return TakeSeed(event);
    if (key == "run_start") return TakeStart(event);
    if (key == "run_stop") return TakeStop(event);
    if (key == "eval_accuracy" || key == "eval_error") {
      return stopped_ ? Status() : evaluations_.Take(event);
    }
    if (IsOneOf(key, kTargetKeys)) run_.target = event.value->ToDouble();
    if (key.starts_with("opt_") || IsOneOf(key, kHyperparameterKeys)) {
      return TakeSetting(event, &run_.hyperparameters);
    }
    if (IsOneOf(key, kContextKeys)) return TakeSetting(event, &run_.context);
    return {};
  }

  Result<MllogRun> Finish() {
    UseTrainBatchSize();
    RETURN_IF_ERROR(CheckRequired());
    NameMissing();
    run_.unit = Unit();
    ASSIGN_OR_RETURN(run_.curves, evaluations_.Curves(run_.unit));
    if (run_.status == MllogStatus::kSuccess) {
      ASSIGN_OR_RETURN(const double at, ConvergedAt(run_.unit));
      if (at == 0.0) return InvalidInput("the target was reached before any training", run_.file);
      run_.converged_at = at;
      if (run_.benchmark == kStableDiffusion && evaluations_.Has(ConvergenceUnit::kSteps)) {
        ASSIGN_OR_RETURN(run_.converged_at_step, ConvergedAt(ConvergenceUnit::kSteps));
      }
    }
    return std::move(run_);
  }

 private:
  Error Bad(const MllogEvent& event, std::string message) const {
    return InvalidInput(std::move(message), MllogPlace(run_.file, event.line));
  }

  Status TakeName(const MllogEvent& event, std::string* name) const {
    if (event.value->kind() != Json::Kind::kString || event.value->AsString().empty() ||
        event.value->AsString().size() > kMaxNameBytes) {
      return Bad(event,
                 fmt::format("{}: expected a string of 1 to {} bytes", event.key, kMaxNameBytes));
    }
    if (!name->empty() && *name != event.value->AsString()) {
      return Bad(event, fmt::format("{} was logged before with another value", event.key));
    }
    *name = event.value->AsString();
    return {};
  }

  Status TakeBatchSize(const MllogEvent& event) {
    const std::optional<std::int64_t> size = event.value->ToInt64();
    if (!size || *size <= 0 || *size >= kBatchSizeLimit) {
      return Bad(event, fmt::format("global_batch_size: expected a whole number in [1, {})",
                                    kBatchSizeLimit));
    }
    if (run_.global_batch_size != 0 && run_.global_batch_size != *size) {
      return Bad(event, fmt::format("global_batch_size is {} here and was {} before", *size,
                                    run_.global_batch_size));
    }
    run_.global_batch_size = *size;
    return {};
  }

  // Minigo logs the size of its training batch by this name, and no other.
  void UseTrainBatchSize() {
    const bool usable = train_batch_size_ && *train_batch_size_ > 0 &&  //
                        *train_batch_size_ < kBatchSizeLimit;
    if (run_.global_batch_size == 0 && usable) run_.global_batch_size = *train_batch_size_;
  }

  Status TakeSeed(const MllogEvent& event) {
    if (event.value->IsNull()) return {};
    std::string seed = Spell(*event.value);
    if (seed.size() > kMaxNameBytes) {
      return Bad(event, fmt::format("a seed over {} bytes", kMaxNameBytes));
    }
    if (!seeds_.insert(seed).second) return {};
    if (run_.seeds.size() >= kMaxSeeds) {
      return Bad(event, fmt::format("more than {} seeds", kMaxSeeds));
    }
    run_.seeds.push_back(std::move(seed));
    return {};
  }

  Status TakeSetting(const MllogEvent& event, Settings* settings) const {
    std::string value = Spell(*event.value);
    if (event.key.size() > kMaxNameBytes || value.size() > kMaxNameBytes) {
      return Bad(event, fmt::format("a setting over {} bytes", kMaxNameBytes));
    }
    const auto [at, is_new] = settings->try_emplace(event.key, value);
    if (!is_new && at->second != value) {
      return Bad(event, fmt::format("{} was logged before with another value", event.key));
    }
    if (settings->size() > kMaxSettings) {
      return Bad(event, fmt::format("more than {} settings", kMaxSettings));
    }
    return {};
  }

  Status TakeStart(const MllogEvent& event) {
    if (started_) return Bad(event, "a second run_start; expected one run in a file");
    started_ = true;
    start_ms_ = event.time_ms;
    return {};
  }

  Status TakeStop(const MllogEvent& event) {
    if (!started_) return Bad(event, "run_stop before run_start");
    if (stopped_) return Bad(event, "a second run_stop; expected one run in a file");
    const Json* status = event.metadata->Find("status");
    if (status == nullptr || status->kind() != Json::Kind::kString) {
      return Bad(event, "run_stop: expected a string metadata.status");
    }
    stopped_ = true;
    run_.status = status->AsString() == "success" ? MllogStatus::kSuccess : MllogStatus::kAborted;
    if (start_ms_ && event.time_ms && *start_ms_ >= 0 && *event.time_ms >= *start_ms_) {
      run_.run_seconds = static_cast<double>(*event.time_ms - *start_ms_) / 1000.0;
    }
    return {};
  }

  Status CheckRequired() const {
    std::vector<std::string_view> absent;
    if (run_.benchmark.empty()) absent.emplace_back("submission_benchmark");
    if (run_.global_batch_size == 0) absent.emplace_back("global_batch_size");
    if (!started_) absent.emplace_back("run_start");
    if (absent.empty()) return {};
    return InvalidInput(fmt::format("not an MLPerf result: no {}", fmt::join(absent, ", no ")),
                        run_.file);
  }

  void NameMissing() {
    if (run_.seeds.empty()) run_.missing.emplace_back("seed");
    if (run_.organisation.empty()) run_.missing.emplace_back("submission_org");
    if (run_.platform.empty()) run_.missing.emplace_back("submission_platform");
    if (run_.hyperparameters.empty()) run_.missing.emplace_back("opt_*");
    if (!stopped_) run_.missing.emplace_back("run_stop");
    if (evaluations_.empty()) run_.missing.emplace_back("eval_accuracy or eval_error");
  }

  // As in the rules, except for logs of Stable Diffusion that count steps alone; if no rule names
  // the benchmark, samples if every evaluation has them.
  ConvergenceUnit Unit() const {
    const MlperfBenchmark* benchmark = FindMlperfBenchmark(run_.benchmark);
    const bool samples = evaluations_.Has(ConvergenceUnit::kSamples);
    if (run_.benchmark == kStableDiffusion && !samples &&
        evaluations_.Has(ConvergenceUnit::kSteps)) {
      return ConvergenceUnit::kSteps;
    }
    if (benchmark != nullptr) return benchmark->unit;
    return samples ? ConvergenceUnit::kSamples : ConvergenceUnit::kEpochs;
  }

  Result<double> ConvergedAt(ConvergenceUnit unit) const {
    if (run_.benchmark == kStableDiffusion) return FirstPassingBoth(unit);
    if (evaluations_.empty()) {
      return InvalidInput("run_stop says success, but no evaluation was logged before it",
                          run_.file);
    }
    return evaluations_.Last(unit);
  }

  Result<double> FirstPassingBoth(ConvergenceUnit unit) const {
    ASSIGN_OR_RETURN(const auto evaluations, evaluations_.LastValues(unit));
    for (const auto& [position, values] : evaluations) {
      bool fid = false, clip = false;
      for (const auto& [name, value] : values) {
        if (name.ends_with("/FID")) fid = value <= kLargestFid;
        if (name.ends_with("/CLIP")) clip = value >= kSmallestClip;
      }
      if (fid && clip) return position;
    }
    return InvalidInput("run_stop says success, but at no evaluation do FID and CLIP both pass",
                        run_.file);
  }

  MllogRun run_;
  MllogEvaluations evaluations_;
  std::set<std::string> seeds_;
  std::optional<std::int64_t> train_batch_size_;
  bool started_ = false;
  bool stopped_ = false;
  std::optional<std::int64_t> start_ms_;
};

}  // namespace

std::string_view MllogStatusName(MllogStatus status) {
  switch (status) {
    case MllogStatus::kSuccess:
      return "success";
    case MllogStatus::kAborted:
      return "aborted";
    case MllogStatus::kIncomplete:
      break;
  }
  return "incomplete";
}

Result<MllogRun> ParseMllog(std::string_view text, std::string_view file) {
  Parser parser(file);
  RETURN_IF_ERROR(
      ForEachMllogEvent(text, file, [&](const MllogEvent& event) { return parser.Take(event); }));
  return parser.Finish();
}

Result<MllogRun> LoadMllog(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  return ParseMllog(text, path.string());
}

}  // namespace rharness
