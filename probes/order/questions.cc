// One question per sum, or many.
//
// Many at once: the groups of one level lie in disjoint subtrees, so that the masks of each meet,
// and are gone, before they come upon those of another. With units of weight 1, b, b c, ... in
// groups of at most b, c, ... units, the sum's digits are the counts. A leaf beside each group, its
// witness, is always counted in a binary tree; if it is not, an addition of several terms has
// swallowed more than its own group, and the questions of that sum are repeated one by one.
#include "probes/order/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "probes/order/at.h"

namespace rharness {
namespace {

// Counts of units and the witness are below this. A power of two, so that the weights are, too, and
// exact in every floating-point type.
std::int64_t BaseOf(const GroupQuestions& group) {
  return static_cast<std::int64_t>(std::bit_ceil(group.leaves.size()));
}

}  // namespace

Result<std::vector<int>> Questions::Ask(const std::vector<MaskPair>& pairs, Revealed* revealed,
                                        bool counted) {
  ASSIGN_OR_RETURN(const auto first, AskOnce(pairs, counted ? revealed : nullptr));
  for (int repeat = 0; repeat < options_.repeats; ++repeat) {
    ASSIGN_OR_RETURN(const auto again, AskOnce(pairs, nullptr));
    if (again != first) revealed->deterministic = false;
  }
  std::vector<int> leaves;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double outside = first[i];
    const int under = outside >= 0 && outside <= sum_.size() - 2 && outside == std::floor(outside)
                          ? sum_.size() - static_cast<int>(outside)
                          : 0;
    if (under == 0 && revealed->why.empty()) {
      revealed->why = fmt::format(
          "with masks at {} and {} the routine gave {} units; expected a "
          "whole number of at most {}",
          pairs[i].plus, pairs[i].minus, outside, sum_.size() - 2);
    }
    leaves.push_back(under);
  }
  return leaves;
}

Result<std::vector<int>> Questions::Check(const std::vector<MaskPair>& pairs, Revealed* revealed) {
  return Ask(pairs, revealed, false);
}

Status Questions::CheckBatch(const std::vector<MaskPair>& pairs, Revealed* revealed) {
  if (sum_.max_batch() == 1 || pairs.size() < 2) return {};
  ASSIGN_OR_RETURN(const auto together, AskOnce(pairs, nullptr));
  const std::size_t rows = std::min(At(sum_.max_batch()), pairs.size());
  const auto last_sample = At(std::max(1, options_.batch_samples - 1));
  for (int sample = 0; sample < options_.batch_samples; ++sample) {
    const std::size_t i = (rows - 1) * At(sample) / last_sample;
    ASSIGN_OR_RETURN(const auto alone, AskOnce({pairs[i]}, nullptr));
    if (alone.front() != together[i]) {
      revealed->why = fmt::format(
          "masks at {} and {} gave {} units in a batch and {} alone: the "
          "order depends on the batch",
          pairs[i].plus, pairs[i].minus, together[i], alone.front());
    }
  }
  return {};
}

// Units outside, for each pair; summed over blocks that the accumulator counts exactly.
Result<std::vector<double>> Questions::AskOnce(const std::vector<MaskPair>& pairs,
                                               Revealed* count) {
  const int n = sum_.size();
  const auto whole = static_cast<int>(std::min<std::int64_t>(n, sum_.exact_count()));
  const int block = halved_ ? (whole + 1) / 2 : whole;
  const auto batch = At(sum_.max_batch());
  std::vector<double> counts(pairs.size(), 0.0), part(std::min(batch, pairs.size()));
  for (int begin = 0; begin < n; begin += block) {
    for (std::size_t at = 0; at < pairs.size(); at += batch) {
      const auto some = std::span(pairs).subspan(at, std::min(batch, pairs.size() - at));
      const auto out = std::span(part).first(some.size());
      RETURN_IF_ERROR(sum_.Count(some, {begin, std::min(n, begin + block)}, out));
      for (std::size_t i = 0; i < out.size(); ++i) counts[at + i] += out[i];
      if (count != nullptr) count->probes += some.size(), ++count->launches;
    }
  }
  return counts;
}

