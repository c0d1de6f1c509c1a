// In which order a collective adds its ranks, element by element: from masked sums to trees.
//
// Role: the pure half of nccl_tree. For each pair of ranks one sends +M and the other -M in every
// element, all others one unit; an element of the result then counts the ranks that were added
// after the two had met (probes/order/reveal.h). The order may depend on where an element lies, as
// it does in a ring, so every element is read, and elements of one order form ranges.
#ifndef RHARNESS_PROBES_GPU_RANK_ORDERS_H_
#define RHARNESS_PROBES_GPU_RANK_ORDERS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/gpu/number_type.h"
#include "probes/order/reveal.h"
#include "probes/order/sum_tree.h"

namespace rharness {

// Every pair of ranks once: (0, 1), (0, 2), ..., (1, 2), ...; empty below two ranks.
std::vector<MaskPair> RankPairs(int ranks);

// What `rank` sends: +M, -M or a unit. M is 2^120, and the unit 1; in fp16 2^15 and 2^-24.
float MaskedValue(NumberType type, MaskPair pair, int rank);

// Elements up to `end`, from the end of the run before: the ranks under the point where the pair
// met; 0 if the result is no count of ranks.
struct LeafRun {
  std::size_t end = 0;
  int leaves = 0;
};
// Of one masked result. Errors: unsupported when it has more than 2^18 runs: an order that changes
// from element to element.
Result<std::vector<LeafRun>> LeafRunsOf(const std::vector<std::byte>& result, NumberType type,
                                        int ranks);

struct RankOrder {
  std::vector<int> leaves;  // by RankPairs
  std::optional<SumTree> tree;
  std::string why;  // there is no tree: one sentence
};
struct OffsetRange {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t order = 0;  // index into orders
  bool operator==(const OffsetRange&) const = default;
};
struct OffsetOrders {
  std::vector<RankOrder> orders;    // different ones, by the first element that has them
  std::vector<OffsetRange> ranges;  // all elements, rising; neighbours differ in order
};
// `runs[k]` belongs to RankPairs(ranks)[k]; all must end at the same element. Errors: invalid_input
// (fewer than two ranks, no element, runs that do not cover the same elements).
Result<OffsetOrders> BuildOrders(int ranks, const std::vector<std::vector<LeafRun>>& runs);

// {"orders": how many, "offsets": ["0..1023: order 0", ...], "offsets_sha256"}; of more than 32
// ranges only the first are listed, and the digest is of all.
Json DescribeOffsets(const OffsetOrders& orders);

// Empty when both agree on every element; else the first element that changed: "offset 512 was ((0
// 1) 2), is (0 (1 2))".
std::string DiffOrders(const OffsetOrders& before, const OffsetOrders& after);

// The first element in which two ranks' results differ; empty when they are the same bytes.
std::optional<std::size_t> FirstUnequal(const std::vector<std::byte>& a,
                                        const std::vector<std::byte>& b, std::size_t element_bytes);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_RANK_ORDERS_H_
