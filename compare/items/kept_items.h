// An evaluation with its items as one text: what a record keeps of it, and a rerun brings home.
//
// Role: the same items have the same text, whatever files they came from, so its SHA-256 says
// whether two evaluations are equal. One line of facts that say what was asked, then one item a
// line, as JSON, by task and id. Of an answer its SHA-256 is in it; dates and the context of a run
// are not.
#ifndef RHARNESS_COMPARE_ITEMS_KEPT_ITEMS_H_
#define RHARNESS_COMPARE_ITEMS_KEPT_ITEMS_H_

#include <map>
#include <string>
#include <string_view>

#include "compare/items/eval_items.h"
#include "harness/base/result.h"

namespace rharness {

std::string KeptTextOf(const EvalItems& items);
// Errors: invalid_input, with `where` and the line.
Result<EvalItems> ParseKeptItems(std::string_view text, std::string_view where);

// The mean of each score over the items that have it, finite, by "TASK/SCORE" or "SCORE".
std::map<std::string, double> MeansOf(const EvalItems& items);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_ITEMS_KEPT_ITEMS_H_
