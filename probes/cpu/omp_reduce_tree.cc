// OpenMP's reduction with 1, 2 and 4 threads. From three threads on the partial sums join in the
// order of arrival, which is nobody's promise.
#include <fmt/format.h>

#include "probes/cpu/reveal_case.h"

namespace rharness {
namespace {

constexpr int kTerms = 256;

float Sum(std::span<const float> x, int threads) {
  float sum = 0.0F;
  const auto n = static_cast<long>(x.size());
#pragma omp parallel for reduction(+ : sum) num_threads(threads) schedule(static)
  for (long i = 0; i < n; ++i) sum += x[static_cast<std::size_t>(i)];
  return sum;
}

ProbeResult RunOmpReduceTree(const ProbeContext& context) {
  ProbeResult result;
  result.parameters = Json::MakeObject({{"terms", kTerms}, {"schedule", "static"}});
  for (const int threads : {1, 2, 4}) {
    AddTree<float>(
        context, fmt::format("fp32 {} threads {}", kTerms, threads), kTerms,
        [threads](std::span<const float> x) { return Sum(x, threads); }, &result);
  }
  return result;
}

const RegisterProbe kOmpReduceTreeProbe({.name = "omp_reduce_tree",
                                         .family = "reduction",
                                         .summary = "order of an OpenMP reduction, by threads",
                                         .run = RunOmpReduceTree,
                                         .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
