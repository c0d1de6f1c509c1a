// The fp64 tensor-core instruction: possible orders of its additions, and questions that
// distinguish them.
//
// Role: as mma_model.h for the short types. Published: it adds as a chain of fused multiply-adds,
// each rounded to nearest (the MMA-Sim model, arXiv:2511.10909). The questions use whole numbers,
// so that every order is computed here exactly before it rounds.
#ifndef RHARNESS_PROBES_GPU_MMA_FP64_H_
#define RHARNESS_PROBES_GPU_MMA_FP64_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"

namespace rharness {

// d = a . b + c.
struct Fp64Case {
  std::string name;
  std::array<double, 4> a{}, b{};
  double c = 0;
  bool whole = true;  // whole numbers: every order is a function here
};
std::vector<Fp64Case> BuildFp64Cases();

// Orders of addition: "fma rising" (c + a0 b0, then + a1 b1, ..., one rounding each), "fma
// falling", "rounded products rising", "pairs" (two fused pairs, then c), "one rounding".
inline constexpr std::string_view kFp64Orders[] = {
    "fma rising", "fma falling", "rounded products rising", "pairs", "one rounding"};
// The published order of a device of a compute capability; empty if none is published.
std::string_view PublishedFp64Order(int compute);

// The answer of an order to a question of whole numbers; `order` is one of kFp64Orders.
double AddFp64(std::string_view order, const Fp64Case& one);

// {"order": the first of kFp64Orders that gives all the answers, or "none known", "subnormals",
// "nan_bits"}.
Json ReadFp64Features(const std::vector<Fp64Case>& cases, const std::vector<double>& answers);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_MMA_FP64_H_
