// One directed sum for each product and each partial sum, and their replay.
//
// All factors b are u = 1 + e with a small e. The product of u and u is 1 + 2 e + e^2, and e^2 is
// lost if it is rounded. A leaf beside it contributes -u, exactly: the rest shows whether e^2 was
// still there when they met. A partial sum is tested in the same way with u and u 2^-30 on its two
// sides and -u beside it.
#include "probes/order/products.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "probes/order/at.h"

namespace rharness {
namespace {

template <class T>
constexpr T kE = sizeof(T) == 4 ? T(0x1p-13) : T(0x1p-28);
constexpr double kTiny = 0x1p-30;

// One sum: factors of up to three leaves, all others zero.
template <class T>
struct Question {
  std::vector<std::pair<int, T>> factors;
};

template <class T>
Result<std::vector<T>> AskAll(ProductSum<T>& sum, const std::vector<Question<T>>& questions) {
  const auto n = At(sum.size()), batch = At(sum.max_batch());
  const std::vector<T> b(n, T(1) + kE<T>);
  std::vector<T> results(questions.size()), rows;
  for (std::size_t at = 0; at < questions.size(); at += batch) {
    const std::size_t count = std::min(batch, questions.size() - at);
    rows.assign(count * n, T(0));
    for (std::size_t k = 0; k < count; ++k) {
      for (const auto& [leaf, factor] : questions[at + k].factors) rows[k * n + At(leaf)] = factor;
    }
    RETURN_IF_ERROR(sum.Sum(rows, b, std::span(results).subspan(at, count)));
  }
  return results;
}

// The other term of the addition that a node is a term of; -1: it has none, or several.
int SiblingOf(const SumTree& tree, int node) {
  const int parent = tree.parent(node);
  if (parent < 0) return -1;
  const auto terms = tree.children(parent);
  if (terms.size() != 2) return -1;
  return terms[0] == node ? terms[1] : terms[0];
}

// Asks; true by place if an answer is `kept`, false if it is `lost`.
template <class T>
Result<std::vector<bool>> AskWhich(ProductSum<T>& sum, const std::vector<Question<T>>& questions,
                                   T kept, T lost, std::string_view of, std::string* why) {
  ASSIGN_OR_RETURN(const std::vector<T> answers, AskAll(sum, questions));
  std::vector<bool> which;
  for (std::size_t k = 0; k < answers.size(); ++k) {
    which.push_back(answers[k] == kept);
    if (answers[k] == kept || answers[k] == lost || !why->empty()) continue;
    *why = fmt::format("asked about the {} of term {} it gave {:a}; expected {:a} or {:a}", of,
                       questions[k].factors.front().first, answers[k], kept, lost);
  }
  return which;
}

// "96-99, 104 and 3 more".
std::string Terms(const std::vector<int>& sorted) {
  constexpr std::size_t kMostRuns = 3;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
    runs.push_back(end == i ? std::to_string(sorted[i])
                            : fmt::format("{}-{}", sorted[i], sorted[end]));
    i = end + 1;
  }
  const std::size_t more = runs.size() - std::min(runs.size(), kMostRuns);
  runs.resize(runs.size() - more);
  std::string text = fmt::format("{}", fmt::join(runs, ", "));
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

// "32r 64f" of {false ..., true ...}.
std::string Runs(const std::vector<bool>& flags, char no, char yes) {
  std::string text;
  for (std::size_t i = 0; i < flags.size();) {
    std::size_t end = i;
    while (end < flags.size() && flags[end] == flags[i]) ++end;
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", end - i, flags[i] ? yes : no);
    i = end;
  }
  return text;
}

// A node's value while it is replayed: a product that is not rounded yet, or a number.
struct Value {
  double number = 0.0;
  int product = -1;  // the leaf; -1: number
  bool wide = false;
};

// One addition of two terms, given as `Value`s of float or double.
template <class T>
class Adder {
 public:
  Adder(std::span<const T> a, std::span<const T> b) : a_(a), b_(b) {}

  double Add(const Value& x, const Value& y, bool wide) const {
    if (x.product < 0 && y.product >= 0) return Add(y, x, wide);
    if (x.product < 0) return Rounded(x.number + y.number, wide);
    const double addend = y.product < 0 ? y.number : Product<double>(y.product);
    // Rounded once if the other term is of the type: the fused instruction of that type.
    const bool of_type = !wide && !y.wide && y.product < 0;
    if (of_type) {
      return std::fma(a_[At(x.product)], b_[At(x.product)], static_cast<T>(addend));
    }
    return Rounded(std::fma(static_cast<double>(a_[At(x.product)]),
                            static_cast<double>(b_[At(x.product)]), addend),
                   wide);
  }
  template <class P>
  P Product(int leaf) const {
    return static_cast<P>(a_[At(leaf)]) * static_cast<P>(b_[At(leaf)]);
  }

