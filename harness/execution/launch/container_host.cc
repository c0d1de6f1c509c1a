// User namespaces, cgroups, and the owner of workspaces.
#include "harness/execution/launch/container_host.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  auto text = ReadFile(path);
  return text.ok() ? std::move(*text) : std::string();
}

// The machine's own root sees the real ids of all users.
bool IsRealRoot() {
  if (::geteuid() != 0) return false;
  std::istringstream words(TextOf("/proc/self/uid_map"));
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  constexpr std::uint64_t kAll = 4294967295;
  return words >> inside >> outside >> count && inside == 0 && outside == 0 && count == kAll;
}

// Where an engine's containers get their cgroup: root may use every controller, a user those that
// the session's manager delegates.
bool HasController(std::string_view name) {
  const fs::path top = "/sys/fs/cgroup";
  std::error_code error;
  if (::geteuid() == 0 && fs::is_directory(top / name, error)) return true;  // version 1
  const fs::path own = ::geteuid() == 0
                           ? top
                           : top / "user.slice" / fmt::format("user-{}.slice", ::geteuid()) /
                                 fmt::format("user@{}.service", ::geteuid());
  return HoldsController(TextOf(own / "cgroup.controllers"), name);
}

Status GiveAway(const fs::path& path, const fs::path& name) {
  if (::lchown(path.c_str(), kFirstContainerUser, kFirstContainerUser) == 0) return {};
  return IoErrorFromErrno("cannot give to the container's user", errno, name.string());
}

Status CheckReadable(const Mount& mount) {
  struct stat info {};
  if (::stat(mount.source.c_str(), &info) != 0) {
    return IoErrorFromErrno("cannot stat", errno, mount.source.string());
  }
  const mode_t needed = S_ISDIR(info.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  if ((info.st_mode & needed) == needed) return {};
  return InvalidInput(
      fmt::format("cannot be read by the unprivileged user that containers run as (mode {:04o}); "
                  "expected data that others may read, or --container-root",
                  info.st_mode & 07777U),
      mount.source.string());
}

}  // namespace

ContainerHost DescribeContainerHost() {
  ContainerHost host;
  host.rootful = IsRealRoot();
  if (HasController("memory")) {
    host.memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  host.can_limit_processes = HasController("pids");
  return host;
}

bool HoldsController(std::string_view controllers, std::string_view name) {
  std::istringstream words{std::string(controllers)};
  for (std::string word; words >> word;) {
    if (word == name) return true;
  }
  return false;
}

bool RunsUnprivileged(const Job& job, const ContainerHost& host) {
  return host.rootful && !job.container_root;
}

Status HandOverWorkspace(const Job& job, const ContainerHost& host) {
  if (!RunsUnprivileged(job, host)) return {};
  for (const Mount& mount : job.mounts) RETURN_IF_ERROR(CheckReadable(mount));
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(job.workspace));
  std::error_code error;
  for (fs::recursive_directory_iterator entry(held.through(), error), end; entry != end;
       entry.increment(error)) {
    if (error) break;
    RETURN_IF_ERROR(GiveAway(entry->path(), entry->path()));
  }
  if (error) return IoError("cannot list: " + error.message(), job.workspace.string());
  return GiveAway(job.workspace, job.workspace);
}

}  // namespace rharness
