// Runs the kernels of compare_kernels.cu on the host, thread by thread, barrier by barrier.
//
// Role: for tests. Within a step the threads run in either order: where results differ, threads
// race. Shared memory starts as garbage.
#ifndef RHARNESS_TESTS_BENCH_GPU_HOST_GRID_H_
#define RHARNESS_TESTS_BENCH_GPU_HOST_GRID_H_

#include <cstring>
#include <functional>
#include <vector>

#include "tests/bench/gpu/block_fold.h"

namespace rharness::bench {

enum class ThreadOrder { kRising, kFalling };

inline void ForThreads(uint32_t count, ThreadOrder order,
                       const std::function<void(uint32_t thread)>& step) {
  for (uint32_t i = 0; i < count; ++i) {
    step(order == ThreadOrder::kRising ? i : count - 1 - i);
  }
}

// One block; `take` is what a thread does before the fold.
template <class Block>
void RunBlock(
    ThreadOrder order,
    const std::function<void(uint32_t thread, HistogramColumn, typename Block::Own*)>& take,
    typename Block::Result* result) {
  alignas(16) static thread_local unsigned char shared[sizeof(Block)];
  std::memset(shared, 0xcd, sizeof(shared));
  Block* const block = reinterpret_cast<Block*>(shared);
  ForThreads(kBlockThreads, order, [&](uint32_t thread) {
    typename Block::Own own;
    take(thread, block->Start(thread), &own);
    block->rows[thread] = own;
  });
  for (uint32_t stride = kBlockThreads / 2; stride > 0; stride /= 2) {
    ForThreads(stride, order, [&](uint32_t thread) { block->Fold(thread, stride); });
  }
  ForThreads(kBlockThreads, order, [&](uint32_t thread) { block->Store(thread, result); });
}

template <class Block, class Elements>
void RunCompare(const Words* a, const Words* b, uint32_t elements, uint32_t blocks,
                ThreadOrder order, typename Block::Result* results) {
  ForThreads(blocks, order, [&](uint32_t at) {
    const auto take = [&](uint32_t thread, HistogramColumn column, typename Block::Own* own) {
      TakeShare<Elements>(a, b, elements, at * kBlockThreads + thread, blocks * kBlockThreads,
                          column, own);
    };
    RunBlock<Block>(order, take, results + at);
  });
}

template <class Block>
void RunMerge(const typename Block::Result* results, uint32_t count, ThreadOrder order,
              typename Block::Result* merged) {
  const auto take = [&](uint32_t thread, HistogramColumn column, typename Block::Own* own) {
    TakeResults<Block>(results, count, thread, column, own);
  };
  RunBlock<Block>(order, take, merged);
}

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_HOST_GRID_H_
