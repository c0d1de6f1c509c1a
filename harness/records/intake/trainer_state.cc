// The Trainer's JSON files, member by member.
#include "harness/records/intake/trainer_state.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compare/curves/printed_number.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

struct HistoryPoints {
  std::vector<std::int64_t> steps;
  std::vector<double> values;
};

// A number, also NaN and the infinities, which Python writes bare.
std::optional<double> NumberIn(const Json& value) {
  const auto printed = value.IsNull() ? std::nullopt : PrintedOf(value);
  return printed ? std::optional(printed->value) : std::nullopt;
}

class LogHistory {
 public:
  explicit LogHistory(ImportedRun* run) : run_(run) {}

  void Take(std::size_t index, const Json& entry) {
    const std::string from = fmt::format("log_history[{}]", index);
    if (!entry.IsObject()) return run_->Remark(from + ": expected an object");
    const Json* at = entry.Find("step");
    const auto step = at == nullptr ? std::nullopt : at->ToInt64();
    // What was logged once, at the end of training.
    const bool summary = entry.Find("train_runtime") != nullptr;
    if (!step && !summary) return run_->Remark(from + ".step: expected an integer");
    ForEachMember(&entry, [&](const std::string& name, const Json& value) {
      if (name == "step" || name == "epoch") return;
      const auto number = NumberIn(value);
      if (!number) {
        return run_->Remark(fmt::format("{}.{}: expected a number, found {}", from,
                                        QuotedShort(name), value.KindName()));
      }
      if (summary) return run_->AddMetric(name, *number, Exact(from + "." + name));
      HistoryPoints& points = curves_[name];
      points.steps.push_back(*step);
      points.values.push_back(*number);
    });
  }

  void Finish() {
    for (auto& [name, points] : curves_) {
      if (name.starts_with("eval_")) {
        run_->AddMetric(name, points.values.back(),
                        Exact(fmt::format("log_history, step {}", points.steps.back())));
      }
      run_->AddCurve(name, std::move(points.steps), std::move(points.values),
                     Exact("log_history, " + name));
    }
  }

 private:
  ImportedRun* run_;
  std::map<std::string, HistoryPoints> curves_;
};

// A number, a text or a boolean; nothing for all else.
void SetScalarSetting(const std::string& name, const Json& value, const std::string& from,
                      ImportedRun* run) {
  if (IsJsonScalar(value)) run->SetHyperparameter(name, value, Exact(from));
}

}  // namespace

void AddTrainerState(const Json& state, ImportedRun* run) {
  const Json* log = state.Find("log_history");
  if (log == nullptr || !log->IsArray()) {
    run->Remark("trainer_state.json: log_history: expected an array");
  } else {
    LogHistory history(run);
    for (std::size_t i = 0; i < log->AsArray().size(); ++i) history.Take(i, log->AsArray()[i]);
    history.Finish();
  }
  for (const char* name : {"global_step", "best_metric", "total_flos"}) {
    const Json* value = state.Find(name);
    const auto number = value == nullptr ? std::nullopt : NumberIn(*value);
    if (number) run->AddMetric(name, *number, Exact(std::string("trainer_state.json ") + name));
  }
  constexpr std::array<const char*, 6> kSettings = {"max_steps",  "num_train_epochs",
                                                    "eval_steps", "logging_steps",
                                                    "save_steps", "train_batch_size"};
  for (const char* name : kSettings) {
    if (const Json* value = state.Find(name)) {
      SetScalarSetting(name, *value, std::string("trainer_state.json ") + name, run);
    }
  }
}

void AddTrainingArgs(const Json& args, const std::string& from, ImportedRun* run) {
  ForEachMember(&args, [&](const std::string& name, const Json& value) {
    const std::string place = fmt::format("{} {}", from, name);
    if (name == "seed" || name == "data_seed") {
      // Trainer gives `seed` to set_seed, which seeds Python's, NumPy's and PyTorch's generators.
      if (!value.IsNull()) run->SetSeed(name, LooseText(&value), Exact(place));
      return;
    }
    SetScalarSetting(name, value, place, run);
  });
}

void AddModelConfig(const Json& config, ImportedRun* run) {
  ForEachMember(&config, [&](const std::string& name, const Json& value) {
    if (name == "transformers_version") {
      return run->SetSoftware("transformers", LooseText(&value), Exact("config.json " + name));
    }
    SetScalarSetting("config." + name, value, "config.json " + name, run);
  });
  const Json* architectures = config.Find("architectures");
  if (architectures != nullptr && architectures->IsArray() && !architectures->AsArray().empty()) {
    run->SetFamily(
        LooseText(&architectures->AsArray().front()),
        Hint("config.json architectures", "which noise may be pooled is for you to say"));
  }
}

void AddResults(const Json& results, const std::string& from, ImportedRun* run) {
  ForEachMember(&results, [&](const std::string& name, const Json& value) {
    if (name == "epoch") return;
    if (const auto number = NumberIn(value)) {
      run->AddMetric(name, *number, Exact(fmt::format("{} {}", from, name)));
    }
  });
}

}  // namespace rharness
