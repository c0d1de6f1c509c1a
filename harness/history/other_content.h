// The error for a run that is in a history already with another manifest.
#ifndef RHARNESS_HARNESS_HISTORY_OTHER_CONTENT_H_
#define RHARNESS_HARNESS_HISTORY_OTHER_CONTENT_H_

#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// The differences of two manifests: the first few members with both values, and the number of the
// rest. Arrays of unequal length are one difference. Empty: equal.
std::string DifferencesOf(const Json& there, const Json& here);

// invalid_input: this is no tampering, but a history is append-only. `there`, `here`: the texts of
// both manifests.
Error OtherContent(const std::string& run_id, std::string_view there, std::string_view here,
                   std::string where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_OTHER_CONTENT_H_
