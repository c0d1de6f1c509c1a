// Names of the fields of a selection, for messages.
//
// Role: private to select.cc. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SELECT_FIELDS_H_
#define RHARNESS_HARNESS_DRILL_SELECT_FIELDS_H_

#include <string>
#include <string_view>

namespace rharness {

inline constexpr std::string_view kFieldsExpected =
    "run_id, family, configuration, declared, started, duration_seconds, verified, last_verdict, "
    "rebuild, artifact, 'not' or '('";

// The same, with suggestions for `typed`.
std::string FieldExpected(const std::string& typed);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECT_FIELDS_H_
