// A run that is in a history already, with another manifest than the one that is added.
#ifndef RHARNESS_HARNESS_HISTORY_OTHER_CONTENT_H_
#define RHARNESS_HARNESS_HISTORY_OTHER_CONTENT_H_

#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Where two manifests differ: the first few members with both values, and how many more there are.
// Arrays of unequal length are one difference. Empty: nowhere.
std::string DifferencesOf(const Json& there, const Json& here);

// invalid_input: nobody tampered with anything, but a history is append-only. `there`, `here`: the
// texts of both manifests.
Error OtherContent(const std::string& run_id, std::string_view there, std::string_view here,
                   std::string where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_OTHER_CONTENT_H_
