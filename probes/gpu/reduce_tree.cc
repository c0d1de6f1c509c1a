// Trees by following the kernels' loops.
#include "probes/gpu/reduce_tree.h"

#include <fmt/format.h>

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

// Lane i takes lane i + offset, for offset = count / 2, ..., 1; returns what lane 0 has.
int Fold(Adder* adder, std::vector<int> lanes) {
  for (std::size_t offset = lanes.size() / 2; offset > 0; offset /= 2) {
    for (std::size_t i = 0; i < offset; ++i) lanes[i] = adder->Add(lanes[i], lanes[i + offset]);
  }
  return lanes[0];
}

}  // namespace

Result<SumTree> RowsTree(int n) {
  if (n < 256 || n % 256 != 0) {
    return InvalidInput(fmt::format("{} summands; expected a multiple of 256", n));
  }
  Adder adder(n);
  std::vector<int> warps;
  for (int warp = 0; warp < 8; ++warp) {
    std::vector<int> lanes;
    for (int thread = 32 * warp; thread < 32 * warp + 32; ++thread) {
      int sum = thread;
      for (int i = thread + 256; i < n; i += 256) sum = adder.Add(sum, i);
      lanes.push_back(sum);
    }
    warps.push_back(Fold(&adder, lanes));
  }
  Fold(&adder, warps);
  return adder.Build();
}

Result<SumTree> SerialTree(int n) {
  Adder adder(n);
  int sum = 0;
  for (int i = 1; i < n; ++i) sum = adder.Add(sum, i);
  return adder.Build();
}

}  // namespace rharness
