// Counting cases, and the order of rows.
#include "reports/fingerprint_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kIdentity = 0;
constexpr std::size_t kCompiler = 1;
constexpr std::size_t kChoice = 2;
constexpr std::size_t kTree = 3;
constexpr std::size_t kBits = 4;

using Pair = std::pair<const FingerprintProbe*, const FingerprintProbe*>;

template <class T>
GridCell CellOf(const Pair& pair, std::map<std::string, T> FingerprintProbe::*layer,
                std::size_t changed) {
  GridCell cell;
  for (const auto& [name, value] : pair.first->*layer) {
    if (pair.first->IsUnstable(name) || pair.second->IsUnstable(name)) continue;
    if ((pair.second->*layer).contains(name)) ++cell.of;
  }
  cell.changed = static_cast<int>(changed);
  if (cell.of > 0) cell.state = changed > 0 ? GridCell::State::kChanged : GridCell::State::kSame;
  return cell;
}

// Both layers in one cell, for probes with every case in one layer of the grid.
GridCell Sum(const GridCell& a, const GridCell& b) {
  return {.state = std::max(a.state, b.state), .changed = a.changed + b.changed, .of = a.of + b.of};
}

void FillCells(const Pair& pair, const ProbeDifference& difference, GridRow* row) {
  const GridCell choice = CellOf(pair, &FingerprintProbe::choices, difference.choice_cases.size());
  const GridCell tree = CellOf(pair, &FingerprintProbe::trees, difference.tree_cases.size());
  const GridCell bits = CellOf(pair, &FingerprintProbe::bits, difference.bits_cases.size());
  if (row->family == kIdentityFamily) {
    row->cells[kIdentity] = Sum(Sum(choice, tree), bits);
  } else if (row->family == "compiler" && choice.of == 0) {
    row->cells[kCompiler] = bits;
    row->cells[kTree] = tree;
  } else {
    row->cells[row->family == "compiler" ? kCompiler : kChoice] = choice;
    row->cells[kTree] = tree;
    row->cells[kBits] = bits;
  }
}

std::string StatusWords(const Pair& pair) {
  const auto words = [](const FingerprintProbe* probe) {
    return probe == nullptr ? "not probed" : ProbeStatusName(probe->status);
  };
  const std::string_view before = words(pair.first);
  const std::string_view after = words(pair.second);
  return SpacedName(before == after ? after : fmt::format("was {}, is {}", before, after));
}

}  // namespace

std::string GridCell::Words() const {
  switch (state) {
    case State::kNotShown:
      return "–";
    case State::kSame:
      return fmt::format("= {}", of);
    case State::kChanged:
      return fmt::format("≠ {} of {}", changed, of);
  }
  return "";
}

std::vector<GridRow> BuildGrid(const FingerprintDifference& difference, const Fingerprint& before,
                               const Fingerprint& after) {
  std::map<std::string, Pair> pairs;
  for (const FingerprintProbe& probe : before.probes) pairs[probe.name].first = &probe;
  for (const FingerprintProbe& probe : after.probes) pairs[probe.name].second = &probe;
  static const ProbeDifference kNothing;
  std::vector<GridRow> rows;
  for (const auto& [name, pair] : pairs) {
    GridRow row;
    row.probe = name;
    row.family = (pair.second != nullptr ? pair.second : pair.first)->family;
    row.status = StatusWords(pair);
    const auto found = std::ranges::find(difference.probes, name, &ProbeDifference::probe);
    if (found != difference.probes.end()) row.difference = &*found;
    row.changed = row.difference != nullptr;
    const bool both =
        pair.first != nullptr && pair.second != nullptr && pair.first->Ok() && pair.second->Ok();
    if (both) FillCells(pair, row.changed ? *row.difference : kNothing, &row);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, {}, [](const GridRow& row) {
    return row.changed ? static_cast<int>(row.difference->change) : 1000;
  });
  return rows;
}

std::string ChangeWords(BehaviourChange change) {
  if (change == BehaviourChange::kRounding) return "rounding, epilogue or math";
  std::string words(BehaviourChangeName(change));
  std::ranges::replace(words, '_',
                       change == BehaviourChange::kNonDeterminismGained ||
                               change == BehaviourChange::kNonDeterminismLost
                           ? '-'
                           : ' ');
  if (words.starts_with("non-determinism-")) words[15] = ' ';
  return words;
}

}  // namespace rharness
