// Rows F1 to F3: what it costs to reveal an order of addition, as counts and beside the published
// algorithm written plainly in Python on NumPy.
#include <fmt/format.h>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

constexpr char kLog2Terms[] = "14";

// One pivot, the smallest summand of each group, against all others of the group; groups by the
// number of leaves under the meeting point (Xie et al., USENIX ATC 2025, algorithm 3). The same
// questions of NumPy's own sum, whose order our C++ sum has.
constexpr char kPublished[] = R"(
import sys
import numpy as np
n = 2**int(sys.argv[1])
x = np.ones(n, dtype=np.float32)
asked = 0
todo = [list(range(n))]
while todo:
    group = todo.pop()
    pivot = group[0]
    x[pivot] = 2.0**127
    by_leaves = {}
    for other in group[1:]:
        x[other] = -2.0**127
        by_leaves.setdefault(n - int(x.sum()), []).append(other)
        x[other] = 1.0
        asked += 1
    x[pivot] = 1.0
    todo.extend(part for part in by_leaves.values() if len(part) > 1)
print("probes", asked)
)";

std::string Reveal(const Context& context) { return (context.bin / "rharness-reveal").string(); }

Result<Measured> Share(const Context& context, const std::string& name) {
  ASSIGN_OR_RETURN(const auto numbers, NumbersOf(context, {Reveal(context), "counts"}));
  return Measured{numbers.at(name), fmt::format("{:.3f} of the bound", numbers.at(name)),
                  "the bound", "largest of the test set, n up to 16,384"};
}

Result<Measured> Questions(const Context& context) { return Share(context, "probes"); }
Result<Measured> Launches(const Context& context) { return Share(context, "launches"); }

Result<Measured> AgainstPublished(const Context& context) {
  const std::vector<std::string> ours = {Reveal(context), "sum", kLog2Terms};
  const std::vector<std::string> peer = {"/usr/bin/python3", "-c", kPublished, kLog2Terms};
  const std::vector<std::string> import = {"/usr/bin/python3", "-c", "import numpy"};
  ASSIGN_OR_RETURN(const auto our_numbers, NumbersOf(context, ours));
  ASSIGN_OR_RETURN(const auto peer_numbers, NumbersOf(context, peer));
  ASSIGN_OR_RETURN(const auto usages, Interleave({ours, peer, import}, context.rounds));
  const double our_seconds = MedianCpu(usages[0]);
  const double peer_seconds = MedianCpu(usages[1]) - MedianCpu(usages[2]);
  return Measured{
      our_seconds / peer_seconds,
      fmt::format("{:.0f} ms, {:.0f} sums", our_seconds * 1e3, our_numbers.at("probes")),
      fmt::format("NumPy {:.0f} ms, {:.0f} sums", peer_seconds * 1e3, peer_numbers.at("probes")),
      "C++ sum against np.sum, of one order; Python's start and import taken off"};
}

}  // namespace

std::vector<Row> OrderRows() {
  return {
      {"F1", "questions / ((n/2) log2 n + 2n)", Goal::kAtMost, 1.0, "", Questions},
      {"F2", "launches / ((2 log2 n + 4) n/batch)", Goal::kAtMost, 1.0, "", Launches},
      {"F3", "revealing a sum of 16,384, CPU", Goal::kAtMost, 0.5, "", AgainstPublished},
  };
}

}  // namespace rharness::bench