 private:
  static double Rounded(double sum, bool wide) { return wide ? sum : static_cast<T>(sum); }

  std::span<const T> a_;
  std::span<const T> b_;
};

}  // namespace

std::string Arithmetic::Products() const { return Runs(exact, 'r', 'f'); }
std::string Arithmetic::Sums() const { return Runs(wide, 't', 'w'); }

std::string Arithmetic::ProductsName(const SumTree& tree, int first) const {
  std::vector<int> rounded;  // terms of additions that take no exact product
  int fused = 0;
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    const auto terms = tree.children(node);
    const auto is_exact = [&](int term) { return tree.IsLeaf(term) && exact[At(term)]; };
    if (std::ranges::any_of(terms, is_exact)) {
      ++fused;
      continue;
    }
    for (const int term : terms) {
      if (tree.IsLeaf(term) && term >= first) rounded.push_back(term);
    }
  }
  std::ranges::sort(rounded);
  if (fused == 0) return "products rounded";
  if (rounded.empty()) return "products fused";
  return fmt::format("products fused, rounded for terms {}", Terms(rounded));
}

std::string Arithmetic::SumsName() const {
  const auto more = std::ranges::count(wide, true);
  if (more == 0) return "sums rounded";
  return fmt::format("{} of {} sums kept wider", more, wide.size());
}

template <class T>
Result<FoundArithmetic> FindArithmetic(ProductSum<T>& sum, const SumTree& tree) {
  const T u = T(1) + kE<T>;
  FoundArithmetic found;
  Arithmetic arithmetic{.exact = std::vector<bool>(At(tree.leaves())),
                        .wide = std::vector<bool>(At(tree.nodes() - tree.leaves()))};
  std::vector<Question<T>> products, sums;
  std::vector<int> leaves, nodes;
  for (int node = 0; node < tree.nodes(); ++node) {
    const int sibling = SiblingOf(tree, node);
    if (sibling < 0) continue;
    if (tree.IsLeaf(node)) {
      leaves.push_back(node);
      products.push_back({{{node, u}, {tree.smallest(sibling), T(-1)}}});
    } else if (std::is_same_v<T, float> && tree.children(node).size() == 2) {
      const auto terms = tree.children(node);
      nodes.push_back(node);
      sums.push_back({{{tree.smallest(terms[0]), T(1)},
                       {tree.smallest(terms[1]), static_cast<T>(kTiny)},
                       {tree.smallest(sibling), T(-1)}}});
    }
  }
  ASSIGN_OR_RETURN(const std::vector<bool> exact,
                   AskWhich<T>(sum, products, kE<T> + kE<T> * kE<T>, kE<T>, "product", &found.why));
  ASSIGN_OR_RETURN(const std::vector<bool> wide, AskWhich<T>(sum, sums, static_cast<T>(kTiny) * u,
                                                             T(0), "partial sum", &found.why));
  for (std::size_t i = 0; i < exact.size(); ++i) arithmetic.exact[At(leaves[i])] = exact[i];
  for (std::size_t i = 0; i < wide.size(); ++i) {
    arithmetic.wide[At(nodes[i] - tree.leaves())] = wide[i];
  }
  if (found.why.empty()) found.arithmetic = std::move(arithmetic);
  return found;
}

template <class T>
T ReplayProducts(const SumTree& tree, const Arithmetic& arithmetic, std::span<const T> a,
                 std::span<const T> b) {
  const Adder<T> adder(a, b);
  std::vector<Value> values;
  values.reserve(At(tree.nodes()));
  for (int leaf = 0; leaf < tree.leaves(); ++leaf) {
    const bool exact = arithmetic.exact[At(leaf)];
    values.push_back(exact ? Value{.product = leaf}
                           : Value{.number = adder.template Product<T>(leaf)});
  }
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    const bool wide = arithmetic.wide[At(node - tree.leaves())];
    const auto terms = tree.children(node);
    if (terms.size() == 2) {
      values.push_back(
          {.number = adder.Add(values[At(terms[0])], values[At(terms[1])], wide), .wide = wide});
      continue;
    }
    double total = 0.0;
    for (const int term : terms) {
      const Value& value = values[At(term)];
      total += value.product < 0 ? value.number : adder.template Product<double>(value.product);
    }
    values.push_back({.number = static_cast<T>(total)});
  }
  const Value& root = values.back();
  return static_cast<T>(root.product < 0 ? root.number
                                         : adder.template Product<double>(root.product));
}

template Result<FoundArithmetic> FindArithmetic(ProductSum<float>&, const SumTree&);
template Result<FoundArithmetic> FindArithmetic(ProductSum<double>&, const SumTree&);
template float ReplayProducts(const SumTree&, const Arithmetic&, std::span<const float>,
                              std::span<const float>);
template double ReplayProducts(const SumTree&, const Arithmetic&, std::span<const double>,
                               std::span<const double>);

}  // namespace rharness
