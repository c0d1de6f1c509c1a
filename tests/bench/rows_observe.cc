// Rows O1 and O2: what it costs to look at a training: while it runs, beside the bare training; at
// its beginning and end, beside the same recording that does not look (--no-observe).
//
// The CPU time of the same products differs by several percent from run to run on a shared machine,
// which would hide what O1 asks. So the training is run once as it is, and then with its products
// left out: it opens the same files at the same times and waits in between, and what the recording
// adds to that is some milliseconds beside some. What products and their observer do to each
// other's caches is in the first two minutes alone, which the row shows.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr double kTrainingSeconds = 60;
constexpr int kTrial = 400;  // steps
constexpr int kShortRounds = 15;
// Products on one thread, as a training has them, with a batch from one of 64 files at each step;
// with a number of seconds behind the steps, that long a wait at each instead of the products.
constexpr char kTrainingOfAMinute[] = R"py(
import json, os, sys, time
import numpy as np
for name in range(64):
    if not os.path.exists(f"batch-{name}.bin"):
        np.random.default_rng(name).random((64, 256), dtype=np.float32).tofile(f"batch-{name}.bin")
weights = np.random.default_rng(1).random((256, 256), dtype=np.float32)
pace = float(sys.argv[2]) if len(sys.argv) > 2 else None
start = time.perf_counter()
for step in range(int(sys.argv[1])):
    batch = np.fromfile(f"batch-{step % 64}.bin", dtype=np.float32).reshape(64, 256)
    if pace is not None:
        time.sleep(max(0.0, start + (step + 1) * pace - time.perf_counter()))
        continue
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

// The training's arguments.
using Training = std::vector<std::string>;

Training Whole(int steps) { return {std::to_string(steps)}; }
Training Paced(int steps, double seconds) {
  return {std::to_string(steps), fmt::format("{}", seconds)};
}

Command Train(const fs::path& folder, const Training& training) {
  Command command = {"env", "-C", folder.string(), "OPENBLAS_NUM_THREADS=1", kPython, "train.py"};
  command.insert(command.end(), training.begin(), training.end());
  return command;
}

Command Recorded(const Context& context, const fs::path& folder, const Training& training,
                 bool observed) {
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
  command.insert(command.end(), {"--", kPython, "train.py"});
  command.insert(command.end(), training.begin(), training.end());
  return command;
}

// As many steps as take a minute here.
Result<int> StepsOfAMinute(const Context& context, const fs::path& folder) {
  ASSIGN_OR_RETURN(const auto numbers, NumbersOf(context, Train(folder, Whole(kTrial))));
  return std::max(kTrial, static_cast<int>(kTrial * kTrainingSeconds / numbers.at("seconds")));
}

Result<Measured> DuringAMinute(const Context& context) {
  RETURN_IF_ERROR(CheckPython());
  ASSIGN_OR_RETURN(const fs::path folder, MakeTraining(context));
  ASSIGN_OR_RETURN(const int steps, StepsOfAMinute(context, folder));
  const Training whole = Whole(steps);
  const Training paced = Paced(steps, kTrainingSeconds / steps);
  ASSIGN_OR_RETURN(const auto minutes,
                   Interleave({Recorded(context, folder, whole, true), Train(folder, whole)}, 1));
  ASSIGN_OR_RETURN(const auto rounds,
                   Interleave({Recorded(context, folder, paced, true), Train(folder, paced)},
                              std::min(context.rounds, 3)));
  const double minute = MedianCpu(minutes[1]);
  std::vector<double> added;  // to the CPU time of a minute, by round
  for (std::size_t i = 0; i < rounds[0].size(); ++i) {
    added.push_back((rounds[0][i].cpu_seconds - rounds[1][i].cpu_seconds) / minute);
  }
  const auto [least, most] = std::ranges::minmax(added);
  return Measured{
      1 + Median(added), fmt::format("{:.2f} s", minute * (1 + Median(added))),
      fmt::format("bare {:.2f} s", minute),
      fmt::format("{:.4f} to {:.4f} in {} rounds with the products left out; with them once {:.4f}",
                  1 + least, 1 + most, added.size(), MedianCpu(minutes[0]) / minute)};
}

// A run that ends at once: beginning and end are all there is.
Result<Measured> AtItsEnd(const Context& context) {
  RETURN_IF_ERROR(CheckPython());
  ASSIGN_OR_RETURN(const fs::path folder, MakeTraining(context));
  const auto usages = Interleave(
      {Recorded(context, folder, Whole(64), true), Recorded(context, folder, Whole(64), false)},
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
