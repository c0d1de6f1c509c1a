// Sets of equal values, written down.
#include "probes/gpu/equal_sets.h"

#include <fmt/format.h>

#include <map>

namespace rharness {
namespace {

std::string TextOf(const std::vector<std::size_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : " ", indices[i]);
    if (last > i) text += fmt::format("-{}", indices[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

EqualSets GroupEqual(const std::vector<std::string>& values) {
  std::map<std::string, std::size_t> number;  // of the set, in the order of its first value
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [at, added] = number.try_emplace(values[i], sets.size());
    if (added) sets.emplace_back();
    sets[at->second].push_back(i);
  }
  EqualSets result{.count = sets.size()};
  for (const auto& set : sets) result.text += (result.text.empty() ? "" : " | ") + TextOf(set);
  return result;
}

}  // namespace rharness
