// Row J2: event files of TensorBoard, beside its own reader. Row J3: what a run wrote, found in a
// folder of 10,000 files.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "harness/base/files.h"
#include "tests/bench/bench.h"
#include "tests/compare/curves/build_event_file.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;

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
  return {{"J2", "event files of TensorBoard, rate of CPU", Goal::kAtLeast, 5.0, "", ReadEvents},
          {"J3", "outputs found among 10,000 files, CPU", Goal::kAtMost, 50, "ms", FindAmongFiles}};
}

}  // namespace rharness::bench
