// The kinds of sources, in the order in which they are asked.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/base/shell_word.h"
#include "harness/records/intake/importers.h"

namespace rharness {
namespace {

constexpr std::array<SourceKind, 10> kKinds = {{
    {"record",
     "reproducibility records: JSON or JSON Lines with run_id, code.git_sha, container, data, "
     "seeds",
     IsPlainRecord, ImportPlainRecords},
    {"mlflow", "MLflow: mlruns/, a server's SQLite file, or its URL (http://, https://)", IsMlflow,
     ImportMlflow},
    {"wandb", "Weights & Biases: wandb/, or run-*/ and offline-run-*/ in it", IsWandb, ImportWandb},
    {"dvc", "DVC: a repository's dvc.lock and experiments, each stage with outputs a run", IsDvc,
     ImportDvc},
    {"clearml", "ClearML: offline sessions (offline-*/ or offline-*.zip), or a folder of them",
     IsClearml, ImportClearml},
    {"trainer", "Hugging Face Trainer: folders with trainer_state.json", IsTrainer, ImportTrainer},
    {"tensorboard", "TensorBoard: folders with event files, a run each: curves", IsTensorboard,
     ImportTensorboard},
    {"mlperf", "MLPerf result logs, with the descriptions of their systems", IsMlperf,
     ImportMlperf},
    {"megatron", "golden values of Megatron's tests: curves", IsMegatron, ImportMegatron},
    {"ro-crate", "RO-Crates of runs: folders with ro-crate-metadata.json", IsRoCrate,
     ImportRoCrate},
}};

}  // namespace

std::span<const SourceKind> SourceKinds() { return kKinds; }

Result<const SourceKind*> FindSourceKind(std::string_view name, const std::string& source) {
  const auto found = std::ranges::find_if(kKinds, [&](const SourceKind& kind) {
    return name.empty() ? kind.recognises(source) : kind.name == name;
  });
  if (found != kKinds.end()) return &*found;
  std::string names;
  for (const SourceKind& kind : kKinds) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  }
  if (!name.empty()) {
    return InvalidInput(fmt::format("there is no kind '{}'; the kinds are {}", name, names),
                        "--from");
  }
  std::error_code error;
  if (source.find("://") == source.npos && !std::filesystem::exists(source, error)) {
    return NotFound("there is no such file or folder", source);
  }
  if (const auto database = std::filesystem::absolute(source, error).parent_path() / "mlflow.db";
      IsMlflow(database.string())) {
    return InvalidInput(
        fmt::format("holds no runs; those of MLflow are in the database beside it: rharness import "
                    "--from mlflow {}",
                    ShellWord(database.string())),
        source);
  }
  return InvalidInput(
      fmt::format("holds no records that can be imported; expected one of {} (--from says which)",
                  names),
      source);
}

std::vector<const SourceKind*> OtherKindsIn(const std::string& source, const SourceKind& taken) {
  std::vector<const SourceKind*> others;
  bool behind = false;
  for (const SourceKind& kind : kKinds) {
    if (behind && kind.recognises(source)) others.push_back(&kind);
    behind |= kind.name == taken.name;
  }
  return others;
}

}  // namespace rharness
