// Operators by name.
#include "compare/traces/operator_names.h"

#include <algorithm>
#include <iterator>

namespace rharness {
namespace {

// "transpose" of "aten.transpose.int", "bernoulli_" of "aten::bernoulli_.float", "mm" of "mm".
std::string_view BaseOf(std::string_view op) {
  if (const auto colons = op.find("::"); colons != op.npos)
    op.remove_prefix(colons + 2);
  else if (op.starts_with("aten."))
    op.remove_prefix(5);
  return op.substr(0, op.find('.'));
}

}  // namespace

bool DrawsByName(std::string_view op) {
  constexpr std::string_view kDraws[] = {"bernoulli", "dropout", "exponential_", "multinomial",
                                         "normal",    "rand",    "uniform"};
  std::string_view base = BaseOf(op);
  if (base.starts_with("native_")) base.remove_prefix(7);
  if (base.ends_with("_backward") || base.starts_with("normalize")) return false;
  return std::ranges::any_of(kDraws, [&](std::string_view one) { return base.starts_with(one); });
}

bool ArrangesOnly(std::string_view op) {
  constexpr std::string_view kNames[] = {
      "_unsafe_view", "alias",     "arange",    "as_strided", "chunk",     "clone",
      "contiguous",   "detach",    "expand",    "full",       "full_like", "lift_fresh",
      "new_zeros",    "ones",      "ones_like", "permute",    "reshape",   "scalar_tensor",
      "select",       "slice",     "split",     "squeeze",    "t",         "transpose",
      "unbind",       "unsqueeze", "view",      "zeros",      "zeros_like"};
  return LeavesUnwritten(op) || std::ranges::find(kNames, BaseOf(op)) != std::end(kNames);
}

bool LeavesUnwritten(std::string_view op) {
  const std::string_view base = BaseOf(op);
  return base.starts_with("empty") || base.starts_with("new_empty") || base == "resize_";
}

}  // namespace rharness
