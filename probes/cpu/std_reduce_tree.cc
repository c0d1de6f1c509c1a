// Sums of the libraries that a C++ program is compiled with: std::accumulate, std::reduce, Eigen.
#include <fmt/format.h>

#include <Eigen/Core>
#include <numeric>

#include "probes/cpu/reveal_case.h"

namespace rharness {
namespace {

template <class T>
T EigenSum(std::span<const T> x) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size())).sum();
}

template <class T>
void AddStdCases(const ProbeContext& context, const std::string& type, ProbeResult* result) {
  for (const int n : {100, 1000}) {
    AddTree<T>(
        context, fmt::format("{} std::accumulate {}", type, n), n,
        [](std::span<const T> x) { return std::accumulate(x.begin(), x.end(), T(0)); }, result);
    AddTree<T>(
        context, fmt::format("{} std::reduce {}", type, n), n,
        [](std::span<const T> x) { return std::reduce(x.begin(), x.end(), T(0)); }, result);
    AddTree<T>(context, fmt::format("{} Eigen sum {}", type, n), n, EigenSum<T>, result);
  }
}

ProbeResult RunStdReduceTree(const ProbeContext& context) {
  ProbeResult result;
  result.choices["Eigen"] =
      Json::MakeObject({{"version", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION,
                                                EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)}});
  AddStdCases<float>(context, "fp32", &result);
  AddStdCases<double>(context, "fp64", &result);
  return result;
}

const RegisterProbe kStdReduceTreeProbe(
    {.name = "std_reduce_tree",
     .family = "reduction",
     .summary = "order of std::reduce, std::accumulate and Eigen sums",
     .run = RunStdReduceTree});

}  // namespace
}  // namespace rharness
