// rharness-bench: measures every row and prints one table.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "harness/base/files.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

std::vector<Row> AllRows() {
  std::vector<Row> rows;
  for (const auto& family : {HashRows()}) rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

void PrintRow(const Row& row, const Result<Measured>& measured) {
  const std::string goal =
      fmt::format("{} {:.2f}", row.goal == Goal::kAtMost ? "<=" : ">=", row.limit);
  if (!measured.ok()) {
    fmt::print("{:4} {:>9} {:>8}  {:13} {} [{}]\n", row.id, "-", goal, "not measured", row.what,
               measured.error().ToString());
    return;
  }
  const bool met =
      row.goal == Goal::kAtMost ? measured->ratio <= row.limit : measured->ratio >= row.limit;
  fmt::print("{:4} {:9.3f} {:>8}  {:13} {}; beside: {}{}\n", row.id, measured->ratio, goal,
             met ? "met" : "not met", row.what, measured->peer,
             measured->note.empty() ? "" : " (" + measured->note + ")");
}

int Usage() {
  fmt::print(stderr, "usage: rharness-bench [--only PREFIX] [--rounds N]  (N from 1 to 99)\n");
  return 2;
}

int Main(int argc, char** argv) {
  std::string only;
  Context context;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 >= argc || (flag != "--only" && flag != "--rounds")) return Usage();
    if (flag == "--only") {
      only = argv[i + 1];
    } else {
      context.rounds = std::atoi(argv[i + 1]);
      if (context.rounds < 1 || context.rounds > 99) return Usage();
    }
  }
  const auto scratch = ScopedTempDir::Make("rharness-bench-");
  if (!scratch.ok()) {
    fmt::print(stderr, "rharness-bench: {}\n", scratch.error().ToString());
    return 4;
  }
  context.scratch = scratch->path();
  context.bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  fmt::print("{:4} {:>9} {:>8}  {:13} {}\n", "goal", "measured", "limit", "", "what");
  for (const Row& row : AllRows()) {
    if (!row.id.starts_with(only)) continue;
    PrintRow(row, row.measure(context));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace rharness::bench

int main(int argc, char** argv) { return rharness::bench::Main(argc, argv); }
