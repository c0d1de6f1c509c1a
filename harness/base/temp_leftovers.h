// What killed processes left in the folder of temporary files.
//
// Role: who makes such a folder and may be killed holds its lock (FolderLock::Take) while it lives,
// so that the next process knows whether anybody still uses it.
#ifndef RHARNESS_HARNESS_BASE_TEMP_LEFTOVERS_H_
#define RHARNESS_HARNESS_BASE_TEMP_LEFTOVERS_H_

#include <string_view>

namespace rharness {

// Removes this user's folders of temporary files whose names begin with `prefix`, that have a lock
// of a minute ago or more, and that no process holds. Once a process and prefix; errors are none.
void RemoveLeftovers(std::string_view prefix);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_TEMP_LEFTOVERS_H_
