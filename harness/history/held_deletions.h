// A history's records of one deletion list, as an audit log keeps them (held_record.h).
#ifndef RHARNESS_HARNESS_HISTORY_HELD_DELETIONS_H_
#define RHARNESS_HARNESS_HISTORY_HELD_DELETIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/held_record.h"

namespace rharness {

// The signatures under it, the begun deletion, and each step of each file; none if there is no such
// list.
// Errors: those of OpenUntouchedHistory.
Result<std::vector<HeldRecord>> ReadHeldDeletion(const std::string& list_sha256,
                                                 const std::string& url);

// Whether a record of this kind and name is one of them.
bool IsOfDeletion(std::string_view kind, std::string_view name, std::string_view list_sha256);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_HELD_DELETIONS_H_
