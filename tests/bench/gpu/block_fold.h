// How a grid of threads divides two buffers, and how a block's threads fold what they found.
//
// Role: between pair_statistics.h and compare_kernels.cu. Every step is a function of a thread's
// number, so that a host runs the same grid thread by thread; only barriers are the kernel's.
// Buffers are aligned to 16 bytes. A block's state is shared memory: each thread has a row of
// statistics and a column of the histogram for itself, so nothing is added atomically.
#ifndef RHARNESS_TESTS_BENCH_GPU_BLOCK_FOLD_H_
#define RHARNESS_TESTS_BENCH_GPU_BLOCK_FOLD_H_

#include "tests/bench/gpu/pair_statistics.h"

namespace rharness::bench {

constexpr uint32_t kBlockThreads = 128;  // a power of two

struct alignas(16) Words {
  uint32_t word[4];
};

// What a block, and the whole grid, ends with.
struct BitResult {
  BitStatistics statistics;
};
struct PairResult {
  PairStatistics statistics;
  uint32_t histogram[kUlpBins];
};

// Host and device lay them out alike.
static_assert(sizeof(BitResult) == 8 && sizeof(PairResult) == 200, "unexpected padding");

struct BitBlock {
  using Own = BitStatistics;
  using Result = BitResult;
  BitStatistics rows[kBlockThreads];

  RHARNESS_BOTH HistogramColumn Start(uint32_t) { return {}; }
  RHARNESS_BOTH static void AddHistogram(const Result&, HistogramColumn) {}
  RHARNESS_BOTH void Fold(uint32_t thread, uint32_t stride) {
    rows[thread].Merge(rows[thread + stride]);
  }
  RHARNESS_BOTH void Store(uint32_t thread, Result* result) const {
    if (thread == 0) result->statistics = rows[0];
  }
};

struct PairBlock {
  using Own = PairStatistics;
  using Result = PairResult;
  PairStatistics rows[kBlockThreads];
  uint32_t histogram[kUlpBins * kBlockThreads];

  // Clears the thread's column.
  RHARNESS_BOTH HistogramColumn Start(uint32_t thread) {
    const HistogramColumn column{histogram + thread, kBlockThreads};
    for (uint32_t bin = 0; bin < kUlpBins; ++bin) column.bins[bin * column.stride] = 0;
    return column;
  }
  RHARNESS_BOTH static void AddHistogram(const Result& result, HistogramColumn column) {
    for (uint32_t bin = 0; bin < kUlpBins; ++bin) {
      column.bins[bin * column.stride] += result.histogram[bin];
    }
  }
  // Reads row and column thread + stride, writes row and column `thread`; thread < stride.
  RHARNESS_BOTH void Fold(uint32_t thread, uint32_t stride) {
    rows[thread].Merge(rows[thread + stride]);
    for (uint32_t bin = 0; bin < kUlpBins; ++bin) {
      uint32_t* const of_bin = histogram + bin * kBlockThreads;
      of_bin[thread] += of_bin[thread + stride];
    }
  }
  RHARNESS_BOTH void Store(uint32_t thread, Result* result) const {
    if (thread == 0) result->statistics = rows[0];
    if (thread < kUlpBins) result->histogram[thread] = histogram[thread * kBlockThreads];
  }
};

template <class Elements, class Own>
RHARNESS_BOTH void AddWords(const Words& x, const Words& y, uint32_t first, HistogramColumn column,
                            Own* own) {
  for (uint32_t i = 0; i < 4; ++i) {
    if (Elements::kBytes == 4) {
      AddPair<Elements>(x.word[i], y.word[i], first + i, column, own);
    } else {
      AddPair<Elements>(x.word[i] << 16, y.word[i] << 16, first + 2 * i, column, own);
      AddPair<Elements>(x.word[i] & 0xffff0000u, y.word[i] & 0xffff0000u, first + 2 * i + 1, column,
                        own);
    }
  }
}

// An element's pattern as that of an fp32, without reading beyond it.
template <class Elements>
RHARNESS_BOTH uint32_t PatternAt(const Words* buffer, uint32_t index) {
  const unsigned char* at =
      reinterpret_cast<const unsigned char*>(buffer) + uint64_t{index} * Elements::kBytes;
  uint32_t bits = 0;
  for (uint32_t byte = 0; byte < Elements::kBytes; ++byte) bits |= uint32_t{at[byte]} << 8 * byte;
  return bits << Elements::kShift;
}

// Thread `thread` of `threads` takes every threads-th 16 bytes, two at a time so that their loads
// overlap, and one of the elements that fill no 16 bytes. threads >= 8.
template <class Elements, class Own>
RHARNESS_BOTH void TakeShare(const Words* a, const Words* b, uint32_t elements, uint32_t thread,
                             uint32_t threads, HistogramColumn column, Own* own) {
  constexpr uint32_t kPerWords = 16 / Elements::kBytes;
  const uint32_t vectors = elements / kPerWords;
  uint32_t at = thread;
  for (; at + threads < vectors; at += 2 * threads) {
    const Words x = a[at], y = b[at], next_x = a[at + threads], next_y = b[at + threads];
    AddWords<Elements>(x, y, at * kPerWords, column, own);
    AddWords<Elements>(next_x, next_y, (at + threads) * kPerWords, column, own);
  }
  if (at < vectors) AddWords<Elements>(a[at], b[at], at * kPerWords, column, own);
  const uint32_t rest = vectors * kPerWords;
  if (thread < elements - rest) {
    AddPair<Elements>(PatternAt<Elements>(a, rest + thread), PatternAt<Elements>(b, rest + thread),
                      rest + thread, column, own);
  }
}

// Thread `thread` of one block takes every kBlockThreads-th of the blocks' results.
template <class Block>
RHARNESS_BOTH void TakeResults(const typename Block::Result* results, uint32_t count,
                               uint32_t thread, HistogramColumn column, typename Block::Own* own) {
  for (uint32_t i = thread; i < count; i += kBlockThreads) {
    own->Merge(results[i].statistics);
    Block::AddHistogram(results[i], column);
  }
}

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_BLOCK_FOLD_H_
