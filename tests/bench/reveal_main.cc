// Reveals orders of addition for the benchmark: prints lines "NAME NUMBER".
//
// usage: rharness-reveal counts      most questions and launches of the test set, as shares of the
//                                    bounds (n/2) log2 n + 2 n and (2 log2 n + 4) ceil(n / batch)
//        rharness-reveal sum LOG2N   reveals the order of an fp32 sum in NumPy's order
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "probes/cpu/reveal_case.h"
#include "probes/order/reveal.h"
#include "tests/probes/order/known_tree.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

struct Shares {
  double probes = 0.0;
  double launches = 0.0;
};

template <class Routine>
void Hold(int n, Routine routine, Shares* most) {
  constexpr int kBatch = 1024;
  const SumTree tree = routines::TreeOf(n, routine);
  KnownTree sum(tree, kBatch);
  const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
  if (!revealed.ok() || !revealed->tree || !(*revealed->tree == tree)) Abort("a wrong tree");
  const double log2n = std::log2(n);
  most->probes =
      std::max(most->probes, static_cast<double>(revealed->probes) / (n / 2.0 * log2n + 2.0 * n));
  most->launches =
      std::max(most->launches, static_cast<double>(revealed->launches) /
                                   ((2 * log2n + 4) * std::ceil(n / static_cast<double>(kBatch))));
}

void PrintCounts() {
  Shares most;
  for (const int n : {100, 1024, 16'384}) {
    Hold(
        n, [](auto x) { return routines::Sequential(x); }, &most);
    Hold(
        n, [](auto x) { return routines::Reversed(x); }, &most);
    Hold(
        n, [](auto x) { return routines::Pairwise(x); }, &most);
    for (const std::size_t k : {2U, 8U, 32U}) {
      Hold(
          n, [k](auto x) { return routines::Strided(x, k); }, &most);
      Hold(
          n, [k](auto x) { return routines::Blocks(x, k, true); }, &most);
      Hold(
          n, [k](auto x) { return routines::SplitK(x, k); }, &most);
    }
  }
  fmt::print("probes {}\nlaunches {}\n", most.probes, most.launches);
}

// NumPy's order, written for speed: eight running sums over blocks of 128, halves above.
float Block(std::span<const float> x) {
  std::array<float, 8> sums;
  std::copy_n(x.begin(), 8, sums.begin());
  for (std::size_t i = 8; i < x.size(); i += 8) {
    for (std::size_t way = 0; way < 8; ++way) sums[way] += x[i + way];
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

float NumpySum(std::span<const float> x) {
  if (x.size() <= 128) return Block(x);
  return NumpySum(x.first(x.size() / 2)) + NumpySum(x.subspan(x.size() / 2));
}

// n: a power of two, at least 8.
void PrintSum(int n) {
  FunctionSum<float> sum(n, NumpySum);
  const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
  if (!revealed.ok() || !revealed->tree) Abort("no tree");
  const auto of_numpy = routines::TreeOf(n, [](auto x) { return routines::NumpySum(x); });
  if (!(*revealed->tree == of_numpy)) Abort("not NumPy's tree");
  fmt::print("probes {}\n", revealed->probes);
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const int log2n = argc > 2 ? std::atoi(argv[2]) : 0;
  if (what == "counts") {
    rharness::PrintCounts();
  } else if (what == "sum" && log2n >= 3 && log2n <= 20) {
    rharness::PrintSum(1 << log2n);
  } else {
    fmt::print(stderr, "usage: rharness-reveal counts | sum LOG2N (3 to 20)\n");
    return 2;
  }
  return 0;
}
