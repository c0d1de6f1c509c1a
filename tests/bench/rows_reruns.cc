// Rows S1 to S3: what a rerun, a spawn and a journal entry cost, beside make, GNU parallel, fork
// and a plain durable append.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "harness/base/files.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;
using Numbers = std::map<std::string, double>;

constexpr int kReruns = 100;

Result<Numbers> Overhead(const Context& context, const std::string& what,
                         const std::string& argument, int count) {
  return NumbersOf(context, {(context.bin / "rharness-overhead").string(), what, argument,
                             std::to_string(count)});
}

// As Overhead, in a folder of its own that is gone afterwards.
Result<Numbers> OverheadInFolder(const Context& context, const std::string& what, int count) {
  const fs::path folder = context.scratch / "overhead";
  RETURN_IF_ERROR(MakeDirectories(folder));
  auto numbers = Overhead(context, what, folder.string(), count);
  RETURN_IF_ERROR(RemoveTree(folder));
  return numbers;
}

// Whole programs that run /bin/true as often, one at a time; those that are installed.
Result<std::vector<Command>> TaskRunners(const Context& context) {
  std::vector<Command> commands;
  if (HasProgram("make")) {
    const fs::path makefile = context.scratch / "Makefile";
    std::ofstream file(makefile);
    file << "all:";
    for (int i = 0; i < kReruns; ++i) file << " t" << i;
    file << "\n";
    for (int i = 0; i < kReruns; ++i) file << "t" << i << ":\n\t@/bin/true\n";
    file.close();
    if (!file) return IoError("cannot write", makefile.string());
    commands.push_back({"make", "-s", "-f", makefile.string()});
  }
  if (HasProgram("parallel")) {
    Command parallel = {"parallel", "--will-cite", "-j1", "/bin/true", ":::"};
    for (int i = 0; i < kReruns; ++i) parallel.push_back(std::to_string(i));
    commands.push_back(std::move(parallel));
  }
  return commands;
}

Result<Measured> RerunOverhead(const Context& context) {
  ASSIGN_OR_RETURN(const std::vector<Command> runners, TaskRunners(context));
  std::vector<double> reruns;
  std::vector<double> syncs;
  std::vector<std::vector<Usage>> usages(runners.size());
  for (int round = 0; round < context.rounds; ++round) {
    ASSIGN_OR_RETURN(const Numbers ours, OverheadInFolder(context, "reruns", kReruns));
    ASSIGN_OR_RETURN(const Numbers floor, OverheadInFolder(context, "syncs", kReruns));
    reruns.push_back(ours.at("rerun"));
    syncs.push_back(floor.at("syncs"));
    for (std::size_t i = 0; i < runners.size(); ++i) {
      ASSIGN_OR_RETURN(const Usage usage, RunChild(runners[i]));
      usages[i].push_back(usage);
    }
  }
  std::string peers;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    peers += fmt::format("{}{} {:.2f}", peers.empty() ? "" : ", ", runners[i][0],
                         MedianWall(usages[i]) * 1000 / kReruns);
  }
  const double ours = Median(reruns);
  return Measured{ours, fmt::format("{:.2f} ms", ours),
                  peers.empty() ? "neither make nor parallel" : peers + " ms",
                  fmt::format("{:.2f} ms are its 6 file syncs", Median(syncs))};
}

Result<Measured> SpawnWithMemory(const Context& context) {
  constexpr int kSpawns = 101;
  constexpr std::uint64_t kMebibytes = 4096;
  const std::uint64_t free = static_cast<std::uint64_t>(::sysconf(_SC_AVPHYS_PAGES)) *
                             static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (free >> 20 < kMebibytes * 5 / 4) return Unsupported("needs 5 GiB of free memory");
  std::vector<double> small;
  std::vector<double> large;
  std::vector<double> fork_small;
  std::vector<double> fork_large;
  for (int round = 0; round < context.rounds; ++round) {
    ASSIGN_OR_RETURN(const Numbers none, Overhead(context, "spawn", "0", kSpawns));
    ASSIGN_OR_RETURN(const Numbers resident,
                     Overhead(context, "spawn", std::to_string(kMebibytes), kSpawns));
    small.push_back(none.at("run_process"));
    large.push_back(resident.at("run_process"));
    fork_small.push_back(none.at("fork"));
    fork_large.push_back(resident.at("fork"));
  }
  const double fork_ratio = Median(fork_large) / Median(fork_small);
  return Measured{Median(large) / Median(small),
                  fmt::format("{:.2f} ms / {:.2f} ms", Median(large), Median(small)),
                  fmt::format("fork {:.2f} ms / {:.2f} ms", Median(fork_large), Median(fork_small)),
                  fmt::format("fork's ratio {:.1f}", fork_ratio)};
}

Result<Measured> JournalEntry(const Context& context) {
  constexpr int kEntries = 301;
  std::vector<double> ours;
  std::vector<double> peer;
  for (int round = 0; round < context.rounds; ++round) {
    ASSIGN_OR_RETURN(const Numbers numbers, OverheadInFolder(context, "journal", kEntries));
    ours.push_back(numbers.at("entry"));
    peer.push_back(numbers.at("append"));
  }
  return Measured{Median(ours) / Median(peer), fmt::format("{:.3f} ms", Median(ours)),
                  fmt::format("200 B append + fdatasync {:.3f} ms", Median(peer)), ""};
}

}  // namespace

std::vector<Row> RerunRows() {
  return {
      {"S1", "overhead of a rerun, wall", Goal::kAtMost, 2.0, "ms", RerunOverhead},
      {"S2", "spawn with 4 GiB resident / none, wall", Goal::kAtMost, 1.2, "", SpawnWithMemory},
      {"S3", "journal entry, wall", Goal::kAtMost, 1.3, "", JournalEntry},
  };
}

}  // namespace rharness::bench
