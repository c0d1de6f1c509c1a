// What the name of an operator of PyTorch says: "aten.transpose.int", "aten::bernoulli_.float".
//
// Role: private to this folder; for what a trace does not state.
#ifndef RHARNESS_COMPARE_TRACES_OPERATOR_NAMES_H_
#define RHARNESS_COMPARE_TRACES_OPERATOR_NAMES_H_

#include <string_view>

namespace rharness {

// Draws random numbers.
bool DrawsByName(std::string_view op);
// Makes or arranges a tensor, and computes nothing.
bool ArrangesOnly(std::string_view op);
// Makes memory that nobody wrote: what it holds says nothing.
bool LeavesUnwritten(std::string_view op);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_OPERATOR_NAMES_H_
