// Kernels in the words of facts.
#include "harness/judge/kernel_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rharness {
namespace {

std::string InWords(const SeenKernel& kernel) {
  std::string words = fmt::format("{} launch{}", kernel.launches, kernel.launches == 1 ? "" : "es");
  if (!kernel.shapes.empty()) words += fmt::format(", {}", fmt::join(kernel.shapes, ", "));
  return words;
}

}  // namespace

void AddKernels(const Observation& seen, std::vector<Fact>* out) {
  if (!seen.kernels) return;
  if (seen.kernels->is_all) {
    out->push_back({.layer = Layer::kEnvironment,
                    .key = std::string(kKernelFact),
                    .value = "GPU kernels",
                    .kind = FactKind::kComplete});
  }
  for (const SeenKernel& kernel : seen.kernels->launched) {
    out->push_back({.layer = Layer::kEnvironment,
                    .key = std::string(kKernelFact) + kernel.name,
                    .value = InWords(kernel),
                    .use = FactUse::kUsed});
  }
  if (!seen.kernels->is_all || seen.kernels->orders.empty()) return;
  out->push_back({.layer = Layer::kEnvironment,
                  .key = std::string(kKernelOrderFact),
                  .value = fmt::format("{}", fmt::join(seen.kernels->orders, ", ")),
                  .use = FactUse::kUsed});
}

}  // namespace rharness
