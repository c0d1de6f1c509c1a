// Trees by following the kernels' loops.
#include "probes/gpu/reduce_tree.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace rharness {
namespace {

class Adder {
 public:
  explicit Adder(int leaves) : leaves_(leaves) {}
  int Add(int a, int b) {
    inner_.push_back({a, b});
    return leaves_ + static_cast<int>(inner_.size()) - 1;
  }
  Result<SumTree> Build() { return SumTree::Build(leaves_, std::move(inner_)); }

 private:
  int leaves_;
  std::vector<std::vector<int>> inner_;
};

// Lane i takes lane i + offset, for offset = count / 2, ..., 1; returns the result of lane 0.
int Fold(Adder* adder, std::vector<int> lanes) {
  for (std::size_t offset = lanes.size() / 2; offset > 0; offset /= 2) {
    for (std::size_t i = 0; i < offset; ++i) lanes[i] = adder->Add(lanes[i], lanes[i + offset]);
  }
  return lanes[0];
}

// What each of 256 threads has that adds every 256th of `nodes`, at least 256 of them.
std::vector<int> Interleaved(Adder* adder, const std::vector<int>& nodes) {
  std::vector<int> sums(nodes.begin(), nodes.begin() + 256);
  for (std::size_t i = 256; i < nodes.size(); ++i) {
    sums[i % 256] = adder->Add(sums[i % 256], nodes[i]);
  }
  return sums;
}

// Eight warps in halves, then their sums in halves.
void FoldWarps(Adder* adder, const std::vector<int>& threads) {
  std::vector<int> warps;
  for (auto warp = threads.begin(); warp != threads.end(); warp += 32) {
    warps.push_back(Fold(adder, {warp, warp + 32}));
  }
  Fold(adder, warps);
}

}  // namespace

Result<SumTree> RowsTree(int n) {
  if (n < 256 || n % 256 != 0) {
    return InvalidInput(fmt::format("{} summands; expected a multiple of 256", n));
  }
  Adder adder(n);
  std::vector<int> leaves(static_cast<std::size_t>(n));
  std::iota(leaves.begin(), leaves.end(), 0);
  FoldWarps(&adder, Interleaved(&adder, leaves));
  return adder.Build();
}

Result<SumTree> LayerNormTree(int n) {
  if (n < 4 * 256 || n % 4 != 0) {
    return InvalidInput(fmt::format("{} summands; expected a multiple of 4, at least 1024", n));
  }
  Adder adder(n);
  std::vector<int> groups;
  for (int i = 0; i < n; i += 4) {
    const int low = adder.Add(i, i + 1), high = adder.Add(i + 2, i + 3);
    groups.push_back(adder.Add(low, high));
  }
  FoldWarps(&adder, Interleaved(&adder, groups));
  return adder.Build();
}

Result<SumTree> SoftmaxTree(int n) {
  if (n < 256) return InvalidInput(fmt::format("{} summands; expected at least 256", n));
  Adder adder(n);
  std::vector<int> leaves(static_cast<std::size_t>(n));
  std::iota(leaves.begin(), leaves.end(), 0);
  Fold(&adder, Interleaved(&adder, leaves));
  return adder.Build();
}

Result<SumTree> SerialTree(int n) {
  Adder adder(n);
  int sum = 0;
  for (int i = 1; i < n; ++i) sum = adder.Add(sum, i);
  return adder.Build();
}

}  // namespace rharness
