// Row sums of normalizations of our own: the mean of a layer norm, the denominator of a softmax.
#include <fmt/format.h>

#include "probes/cpu/own_sums.h"
#include "probes/cpu/reveal_case.h"

namespace rharness {
namespace {

// The mean times the row's length, as the row's first pass adds it.
float LayerNormSum(std::span<const float> row) { return BlockSum<float>(row); }

// Of terms that already are exponentials: one pass, eight running sums.
float SoftmaxSum(std::span<const float> row) {
  std::array<float, 8> lanes{};
  for (std::size_t i = 0; i < row.size(); ++i) lanes[i % 8] += row[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

ProbeResult RunSoftmaxNormTree(const ProbeContext& context) {
  ProbeResult result;
  for (const int n : {768, 1000}) {
    AddTree<float>(context, fmt::format("layer norm {}", n), n, LayerNormSum, &result);
    AddTree<float>(context, fmt::format("softmax {}", n), n, SoftmaxSum, &result);
  }
  return result;
}

const RegisterProbe kSoftmaxNormTreeProbe(
    {.name = "softmax_norm_tree",
     .family = "reduction",
     .summary = "order of the row sums of layer norm and softmax",
     .run = RunSoftmaxNormTree});

}  // namespace
}  // namespace rharness
