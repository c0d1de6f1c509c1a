// Counts elements that are not-a-number or infinite, tensor by tensor, and excludes expected ones.
//
// Role: pure counting over blocks that another pass has read anyway (tensor_digest, tensor_pairs),
// and the rule that compare, hash, record and admit share. Counted types: F16, BF16, F32, F64, the
// F8 types, C64 and C128 (an element with either part). Integers, F4, F6 and quantised blocks have
// no such values here.
//
// The rule. Weights and optimizer state with any of these show nothing, however equal they are: a
// training run ended in them. By its name or content a tensor is expected to have them if it is
//   a mask      it holds neither not-a-number nor +infinity, and a component of its name contains
//               "mask", "alibi" or "causal", or it holds a finite element and all of these are 0:
//               an additive attention mask or a bias that forbids tokens (0 and -infinity)
//   an observer its name's last component is min_val, max_val, min_vals or max_vals: the
//               values of torch.ao's observers before the first batch (+infinity and -infinity)
//   none of these roles: state of callbacks, counters, random numbers (roles.h), as a best score
//               that begins at infinity
#ifndef RHARNESS_COMPARE_WEIGHTS_NON_FINITE_H_
#define RHARNESS_COMPARE_WEIGHTS_NON_FINITE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "harness/base/result.h"

namespace rharness {

// In elements; each non-finite part of a complex element counts.
struct NonFiniteCounts {
  std::uint64_t nan = 0;
  std::uint64_t positive = 0;  // +infinity
  std::uint64_t negative = 0;  // -infinity

  std::uint64_t Total() const { return nan + positive + negative; }
  void Add(const NonFiniteCounts& other);
};

// For a whole number of elements. If all are finite it is one pass of vector instructions.
NonFiniteCounts CountNonFinite(DType dtype, std::span<const std::byte> bytes);

struct NonFiniteTensor {
  std::string name;
  std::uint64_t elements = 0;  // of the tensor
  NonFiniteCounts counts;
};

// From counts per tensor, in the order of `checkpoint.tensors()`: the tensors with unexpected ones,
// in their order. Reads a tensor again only if zeros decide. Errors: those of Checkpoint::Read.
Result<std::vector<NonFiniteTensor>> UnexpectedNonFinite(
    const Checkpoint& checkpoint, const std::vector<NonFiniteCounts>& counts);

// "2 of 4 tensors hold values that are not finite, first fc.weight (3 of 16)"
std::string DescribeNonFinite(const std::vector<NonFiniteTensor>& tensors, std::size_t of);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_NON_FINITE_H_
