// Row J1: records of another tool read, validated and made manifests, beside a parser that does no
// more than parse them. Row J2: event files of TensorBoard, beside its own reader. Row J3: what a
// run wrote, found in a folder of 10,000 files.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "harness/base/files.h"
#include "tests/bench/bench.h"
#include "tests/compare/curves/build_event_file.h"

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

constexpr char kAccumulate[] =
    "import sys\n"
    "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
    "for folder in sys.argv[1:]:\n"
    "    EventAccumulator(folder, size_guidance={'scalars': 0}).Reload()\n";

// Ten tags by step; returns the bytes.
Result<std::size_t> WriteEvents(const fs::path& folder) {
  constexpr std::size_t kBytes = 20'000'000;
  RETURN_IF_ERROR(MakeDirectories(folder));
  std::string text = FileHead();
  for (int step = 0; text.size() < kBytes; ++step) {
    for (int tag = 0; tag < 10; ++tag) {
      text += SimpleScalar(step, fmt::format("layer_{}/a/longer/name/loss", tag),
                           1.0F / static_cast<float>(step + tag + 1));
    }
  }
  RETURN_IF_ERROR(WriteFileAtomic(folder / "events.out.tfevents.1.host", text));
  return text.size();
}

Result<Measured> ReadEvents(const Context& context) {
  const char* peers = std::getenv("RHARNESS_PEERS");
  if (peers == nullptr) {
    return Unsupported("./dev peers installs tensorboard; set RHARNESS_PEERS to its folder");
  }
  const std::string python = fs::path(peers) / "venv/bin/python";
  const std::string a = context.scratch / "events_a", b = context.scratch / "events_b";
  ASSIGN_OR_RETURN(const std::size_t bytes, WriteEvents(a));
  ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t again, WriteEvents(b));
  // Loading Python and its modules is taken off.
  ASSIGN_OR_RETURN(const auto usages,
                   Interleave({{context.bin / "rharness", "--quiet", "compare", a, b},
                               {python, "-c", kAccumulate, a, b},
                               {python, "-c", kAccumulate}},
                              context.rounds));
  const double ours = MedianCpu(usages[0]), peer = MedianCpu(usages[1]) - MedianCpu(usages[2]);
  const double mib = 2.0 * static_cast<double>(bytes) / (1 << 20);
  return Measured{peer / ours, fmt::format("{:.0f} MiB/s", mib / ours),
                  fmt::format("EventAccumulator {:.1f} MiB/s", mib / peer),
                  "ours also compares the curves"};
}

// `record` without options of a run that does nothing, in a folder with 10,000 files and in an
// empty one.
Result<Measured> FindAmongFiles(const Context& context) {
  const fs::path full = context.scratch / "full", empty = context.scratch / "empty";
  RETURN_IF_ERROR(MakeDirectories(empty));
  for (int folder = 0; folder < 100; ++folder) {
    const fs::path at = full / fmt::format("data/{}", folder);
    RETURN_IF_ERROR(MakeDirectories(at));
    for (int i = 0; i < 100; ++i) std::ofstream(at / fmt::format("{}.jpg", i)) << i;
  }
  const auto record = [&](const fs::path& folder) -> std::vector<std::string> {
    return {
        "/bin/sh", "-c",   "cd \"$1\" && rm -rf runs && exec \"$2\" --quiet record -- /bin/true",
        "sh",      folder, context.bin / "rharness"};
  };
  ASSIGN_OR_RETURN(const auto usages, Interleave({record(full), record(empty)}, context.rounds));
  const double more = 1000 * (MedianCpu(usages[0]) - MedianCpu(usages[1]));
  return Measured{more, fmt::format("{:.0f} ms", 1000 * MedianCpu(usages[0])),
                  fmt::format("in an empty folder {:.0f} ms", 1000 * MedianCpu(usages[1])), ""};
}

}  // namespace

std::vector<Row> RecordRows() {
  return {{"J1", "100,000 records imported, rate of CPU", Goal::kAtLeast, 2.0, "", ImportRecords},
          {"J2", "event files of TensorBoard, rate of CPU", Goal::kAtLeast, 5.0, "", ReadEvents},
          {"J3", "outputs found among 10,000 files, CPU", Goal::kAtMost, 50, "ms", FindAmongFiles}};
}

}  // namespace rharness::bench
