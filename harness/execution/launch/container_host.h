// What this machine allows an engine, and the user of containers on it.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_CONTAINER_HOST_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_CONTAINER_HOST_H_

#include <cstdint>
#include <string_view>

#include "harness/execution/launch/job.h"

namespace rharness {

struct ContainerHost {
  // This process is the machine's own root, not that of a user namespace, and so would be root in a
  // container without a user namespace of its own.
  bool rootful = false;
  std::uint64_t memory_bytes = 0;    // the machine's; 0: an engine cannot limit memory here
  bool can_limit_processes = false;  // by a cgroup
};
// Asks the kernel.
ContainerHost DescribeContainerHost();

// Pure: does a list of cgroup controllers, separated by blanks, contain this one?
bool HoldsController(std::string_view controllers, std::string_view name);

// Users and groups of containers under a rootful engine: the last 65536 of those that systemd
// reserves for containers, which no account has. Root in the container is the first of them.
// Source: systemd.io/UIDS-GIDS.
inline constexpr unsigned kFirstContainerUser = 1878982656;
inline constexpr unsigned kContainerUsers = 65536;

// Whether the job's container runs as kFirstContainerUser: under a rootful engine, unless the job
// says otherwise.
bool RunsUnprivileged(const Job& job, const ContainerHost& host);

// Gives the workspace and its content to the container's user, if that is another user; and checks
// that this user may read the mounts. Errors: io; invalid_input, which names an unreadable file.
Status HandOverWorkspace(const Job& job, const ContainerHost& host);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_CONTAINER_HOST_H_
