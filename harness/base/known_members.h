// Refuses members that a record does not have.
//
// Role: records that are read strictly: a misspelled member is an error, not a silence.
#ifndef RHARNESS_HARNESS_BASE_KNOWN_MEMBERS_H_
#define RHARNESS_HARNESS_BASE_KNOWN_MEMBERS_H_

#include <span>
#include <string_view>

#include "harness/base/json_reader.h"

namespace rharness {

// Fails on the first member that is not in `known`, with the closest known name as a hint. Members
// whose name begins with "x-" are always allowed, and ignored. Over values: nothing to refuse.
void RefuseUnknownMembers(JsonReader& reader, std::span<const std::string_view> known);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_KNOWN_MEMBERS_H_
