// Row J1: records of another tool read, validated and made manifests, beside a parser that does no
// more than parse them.
#include <fmt/format.h>

#include <fstream>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRecords = 100'000;

// A reproducibility record as the design names its members, about 800 bytes.
std::string Record(int i) {
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

Result<Measured> ImportRecords(const Context& context) {
  const fs::path file = context.scratch / "records.jsonl";
  {
    std::ofstream out(file);
    for (int i = 0; i < kRecords; ++i) out << Record(i) << '\n';
    if (!out.flush()) return IoError("cannot write", file.string());
  }
  const std::vector<std::string> import = {(context.bin / "rharness").string(),
                                           "--quiet",
                                           "import",
                                           "--from",
                                           "record",
                                           "--dry-run",
                                           file.string()};
  const std::vector<std::string> parse = {(context.bin / "rharness-parse").string(), file.string()};
  ASSIGN_OR_RETURN(const auto usages, Interleave({import, parse}, context.rounds));
  const double ours = MedianCpu(usages[0]), peer = MedianCpu(usages[1]);
  return Measured{peer / ours, fmt::format("{:.3f} ms", ours * 1000 / kRecords),
                  fmt::format("nlohmann alone {:.3f} ms", peer * 1000 / kRecords),
                  "of each record a manifest is made, validated and compared with what is there"};
}

}  // namespace

std::vector<Row> RecordRows() {
  return {{"J1", "100,000 records imported, rate of CPU", Goal::kAtLeast, 2.0, "", ImportRecords}};
}

}  // namespace rharness::bench
