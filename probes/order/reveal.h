// Reveals the order in which a routine adds, from the summands that get lost.
//
// Role: from a routine that sums, seen as a black box, to its SumTree. The method: all summands are
// one unit, but summand i is +M and summand j is -M, where M swallows any number of units. Units
// added before i and j meet are swallowed; units added after them are counted. So the result counts
// the leaves outside the subtree where i and j meet. Source: Xie, Gao, Wang, Xue, "FPRev: Revealing
// Floating-Point Accumulation Orders in Software/Hardware Implementations", USENIX ATC 2025
// (arXiv:2411.00442). This implementation uses a random pivot, so that no order of summands is a
// bad case, asks all independent questions of a level at once, packs many questions into one sum as
// its digits if the routine allows it (questions.cc), and counts exactly in accumulators of few
// bits by counting the units in blocks.
#ifndef RHARNESS_PROBES_ORDER_REVEAL_H_
#define RHARNESS_PROBES_ORDER_REVEAL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/order/sum_tree.h"

namespace rharness {

// Summand `plus` is +M, `minus` is -M.
struct MaskPair {
  int plus = 0;
  int minus = 0;
};

// The summands that are one unit; all others but the masks are zero.
struct UnitRange {
  int begin = 0;
  int end = 0;  // one past the last
};

// A routine that sums, as a black box.
class MaskedSum {
 public:
  virtual ~MaskedSum() = default;
  virtual int size() const = 0;  // summands
  // Pairs that one launch of the routine can answer, such as the rows of a matrix product.
  virtual int max_batch() const { return 1; }
  // Counts up to this are exact in the accumulator: 2^24 for fp32, 2^8 for bf16. Larger counts are
  // put together from blocks of units of this length.
  virtual std::int64_t exact_count() const { return std::int64_t{1} << 24; }
  // counts[k] = the routine's result for pairs[k], in units. At most max_batch() pairs.
  virtual Status Count(std::span<const MaskPair> pairs, UnitRange units,
                       std::span<double> counts) = 0;

  // Below this many units in all, any whole numbers of them add exactly and are swallowed by a
  // mask, so that one sum can answer several questions; 0: one question a sum.
  virtual std::int64_t packed_count() const { return 0; }
  // totals[k] = the routine's result, in units, for the masks of sums[k], where summand i is
  // units[i] units unless it is a mask. Any number of sums, in launches of max_batch(); asked only
  // if packed_count() > 0.
  virtual Status CountPacked(std::span<const std::int64_t> units,
                             std::span<const std::vector<MaskPair>> sums, std::span<double> totals);
};

struct RevealOptions {
  std::uint64_t seed = 1;    // of the pivots
  int repeats = 1;           // further repeats of each question, to find non-determinism
  int validate_pairs = 200;  // random pairs asked again, in half blocks, once the tree is there
  int batch_samples = 4;     // pairs also asked alone, to see that a batch changes nothing
};

struct Revealed {
  std::optional<SumTree> tree;  // empty: see why
  bool deterministic = true;    // every repeat of a question had the same answer
  std::string why;              // why there is no tree: one sentence
  std::uint64_t probes = 0;    // masked sums, of the revealing itself: repeats and validation apart
  std::uint64_t launches = 0;  // calls of Count for these
  int levels = 0;              // of the recursion: launches that had to wait for one another
};

// Errors: those of Count; invalid_input when size() < 1. That a routine has no fixed order, an
// accumulator wider than M can swallow, or answers that fit no tree, is a result.
// Cost: about (n/2) log2 n probes for a balanced tree, 2 n for a sequential one in either
// direction; for n = 16,384 less than half of that where 24 bits of count can be packed.
Result<Revealed> RevealTree(MaskedSum& sum, const RevealOptions& options = {});

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_REVEAL_H_
