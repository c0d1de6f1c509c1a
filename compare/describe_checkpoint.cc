// Differences of checkpoints in words.
#include "compare/describe_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rharness {
namespace {

std::string Count(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// How far apart the tensors that differ are at most.
std::string DescribeDistance(const CheckpointDifference& difference) {
  double max_abs = 0.0;
  std::uint64_t max_ulp = 0;
  bool measured = false;
  for (const TensorDifference& tensor : difference.differing) {
    if (std::isnan(tensor.max_abs)) continue;
    measured = true;
    max_abs = std::max(max_abs, tensor.max_abs);
    max_ulp = std::max(max_ulp, tensor.max_ulp);
  }
  if (!measured) return "no differing pair with a distance";
  return fmt::format("at most {:.3g} and {} ULP apart", max_abs, max_ulp);
}

std::string DescribeDiffering(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  const TensorDifference& first = difference.differing.front();
  const std::size_t count = difference.differing.size();
  const std::string text =
      fmt::format("{} of {} {}, first {}", count, Count(difference.compared, "tensor"),
                  count == 1 ? "differs" : "differ", first.name);
  if (checkpoint.from_digests) return text + " (by its digest alone)";
  return fmt::format("{} at index {}, {}", text, first.first_index, DescribeDistance(difference));
}

// What the tensors of one side alone repeat there.
std::string DescribeTied(const CheckpointComparison& checkpoint) {
  if (checkpoint.tied.empty()) return {};
  const TiedTensor& first = checkpoint.tied.front();
  const std::size_t more = checkpoint.tied.size() - 1;
  return fmt::format(" ({} is bit-equal to {} of its own side, which both have: likely tied{})",
                     first.name, first.same_as,
                     more == 0 ? "" : fmt::format("; so are {} more", more));
}

}  // namespace

std::string DescribeBits(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  if (checkpoint.is_file) return DescribeFile(checkpoint);
  if (!difference.differing.empty()) return DescribeDiffering(checkpoint);
  if (!difference.shape_or_dtype.empty()) {
    return fmt::format("{} of another shape or dtype, first {}",
                       Count(difference.shape_or_dtype.size(), "tensor"),
                       checkpoint.first_shape_or_dtype.empty() ? difference.shape_or_dtype.front()
                                                               : checkpoint.first_shape_or_dtype);
  }
  std::string text;
  for (const auto* names : {&difference.only_a, &difference.only_b}) {
    if (names->empty()) continue;
    text += fmt::format("{}{} in {} alone, first {}", text.empty() ? "" : "; ",
                        Count(names->size(), "tensor"), names == &difference.only_a ? "A" : "B",
                        names->front());
  }
  if (text.empty()) return "the two digests differ";
  return text + DescribeTied(checkpoint);
}

std::string DescribeFile(const CheckpointComparison& file) {
  constexpr std::size_t kShown = 12;
  if (file.difference.bit_equal) return "the same bytes, by the SHA-256 of the file";
  return fmt::format("other bytes, by the SHA-256 of the file ({} and {}){}",
                     file.digest_a.substr(0, kShown), file.digest_b.substr(0, kShown),
                     file.matters ? "" : "; by its role it may differ");
}

std::string DescribeNonFinite(const CheckpointDifference& difference) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  std::size_t tensors = 0;
  for (const TensorDifference& tensor : difference.differing) {
    if (tensor.non_finite_changes == 0 || ++tensors > kNamed) continue;
    text += fmt::format("{}{} of {}", tensors > 1 ? ", " : "",
                        Count(tensor.non_finite_changes, "element"), tensor.name);
  }
  if (tensors > kNamed) text += fmt::format(" and {}", Count(tensors - kNamed, "further tensor"));
  return text;
}

}  // namespace rharness
