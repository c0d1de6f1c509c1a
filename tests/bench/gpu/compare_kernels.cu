// Statistics of two buffers in one pass, and bits alone: a result a block, then one of all blocks.
//
// Launched with kBlockThreads threads a block; the second kernel of each pair with one block.
#include "tests/bench/gpu/block_fold.h"

namespace {

using namespace rharness::bench;

// Every thread arrives here; the barriers are outside of all branches.
template <class Block>
__device__ void FoldAndStore(Block* block, const typename Block::Own& own,
                             typename Block::Result* result) {
  block->rows[threadIdx.x] = own;
  __syncthreads();
  for (uint32_t stride = kBlockThreads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) block->Fold(threadIdx.x, stride);
    __syncthreads();
  }
  block->Store(threadIdx.x, result);
}

template <class Block, class Elements>
__device__ void Compare(void* shared, const Words* a, const Words* b, uint32_t elements,
                        typename Block::Result* results) {
  Block* const block = static_cast<Block*>(shared);
  typename Block::Own own;
  const HistogramColumn column = block->Start(threadIdx.x);
  TakeShare<Elements>(a, b, elements, blockIdx.x * kBlockThreads + threadIdx.x,
                      gridDim.x * kBlockThreads, column, &own);
  FoldAndStore(block, own, results + blockIdx.x);
}

template <class Block>
__device__ void Merge(void* shared, const typename Block::Result* results, uint32_t count,
                      typename Block::Result* merged) {
  Block* const block = static_cast<Block*>(shared);
  typename Block::Own own;
  const HistogramColumn column = block->Start(threadIdx.x);
  TakeResults<Block>(results, count, threadIdx.x, column, &own);
  FoldAndStore(block, own, merged);
}

}  // namespace

// Raw bytes, since shared memory is not constructed.
#define SHARED(Block) __shared__ alignas(16) unsigned char shared[sizeof(Block)]

#define COMPARE(name, Block, Elements)                                                  \
  extern "C" __global__ void __launch_bounds__(128)                                     \
      name(const Words* a, const Words* b, uint32_t elements, Block::Result* results) { \
    SHARED(Block);                                                                      \
    Compare<Block, Elements>(shared, a, b, elements, results);                          \
  }
#define MERGE(name, Block)                                                        \
  extern "C" __global__ void __launch_bounds__(128)                               \
      name(const Block::Result* results, uint32_t count, Block::Result* merged) { \
    SHARED(Block);                                                                \
    Merge<Block>(shared, results, count, merged);                                 \
  }

COMPARE(compare_bits_32, BitBlock, Fp32Elements)
COMPARE(compare_bits_16, BitBlock, Bf16Elements)
COMPARE(measure_fp32, PairBlock, Fp32Elements)
COMPARE(measure_bf16, PairBlock, Bf16Elements)
MERGE(merge_bits, BitBlock)
MERGE(merge_pairs, PairBlock)
