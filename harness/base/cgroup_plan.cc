// Lines of /proc/self/cgroup and /proc/self/mountinfo, and the rules of cgroups(7).
#include "harness/base/cgroup_plan.h"

#include <fmt/format.h>

#include <cstdint>
#include <sstream>

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct MountedGroup {
  std::string root;  // the group that is seen at `point`
  fs::path point;
  std::string type;     // "cgroup2" or "cgroup"
  std::string options;  // of the file system: controllers are among them
};

bool HasWord(std::string_view text, char separator, std::string_view word) {
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (text.substr(0, end) == word) return true;
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return false;
}

// cgroup.controllers and the like: one line, blanks between names.
bool ListsController(std::string_view text, std::string_view controller) {
  const std::size_t end = text.find_last_not_of('\n');
  return end != text.npos && HasWord(text.substr(0, end + 1), ' ', controller);
}

// Fields 4, 5 and those after the " - " of proc_pid_mountinfo(5). It escapes paths with a blank,
// which are never ours.
std::vector<MountedGroup> MountedGroups(std::string_view mounts) {
  std::vector<MountedGroup> found;
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - cgroup");
    if (dash == line.npos || line.find('\\') != line.npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string id, parent, device, source;
    MountedGroup mount;
    std::string point;
    if (before >> id >> parent >> device >> mount.root >> point &&
        after >> mount.type >> source >> mount.options) {
      mount.point = point;
      found.push_back(std::move(mount));
    }
  }
  return found;
}

bool IsLegacy(const MountedGroup& mount, std::string_view controller) {
  return mount.type == "cgroup" && HasWord(mount.options, ',', controller);
}

// "ID:CONTROLLERS:/PATH"; version 2 has no controllers there.
std::string OwnPath(std::string_view own, std::string_view controller) {
  std::istringstream lines{std::string(own)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string_view names = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : HasWord(names, ',', controller)) {
      return line.substr(second + 1);
    }
  }
  return {};
}

// Empty: the group is not below the mounted one.
fs::path FolderOf(const MountedGroup& mount, const std::string& own) {
  const std::string root = mount.root == "/" ? "" : mount.root;
  if (own.empty() || own.starts_with("/..") || !(own + "/").starts_with(root + "/")) return {};
  return (mount.point / fs::path(own.substr(root.size())).relative_path()).lexically_normal();
}

template <class Matches>
fs::path FindFolder(std::string_view mounts, const std::string& own, Matches matches) {
  for (const MountedGroup& mount : MountedGroups(mounts)) {
    if (!matches(mount)) continue;
    fs::path folder = FolderOf(mount, own);
    if (!folder.has_filename()) folder = folder.parent_path();
    if (!folder.empty()) return folder;
  }
  return {};
}

// Empty: version 2 hands this controller down to a job's group, or will once the plan is done.
std::string WhyNotUnified(const CgroupFolders& folders, const CgroupStates& states,
                          std::string_view controller, CgroupPlan* plan) {
  if (folders.unified.empty()) return "no control groups are mounted that this process is in";
  const std::string group = folders.unified.string();
  if (!ListsController(states.controllers, controller)) {
    return fmt::format("the control group {} has no controller '{}'", group, controller);
  }
  if (ListsController(states.subtree_control, controller)) return {};
  if (!states.is_ours) {
    return fmt::format("the control group {} is not delegated to rharness", group);
  }
  if (states.holds_others && !states.is_root) {
    return fmt::format("the control group {} holds other processes than those of rharness", group);
  }
  plan->leave |= states.holds_processes && !states.is_root;
  plan->hand_down = true;
  return {};
}

Hierarchy ChooseHierarchy(const CgroupFolders& folders, const CgroupStates& states,
                          std::string_view controller, CgroupPlan* plan) {
  const bool memory = controller == "memory";
  const fs::path& legacy = memory ? folders.memory : folders.pids;
  std::string why;
  if (!legacy.empty()) {
    if (memory ? states.memory_is_writable : states.pids_is_writable) return Hierarchy::kLegacy;
    why = fmt::format("the control group {} is not ours to write", legacy.string());
  } else {
    why = WhyNotUnified(folders, states, controller, plan);
    if (why.empty()) return Hierarchy::kUnified;
  }
  if (plan->why_not.empty()) plan->why_not = std::move(why);
  return Hierarchy::kNone;
}

}  // namespace

CgroupFolders FindCgroups(std::string_view own, std::string_view mounts) {
  CgroupFolders folders;
  folders.unified = FindFolder(mounts, OwnPath(own, ""),
                               [](const MountedGroup& m) { return m.type == "cgroup2"; });
  if (folders.unified.filename() == kSupervisorGroup) {
    folders.unified = folders.unified.parent_path();
  }
  folders.memory = FindFolder(mounts, OwnPath(own, "memory"),
                              [](const MountedGroup& m) { return IsLegacy(m, "memory"); });
  folders.pids = FindFolder(mounts, OwnPath(own, "pids"),
                            [](const MountedGroup& m) { return IsLegacy(m, "pids"); });
  return folders;
}

std::vector<fs::path> FindCgroupMounts(std::string_view mounts) {
  std::vector<fs::path> points;
  for (const MountedGroup& mount : MountedGroups(mounts)) {
    if (mount.type == "cgroup2" || IsLegacy(mount, "memory") || IsLegacy(mount, "pids")) {
      points.push_back(mount.point);
    }
  }
  return points;
}

CgroupPlan DecideCgroups(const CgroupFolders& folders, const CgroupStates& states) {
  CgroupPlan plan;
  plan.memory = ChooseHierarchy(folders, states, "memory", &plan);
  plan.pids = ChooseHierarchy(folders, states, "pids", &plan);
  return plan;
}

std::uint64_t CgroupCount(std::string_view text, std::string_view key) {
  std::istringstream words{std::string(text)};
  std::string name;
  std::uint64_t count = 0;
  while (words >> name >> count) {
    if (name == key) return count;
  }
  return 0;
}

}  // namespace rharness
