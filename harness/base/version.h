// The version of rharness, as reports and records name it.
#ifndef RHARNESS_HARNESS_BASE_VERSION_H_
#define RHARNESS_HARNESS_BASE_VERSION_H_

namespace rharness {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_VERSION_H_
