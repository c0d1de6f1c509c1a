// Globs over names: * matches any run of bytes, ? any one byte; every other byte matches itself.
#ifndef RHARNESS_HARNESS_BASE_GLOB_H_
#define RHARNESS_HARNESS_BASE_GLOB_H_

#include <string_view>

namespace rharness {

// Whether all of `text` matches. Cost: at most pattern times text; needs no recursion.
bool GlobMatches(std::string_view pattern, std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_GLOB_H_
