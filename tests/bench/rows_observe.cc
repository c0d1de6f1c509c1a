// Rows O1 and O2: what it costs to look at a training: while it runs, beside the bare training; at
// its beginning and end, beside the same recording that does not look (--no-observe).
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr char kPython[] = "/usr/bin/python3";
constexpr double kTrainingSeconds = 60;
constexpr int kTrial = 400;  // steps
constexpr int kShortRounds = 15;
// Products on one thread, as a training has them, with a batch from one of 64 files at each step.
constexpr char kTrainingOfAMinute[] = R"py(
import json, os, sys, time
import numpy as np
for name in range(64):
    if not os.path.exists(f"batch-{name}.bin"):
        np.random.default_rng(name).random((64, 256), dtype=np.float32).tofile(f"batch-{name}.bin")
weights = np.random.default_rng(1).random((256, 256), dtype=np.float32)
start = time.perf_counter()
for step in range(int(sys.argv[1])):
    batch = np.fromfile(f"batch-{step % 64}.bin", dtype=np.float32).reshape(64, 256)
    for _ in range(4):
        out = np.tanh(batch @ weights)
        weights -= 1e-4 * (batch.T @ out)
with open("metrics.json", "w") as file:
    json.dump({"metrics": {"loss": float(weights.sum())}}, file)
print("seconds", time.perf_counter() - start)
)py";

// Debian's, which python3-numpy is of.
Status CheckPython() {
  const auto imported = RunChild({kPython, "-c", "import numpy"});
  return imported.ok() ? Status() : Unsupported("python3-numpy is not installed");
}

Result<fs::path> MakeTraining(const Context& context) {
  const fs::path folder = context.scratch / "observed";
  std::error_code error;
  fs::create_directories(folder, error);
  std::ofstream(folder / "train.py") << kTrainingOfAMinute;
  if (!fs::exists(folder / "train.py")) return IoError("cannot write", folder.string());
  return folder;
}

Command Train(const fs::path& folder, int steps) {
  return {"env",   "-C",       folder.string(),      "OPENBLAS_NUM_THREADS=1",
          kPython, "train.py", std::to_string(steps)};
}

Command Recorded(const Context& context, const fs::path& folder, int steps, bool observed) {
  Command command = {"env",
                     "-C",
                     folder.string(),
                     "OPENBLAS_NUM_THREADS=1",
                     (context.bin / "rharness").string(),
                     "--quiet",
                     "record",
                     "--overwrite",
                     "--out",
                     "run.json",
                     "--run-id",
                     "run",
                     "--family",
                     "f",
                     "--code-file",
                     "train.py",
                     "--metrics",
                     "metrics.json",
                     "--metric",
                     "loss,direction=lower,primary,margin=1",
                     "--seed",
                     "x=1"};
  if (!observed) command.push_back("--no-observe");
  command.insert(command.end(), {"--", kPython, "train.py", std::to_string(steps)});
  return command;
}

// As many steps as take a minute here.
Result<int> StepsOfAMinute(const Context& context, const fs::path& folder) {
  ASSIGN_OR_RETURN(const auto numbers, NumbersOf(context, Train(folder, kTrial)));
  return std::max(kTrial, static_cast<int>(kTrial * kTrainingSeconds / numbers.at("seconds")));
}

// Of each round, what the first command took of what this one did.
std::vector<double> Ratios(const std::vector<std::vector<Usage>>& usages, std::size_t of) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < usages[0].size(); ++i) {
    ratios.push_back(usages[0][i].cpu_seconds / usages[of][i].cpu_seconds);
  }
  return ratios;
}

Result<Measured> DuringAMinute(const Context& context) {
  RETURN_IF_ERROR(CheckPython());
  ASSIGN_OR_RETURN(const fs::path folder, MakeTraining(context));
  ASSIGN_OR_RETURN(const int steps, StepsOfAMinute(context, folder));
  ASSIGN_OR_RETURN(const auto usages,
                   Interleave({Recorded(context, folder, steps, true),
                               Recorded(context, folder, steps, false), Train(folder, steps)},
                              std::min(context.rounds, 3)));
  const std::vector<double> ratios = Ratios(usages, 2);
  const auto [least, most] = std::ranges::minmax(ratios);
  return Measured{Median(ratios), fmt::format("{:.2f} s", MedianCpu(usages[0])),
                  fmt::format("bare {:.2f} s, not observed {:.2f} s", MedianCpu(usages[2]),
                              MedianCpu(usages[1])),
                  fmt::format("{:.3f} to {:.3f} in {} rounds; beside --no-observe {:.3f}", least,
                              most, ratios.size(), Median(Ratios(usages, 1)))};
}

// A run that ends at once: beginning and end are all there is.
Result<Measured> AtItsEnd(const Context& context) {
  RETURN_IF_ERROR(CheckPython());
  ASSIGN_OR_RETURN(const fs::path folder, MakeTraining(context));
  const auto usages =
      Interleave({Recorded(context, folder, 64, true), Recorded(context, folder, 64, false)},
                 std::max(context.rounds, kShortRounds));
  if (!usages.ok()) return usages.error();
  const double ours = ShortestWall((*usages)[0]) * 1000, peer = ShortestWall((*usages)[1]) * 1000;
  return Measured{ours - peer, fmt::format("{:.0f} ms", ours),
                  fmt::format("not observed {:.0f} ms", peer),
                  fmt::format("start and end; the shortest of {} rounds; CPU {:.0f} and {:.0f} ms",
                              (*usages)[0].size(), MedianCpu((*usages)[0]) * 1000,
                              MedianCpu((*usages)[1]) * 1000)};
}

}  // namespace

std::vector<Row> ObserveRows() {
  return {
      {"O1", "a training of a minute, observed, CPU", Goal::kAtMost, 1.03, "", DuringAMinute},
      {"O2", "observing a run that ends at once, wall", Goal::kAtMost, 50, "ms", AtItsEnd},
  };
}

}  // namespace rharness::bench
