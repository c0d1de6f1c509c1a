// Files and folders that a child sees read-only.
#ifndef RHARNESS_HARNESS_BASE_READ_ONLY_MOUNTS_H_
#define RHARNESS_HARNESS_BASE_READ_ONLY_MOUNTS_H_

#include <vector>

namespace rharness {

// Gives this process a mount namespace of its own, which still receives later mounts of the
// machine, and mounts each path over itself read-only, with all mounts below it. For a child
// between fork and exec: async-signal-safe, and invisible to the parent. 0, or errno of the step
// that failed, such as EPERM without root: the paths from there on are unchanged. Root in the child
// can undo it.
int MountReadOnly(const std::vector<const char*>& paths);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_READ_ONLY_MOUNTS_H_
