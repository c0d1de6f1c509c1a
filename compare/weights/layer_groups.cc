// Names taken apart at dots and runs of digits; differences summed by group.
#include "compare/weights/layer_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rharness {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsNumber(std::string_view component) {
  return !component.empty() && std::ranges::all_of(component, IsDigit);
}

// Takes the digits off the front of `text`, and returns them without leading zeros.
std::string_view TakeNumber(std::string_view* text) {
  const auto end = std::ranges::find_if_not(*text, IsDigit);
  std::string_view digits = text->substr(0, static_cast<std::size_t>(end - text->begin()));
  text->remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

std::string_view GroupOf(std::string_view tensor_name) {
  for (std::size_t end = tensor_name.size(); end != std::string_view::npos;) {
    const std::string_view head = tensor_name.substr(0, end);
    const std::size_t dot = head.rfind('.');
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    if (IsNumber(head.substr(begin))) return head;
    end = dot;
  }
  return tensor_name.substr(0, std::min(tensor_name.rfind('.'), tensor_name.size()));
}

bool NaturalLess(std::string_view a, std::string_view b) {
  std::string_view x = a, y = b;
  while (!x.empty() && !y.empty()) {
    if (IsDigit(x[0]) && IsDigit(y[0])) {
      const std::string_view p = TakeNumber(&x), q = TakeNumber(&y);
      if (p.size() != q.size()) return p.size() < q.size();
      if (p != q) return p < q;
      continue;
    }
    if (x[0] != y[0]) return static_cast<unsigned char>(x[0]) < static_cast<unsigned char>(y[0]);
    x.remove_prefix(1);
    y.remove_prefix(1);
  }
  if (x.empty() != y.empty()) return x.empty();
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void LayerGroups::Add(std::string_view tensor_name, std::uint64_t elements,
                      const TensorDifference* difference) {
  const std::string_view name = GroupOf(tensor_name);
  auto at = groups_.find(name);
  if (at == groups_.end()) at = groups_.emplace(name, Sums{}).first;
  Sums& sums = at->second;
  ++sums.group.tensors;
  sums.group.elements += elements;
  if (difference == nullptr) return;
  ++sums.group.differing_tensors;
  sums.group.differing += difference->differing;
  sums.group.max_ulp = std::max(sums.group.max_ulp, difference->max_ulp);
  if (!std::isnan(difference->max_abs)) {
    ++sums.measurable;
    sums.group.max_abs = std::max(sums.group.max_abs, difference->max_abs);
    sums.group.max_rel = std::max(sums.group.max_rel, difference->max_rel);
  }
  if (!std::isnan(difference->norm_a)) {
    ++sums.with_norms;
    sums.a_squared += difference->norm_a * difference->norm_a;
    sums.difference_squared += difference->norm_difference * difference->norm_difference;
  }
}

std::vector<GroupDifference> LayerGroups::Build() const {
  std::vector<GroupDifference> groups;
  groups.reserve(groups_.size());
  for (const auto& [name, sums] : groups_) {
    GroupDifference& group = groups.emplace_back(sums.group);
    group.group = name;
    if (group.differing_tensors == 0) continue;
    if (sums.measurable == 0) group.max_abs = group.max_rel = kNan;
    group.relative_norm =
        sums.with_norms == 0 ? kNan : std::sqrt(sums.difference_squared / sums.a_squared);
  }
  return groups;
}

}  // namespace rharness