// Largest groups first, since a bundle needs as many sums as its largest group has questions.
std::vector<Questions::Bundle> Questions::Pack(const std::vector<GroupQuestions>& groups) const {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return groups[i].pairs.size(); });
  std::vector<Bundle> bundles;
  const std::int64_t most = sum_.packed_count();
  std::vector<std::int64_t> product;  // of the bases of each bundle: the weight of the next group
  std::size_t open = 0;               // bundles before this one have no room for two leaves
  for (const std::size_t i : order) {
    if (!Packs(groups[i])) continue;
    const std::int64_t base = BaseOf(groups[i]);
    while (open < bundles.size() && product[open] > most / 2) ++open;
    std::size_t at = open;
    while (at < bundles.size() && product[at] > most / base) ++at;
    if (at == bundles.size()) {
      bundles.push_back({.sums = groups[i].pairs.size()});
      product.push_back(1);
    }
    bundles[at].groups.push_back(i);
    bundles[at].weights.push_back(product[at]);
    product[at] *= base;
  }
  return bundles;
}

Result<std::vector<double>> Questions::SumBundle(const std::vector<GroupQuestions>& groups,
                                                 const Bundle& bundle, Revealed* count) {
  std::vector<std::int64_t> units(At(sum_.size()), 0);
  for (std::size_t k = 0; k < bundle.groups.size(); ++k) {
    const GroupQuestions& group = groups[bundle.groups[k]];
    for (const int leaf : group.leaves) units[At(leaf)] += bundle.weights[k];
    units[At(group.witness)] += bundle.weights[k];
  }
  std::vector<std::vector<MaskPair>> sums(bundle.sums);
  for (const std::size_t i : bundle.groups) {
    // A group without further questions repeats its last one: its digit stays one of its own.
    const auto& pairs = groups[i].pairs;
    for (std::size_t q = 0; q < bundle.sums; ++q) {
      sums[q].push_back(pairs[std::min(q, pairs.size() - 1)]);
    }
  }
  std::vector<double> totals(sums.size());
  RETURN_IF_ERROR(sum_.CountPacked(units, sums, totals));
  const auto batch = At(sum_.max_batch());
  if (count != nullptr) {
    count->probes += sums.size();
    count->launches += (sums.size() + batch - 1) / batch;
  }
  return totals;
}

bool Questions::Packs(const GroupQuestions& group) const {
  return packs_ && group.witness >= 0 && !group.pairs.empty() &&
         BaseOf(group) <= sum_.packed_count();
}

Result<std::vector<int>> Questions::AskGroups(const std::vector<GroupQuestions>& groups,
                                              Revealed* revealed) {
  std::vector<std::vector<int>> answers;
  answers.reserve(groups.size());
  for (const GroupQuestions& group : groups) answers.emplace_back(group.pairs.size(), 0);
  for (const Bundle& bundle : Pack(groups)) {
    if (bundle.groups.size() < 2) continue;
    RETURN_IF_ERROR(AskBundle(groups, bundle, answers, revealed));
  }
  std::vector<MaskPair> alone;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t q = 0; q < answers[i].size(); ++q) {
      if (answers[i][q] == 0) alone.push_back(groups[i].pairs[q]);
    }
  }
  ASSIGN_OR_RETURN(const std::vector<int> told, Ask(alone, revealed, true));
  std::vector<int> all;
  auto next = told.begin();
  for (const std::vector<int>& of_group : answers) {
    for (const int answer : of_group) all.push_back(answer != 0 ? answer : *next++);
  }
  return all;
}

Status Questions::AskBundle(const std::vector<GroupQuestions>& groups, const Bundle& bundle,
                            std::span<std::vector<int>> answers, Revealed* revealed) {
  ASSIGN_OR_RETURN(const auto totals, SumBundle(groups, bundle, revealed));
  for (int repeat = 0; repeat < options_.repeats; ++repeat) {
    ASSIGN_OR_RETURN(const auto again, SumBundle(groups, bundle, nullptr));
    if (again != totals) revealed->deterministic = false;
  }
  for (std::size_t q = 0; q < totals.size(); ++q) {
    const double limit = static_cast<double>(sum_.packed_count());
    const bool whole = totals[q] >= 0 && totals[q] < limit && totals[q] == std::floor(totals[q]);
    auto rest = whole ? static_cast<std::int64_t>(totals[q]) : 0;
    bool told = whole;
    for (const std::size_t i : bundle.groups) {
      const std::int64_t base = BaseOf(groups[i]), digit = rest % base;
      rest /= base;
      told = told && digit > 0;
      const auto leaves = static_cast<std::int64_t>(groups[i].leaves.size());
      told = told && digit < leaves;
      if (q < groups[i].pairs.size()) answers[i][q] = static_cast<int>(leaves - (digit - 1));
    }
    if (told && rest == 0) continue;
    packs_ = false;
    for (const std::size_t i : bundle.groups) {
      if (q < groups[i].pairs.size()) answers[i][q] = 0;
    }
  }
  return {};
}

}  // namespace rharness
