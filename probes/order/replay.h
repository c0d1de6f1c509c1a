// Adds data in the order of a tree: the prediction of a revealed order, bit for bit.
//
// Role: the proof that a tree is the routine's. Masks show where summands meet; only a replay on
// ordinary data shows that nothing else happens there.
#ifndef RHARNESS_PROBES_ORDER_REPLAY_H_
#define RHARNESS_PROBES_ORDER_REPLAY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "probes/order/sum_tree.h"

namespace rharness {

// How a node of more than two children adds: terms are aligned to the largest exponent among them,
// cut to `fraction_bits` below it, and added exactly; the sum is rounded once. Source: Fasi,
// Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ CS 7:e330 (2021):
// 23 fraction bits on V100, 24 on A100; 25 on H100.
struct FusedModel {
  int fraction_bits = 24;  // at most 52
  bool truncate = true;    // the sum; else to nearest even
};

// One fused addition of at most 512 terms. A term that is not finite: the plain sum.
template <class T>
T FusedAdd(std::span<const T> terms, const FusedModel& model) {
  int exponent = std::numeric_limits<int>::min();
  bool finite = true;
  T plain = 0;
  for (const T term : terms) {
    plain += term;
    finite = finite && std::isfinite(term);
    if (finite && term != 0) exponent = std::max(exponent, std::ilogb(term));
  }
  if (!finite || exponent == std::numeric_limits<int>::min()) return plain;
  std::int64_t sum = 0;
  for (const T term : terms) {
    sum += static_cast<std::int64_t>(
        std::ldexp(static_cast<double>(term), model.fraction_bits - exponent));
  }
  if (model.truncate) {
    std::int64_t magnitude = sum < 0 ? -sum : sum;
    int surplus = 0;
    while (magnitude >> surplus >> std::numeric_limits<T>::digits != 0) ++surplus;
    magnitude = magnitude >> surplus << surplus;
    sum = sum < 0 ? -magnitude : magnitude;
  }
  return std::ldexp(static_cast<T>(sum), exponent - model.fraction_bits);
}

// The sum of `data` in the order of `tree`: binary nodes round each addition to nearest, wider ones
// are `model`'s. As many data as the tree has leaves. Cost: one pass, no recursion.
template <class T>
T ReplaySum(const SumTree& tree, std::span<const T> data, const FusedModel& model = {}) {
  std::vector<T> values(data.begin(), data.end());
  values.reserve(static_cast<std::size_t>(tree.nodes()));
  std::vector<T> terms;
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    terms.clear();
    for (const int child : tree.children(node)) {
      terms.push_back(values[static_cast<std::size_t>(child)]);
    }
    values.push_back(terms.size() == 2 ? static_cast<T>(terms[0] + terms[1])
                                       : FusedAdd<T>(terms, model));
  }
  return values.back();
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_REPLAY_H_
