// curve-table FOLDER | REPEATS.csv [TRIALS]: how the comparison of curves does on real records.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/compare/curves/curve_sets.h"
#include "tests/compare/curves/repeats.h"

int main(int argc, char** argv) {
  using namespace rharness;
  if (argc < 2 || argc > 3) {
    fmt::print(
        stderr,
        "usage: curve-table FOLDER, of sets of pairs (SET/PAIR/before.json, after.json)\n"
        "       curve-table REPEATS.csv [TRIALS], with columns group, run, step, val_loss\n");
    return 2;
  }
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "curve-table: {}\n", error.ToString());
    return 2;
  };
  if (std::filesystem::is_directory(argv[1])) {
    const auto sets = LoadLabelledSets(argv[1]);
    if (!sets.ok()) return fail(sets.error());
    fmt::print("{}", Print(TableOf(*sets)));
    return 0;
  }
  const auto groups = LoadRepeats(argv[1]);
  if (!groups.ok()) return fail(groups.error());
  fmt::print("{}", Print(RatesOf(*groups, argc == 3 ? std::atoi(argv[2]) : 4000)));
  return 0;
}
