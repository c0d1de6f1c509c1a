// Our own reductions in the manner of a GPU: lanes that stride, folded in halves.
#ifndef RHARNESS_PROBES_CPU_OWN_SUMS_H_
#define RHARNESS_PROBES_CPU_OWN_SUMS_H_

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace rharness {

inline constexpr int kLanes = 32;
inline constexpr int kBlock = 256;

// 32 strided running sums, then lane i + lane i + 16, + 8, ... as a warp's shuffles.
template <class T>
T WarpSum(std::span<const T> x) {
  std::array<T, kLanes> lanes{};
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % kLanes] += x[i];
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// A warp's sum of each block of 256, then one of the blocks' sums.
template <class T>
T BlockSum(std::span<const T> x) {
  std::vector<T> blocks;
  for (std::size_t at = 0; at < x.size(); at += kBlock) {
    blocks.push_back(WarpSum<T>(x.subspan(at, std::min<std::size_t>(kBlock, x.size() - at))));
  }
  return WarpSum<T>(blocks);
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_OWN_SUMS_H_
