// Control: our own reductions, laid out like a GPU's warps and blocks. The orders are those of the
// source text, with any compiler; a change means that the compiler reorders.
#include <fmt/format.h>

#include "probes/cpu/own_sums.h"
#include "probes/cpu/reveal_case.h"

namespace rharness {
namespace {

template <class T>
void AddCases(const ProbeContext& context, const std::string& type, ProbeResult* result) {
  for (const int n : {100, 1024}) {
    AddTree<T>(context, fmt::format("{} warp {}", type, n), n, WarpSum<T>, result);
    AddTree<T>(context, fmt::format("{} blocks {}", type, n), n, BlockSum<T>, result);
  }
}

ProbeResult RunOwnReduceTree(const ProbeContext& context) {
  ProbeResult result;
  result.parameters = Json::MakeObject({{"lanes", kLanes}, {"block", kBlock}});
  AddCases<float>(context, "fp32", &result);
  AddCases<double>(context, "fp64", &result);
  return result;
}

const RegisterProbe kOwnReduceTreeProbe({.name = "own_reduce_tree",
                                         .family = "compiler",
                                         .summary = "order of reductions of our own: a control",
                                         .run = RunOwnReduceTree});

}  // namespace
}  // namespace rharness
