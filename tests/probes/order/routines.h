// Summation routines of known order, for any type that adds; run on symbols they write their own
// tree down, run on numbers behind masks they are black boxes.
#ifndef RHARNESS_TESTS_PROBES_ORDER_ROUTINES_H_
#define RHARNESS_TESTS_PROBES_ORDER_ROUTINES_H_

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "probes/order/sum_tree.h"

namespace rharness::routines {

inline std::size_t At(int index) { return static_cast<std::size_t>(index); }

template <class T>
T Sequential(std::span<const T> x) {
  T sum = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum = sum + x[i];
  return sum;
}

template <class T>
T Reversed(std::span<const T> x) {
  T sum = x.back();
  for (std::size_t i = x.size() - 1; i-- > 0;) sum = x[i] + sum;
  return sum;
}

template <class T>
T Pairwise(std::span<const T> x) {
  if (x.size() == 1) return x[0];
  const std::size_t half = x.size() / 2;
  return Pairwise(x.first(half)) + Pairwise(x.subspan(half));
}

template <class T>
T Strided(std::span<const T> x, std::size_t ways) {
  std::vector<T> sums(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min(ways, x.size())));
  for (std::size_t i = ways; i < x.size(); ++i) sums[i % ways] = sums[i % ways] + x[i];
  return Pairwise(std::span<const T>(sums));
}

// Contiguous blocks, each added in sequence, then their sums.
template <class T>
T Blocks(std::span<const T> x, std::size_t size, bool pairwise) {
  std::vector<T> sums;
  for (std::size_t at = 0; at < x.size(); at += size) {
    sums.push_back(Sequential(x.subspan(at, std::min(size, x.size() - at))));
  }
  const std::span<const T> all(sums);
  return pairwise ? Pairwise(all) : Sequential(all);
}

template <class T>
T SplitK(std::span<const T> x, std::size_t parts) {
  return Blocks(x, (x.size() + parts - 1) / parts, false);
}

template <class T>
T Random(std::span<const T> x, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> terms(x.begin(), x.end());
  while (terms.size() > 1) {
    std::swap(terms[random() % terms.size()], terms.back());
    const T last = terms.back();
    terms.pop_back();
    T& other = terms[random() % terms.size()];
    other = other + last;
  }
  return terms[0];
}

// NumPy's sum over contiguous elements: fewer than 8 in sequence; up to 128 in eight running sums,
// added pairwise, and what is left over in sequence; more in halves, the first a multiple of 8.
template <class T>
T NumpySum(std::span<const T> x) {
  const std::size_t n = x.size();
  if (n < 8) return Sequential(x);
  if (n > 128) {
    const std::size_t half = n / 2 - n / 2 % 8;
    return NumpySum(x.first(half)) + NumpySum(x.subspan(half));
  }
  T sum = Strided(x.first(n - n % 8), 8);
  for (std::size_t i = n - n % 8; i < n; ++i) sum = sum + x[i];
  return sum;
}

// A summand or a sum that records how it came about.
struct Symbol {
  int node = 0;
  int leaves = 0;
  std::vector<std::vector<int>>* inner = nullptr;

  friend Symbol operator+(const Symbol& a, const Symbol& b) {
    a.inner->push_back({a.node, b.node});
    return {a.leaves + static_cast<int>(a.inner->size()) - 1, a.leaves, a.inner};
  }
};

template <class Routine>
SumTree TreeOf(int n, Routine routine) {
  std::vector<std::vector<int>> inner;
  std::vector<Symbol> symbols;
  for (int i = 0; i < n; ++i) symbols.push_back({i, n, &inner});
  routine(std::span<const Symbol>(symbols));
  return SumTree::Build(n, std::move(inner)).value();
}

}  // namespace rharness::routines

#endif  // RHARNESS_TESTS_PROBES_ORDER_ROUTINES_H_
