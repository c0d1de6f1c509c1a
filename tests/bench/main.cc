// rharness-bench: measures every row and prints one table.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <regex>
#include <string>
#include <string_view>

#include "harness/base/files.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

std::vector<Row> AllRows() {
  std::vector<Row> rows;
  for (const auto& family :
       {HashRows(), FormatRows(), TensorRows(), RerunRows(), DrillRows(), InsideRows(),
        ObserveRows(), RecordRows(), ObjectiveRows(), AuditRows(), GrowthRows()})
    rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

void PrintLine(std::string_view id, std::string_view what, std::string_view ours,
               std::string_view peer, std::string_view ratio, std::string_view goal,
               std::string_view result) {
  fmt::print("{:4} {:44} {:26} {:37} {:>9} {:>10}  {}\n", id, what, ours, peer, ratio, goal,
             result);
  std::fflush(stdout);
}

void PrintRow(const Row& row, const Result<Measured>& measured) {
  const std::string unit = row.unit.empty() ? "" : " " + row.unit;
  const std::string goal =
      row.goal == Goal::kReported
          ? "-"
          : fmt::format("{} {:g}{}", row.goal == Goal::kAtMost ? "<=" : ">=", row.limit, unit);
  if (!measured.ok()) {
    return PrintLine(row.id, row.what, "-", "-", "-", goal,
                     "skipped: " + measured.error().ToString());
  }
  const bool met =
      row.goal == Goal::kAtMost ? measured->value <= row.limit : measured->value >= row.limit;
  const std::string_view result = row.goal == Goal::kReported ? "reported"
                                  : met                       ? "met"
                                                              : "not met";
  const std::string note = measured->note.empty() ? "" : " (" + measured->note + ")";
  PrintLine(row.id, row.what, measured->ours, measured->peer,
            fmt::format("{:.{}f}{}", measured->value, row.unit == "MiB" ? 1 : 3, unit), goal,
            std::string(result) + note);
}

int ShowUsage() {
  fmt::print(stderr, "usage: rharness-bench [--filter REGEX] [--rounds N]  (N from 1 to 99)\n");
  return 2;
}

// Any text; false if it is no regular expression.
bool SetFilter(const char* text, std::regex* filter) {
  try {
    *filter = std::regex(text);
    return true;
  } catch (const std::regex_error&) {
    return false;
  }
}

bool Matches(const Row& row, const std::regex& filter) {
  return std::regex_search(row.id + " " + row.what + " " + row.inside, filter);
}

int Main(int argc, char** argv) {
  std::regex filter;
  Context context;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 >= argc || (flag != "--filter" && flag != "--rounds")) return ShowUsage();
    if (flag == "--filter") {
      if (!SetFilter(argv[i + 1], &filter)) return ShowUsage();
    } else {
      context.rounds = std::atoi(argv[i + 1]);
      if (context.rounds < 1 || context.rounds > 99) return ShowUsage();
    }
  }
  CatchInterrupts();
  const auto scratch = ScopedTempDir::Make("rharness-bench-");
  if (!scratch.ok()) {
    fmt::print(stderr, "rharness-bench: {}\n", scratch.error().ToString());
    return 4;
  }
  context.scratch = scratch->path();
  context.bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  PrintLine("id", "what", "ours", "peer", "ratio", "goal", "");
  for (const Row& row : AllRows()) {
    if (!Matches(row, filter)) continue;
    const Result<Measured> measured = row.measure(context);
    if (InterruptingSignal() != 0) break;
    PrintRow(row, measured);
  }
  const int signal = InterruptingSignal();
  if (signal != 0) fmt::print(stderr, "rharness-bench: interrupted by signal {}\n", signal);
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace
}  // namespace rharness::bench

int main(int argc, char** argv) { return rharness::bench::Main(argc, argv); }
