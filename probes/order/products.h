// Sums of products: what happens to each product and to each partial sum, beside their order.
//
// Role: with a SumTree it determines a routine's bits completely. A product is rounded before it is
// added, or enters the addition exactly: a fused multiply-add, or an accumulator with room for it.
// A partial sum is rounded to the routine's type before the next addition, or keeps the bits of a
// wider accumulator.
#ifndef RHARNESS_PROBES_ORDER_PRODUCTS_H_
#define RHARNESS_PROBES_ORDER_PRODUCTS_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/order/sum_tree.h"

namespace rharness {

// A routine that adds products, as a black box.
template <class T>
class ProductSum {
 public:
  virtual ~ProductSum() = default;
  virtual int size() const = 0;  // products
  virtual int max_batch() const { return 1; }
  // results[k] = the sum of rows[k size() + i] b[i] over i; at most max_batch() of them.
  virtual Status Sum(std::span<const T> rows, std::span<const T> b, std::span<T> results) = 0;
};

struct Arithmetic {
  std::vector<bool> exact;  // by leaf: its product is not rounded before it is added
  std::vector<bool> wide;   // by inner node, from the tree's leaves() on: its sum is not, either

  bool operator==(const Arithmetic&) const = default;

  // In words: "products fused", "products rounded", "products fused, rounded for terms 96-99". A
  // chain of fused multiply-adds begins with a product that is rounded and is still all fused.
  // Terms before `first` are no products.
  std::string ProductsName(const SumTree& tree, int first = 0) const;
  // "sums rounded", "4 of 99 sums kept wider".
  std::string SumsName() const;
  // Runs of equal leaves, "32r 64f" (rounded, fused or otherwise exact), and of equal inner nodes,
  // "95t 4w" (of the type, wider).
  std::string Products() const;
  std::string Sums() const;
};

struct FoundArithmetic {
  std::optional<Arithmetic> arithmetic;  // empty: see why
  std::string why;                       // one sentence
};

// Tests each leaf and each inner node with a sum of its own. Skips nodes of more than two terms.
// Errors: those of Sum. Cost: two sums per leaf for float, one for double, without the search for a
// wider accumulator.
template <class T>
Result<FoundArithmetic> FindArithmetic(ProductSum<T>& sum, const SumTree& tree);

// The sum of a[i] b[i] in this order and with this arithmetic. Nodes of more than two terms round
// each product and the sum of them.
template <class T>
T ReplayProducts(const SumTree& tree, const Arithmetic& arithmetic, std::span<const T> a,
                 std::span<const T> b);

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_PRODUCTS_H_
