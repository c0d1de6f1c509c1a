// Folders and files of the cgroup file system.
#include "harness/base/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct CgroupMount {
  std::string root;  // the group that is seen at `point`
  fs::path point;
};

// Field 4 and 5 of proc_pid_mountinfo(5). A place with a blank in it is written otherwise, and none
// of ours.
std::vector<CgroupMount> CgroupMounts() {
  std::vector<CgroupMount> mounts;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.find(" - cgroup2 ") == line.npos || line.find('\\') != line.npos) continue;
    std::istringstream fields(line);
    std::string id, parent, device, root, point;
    if (fields >> id >> parent >> device >> root >> point) mounts.push_back({root, point});
  }
  return mounts;
}

// This process's own, "0::/PATH" in /proc/self/cgroup.
Result<fs::path> OwnCgroup() {
  std::ifstream file("/proc/self/cgroup");
  std::string own;
  for (std::string line; own.empty() && std::getline(file, line);) {
    if (line.starts_with("0::/")) own = line.substr(3);
  }
  for (const CgroupMount& mount : CgroupMounts()) {
    const std::string root = mount.root == "/" ? "" : mount.root;
    const bool below = (own + "/").starts_with(root + "/");
    if (own.empty() || own.starts_with("/..") || !below) continue;
    return mount.point / fs::path(own.substr(root.size())).relative_path();
  }
  return NotFound("no control groups of version 2 are mounted", "/proc/self/mountinfo");
}

void Write(const fs::path& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.valid() && ::write(file.get(), text.data(), text.size()) < 0) return;
}

void AddMembers(const fs::path& group, std::set<int>* pids) {
  std::ifstream file(group / "cgroup.procs");
  for (int pid = 0; file >> pid;) {
    if (pid > 0) pids->insert(pid);  // 0: not seen from this pid namespace
  }
}

// Groups below a group, the deepest first.
std::vector<fs::path> GroupsBelow(const fs::path& group) {
  std::vector<fs::path> groups;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(group, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone)) groups.push_back(entry->path());
  }
  return {groups.rbegin(), groups.rend()};
}

// A group can be removed once its processes have ended, which killed ones do soon.
void EndGroup(const fs::path& group) {
  constexpr int kRounds = 200;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int round = 0; round < kRounds; ++round) {
    Write(group / "cgroup.kill", "1");
    for (const fs::path& below : GroupsBelow(group)) ::rmdir(below.c_str());
    if (::rmdir(group.c_str()) == 0 || (errno != EBUSY && errno != ENOTEMPTY)) return;
    ::nanosleep(&kPause, nullptr);
  }
}

}  // namespace

Result<JobCgroup> JobCgroup::Make(std::string_view name) {
  ASSIGN_OR_RETURN(const fs::path own, OwnCgroup());
  fs::path path = own / name;
  if (::mkdir(path.c_str(), 0755) != 0) {
    return IoErrorFromErrno("cannot make a control group", errno, path.string());
  }
  Descriptor entrance(::open((path / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  const int error = errno;
  std::error_code gone;
  if (entrance.valid() && fs::exists(path / "cgroup.kill", gone)) {
    return JobCgroup(std::move(path), std::move(entrance));
  }
  ::rmdir(path.c_str());
  if (!entrance.valid()) return IoErrorFromErrno("cannot open cgroup.procs", error, path.string());
  return NotFound("the kernel has no cgroup.kill", path.string());
}

JobCgroup::~JobCgroup() {
  if (entrance_.valid()) EndGroup(path_);
}

std::set<int> JobCgroup::Members() const {
  std::set<int> pids;
  AddMembers(path_, &pids);
  for (const fs::path& below : GroupsBelow(path_)) AddMembers(below, &pids);
  return pids;
}

void JobCgroup::Kill() const { Write(path_ / "cgroup.kill", "1"); }

void EndCgroups(std::string_view prefix) {
  for (const CgroupMount& mount : CgroupMounts()) {
    for (const fs::path& group : GroupsBelow(mount.point)) {
      if (group.filename().string().starts_with(prefix)) EndGroup(group);
    }
  }
}

}  // namespace rharness
