// The text of one reproducibility record.
#include "tests/bench/micro/records_of_runs.h"

#include <fmt/format.h>

namespace rharness::bench {

std::string RecordOfRun(int i) {
  return fmt::format(
      R"({{"run_id": "run-{0}", "started": "2026-05-01T08:00:00Z", "duration_seconds": {1}, )"
      R"("code": {{"git_sha": "{2:040x}", "repo": "https://git.example/team/train.git"}}, )"
      R"("container": "registry.example/train:1@sha256:{3:064x}", )"
      R"("data": {{"train": "data/train.csv content=sha256:{4:064x}"}}, )"
      R"("hardware": {{"gpu": "H100", "gpus": 8}}, "seeds": {{"init": {0}, "data": {1}}}, )"
      R"("hyperparams": {{"lr": {5}, "batch_size": 256, "steps": 20000, "optimizer": "adamw", )"
      R"("weight_decay": 0.1, "warmup": 500}}, "metrics": {{"loss": {6}, "accuracy": {7}}}, )"
      R"("command": ["python3", "train.py", "--config", "configs/base.yaml"], )"
      R"("output_model": {{"path": "out/model.pt", "sha256": "{8:064x}"}}}})",
      i, 100 + i % 900, i + 1, i % 7 + 1, i % 5 + 1, 1e-4 * (1 + i % 9), 2.0 + i * 1e-6,
      0.5 + i * 1e-6, i + 3);
}

}  // namespace rharness::bench
