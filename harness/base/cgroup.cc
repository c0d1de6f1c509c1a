// Folders and files of the cgroup file systems.
#include "harness/base/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <tuple>

#include "harness/base/process_tree.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string GroupText(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool WriteGroup(const fs::path& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.valid() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// As in cgroup.procs: 0 is a process outside this pid namespace.
std::set<int> ProcessesIn(const fs::path& group) {
  std::set<int> pids;
  std::ifstream file(group / "cgroup.procs");
  for (int pid = 0; file >> pid;) pids.insert(pid);
  return pids;
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

std::set<int> MembersOf(const fs::path& group) {
  std::set<int> pids = ProcessesIn(group);
  for (const fs::path& below : GroupsBelow(group)) pids.merge(ProcessesIn(below));
  pids.erase(0);
  return pids;
}

// Never a later process with the same number: names of groups are not used twice.
void KillMember(int pid, const std::string& group_name) {
  const Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (GroupText(fmt::format("/proc/{}/cgroup", pid)).find("/" + group_name) == std::string::npos) {
    return;
  }
  if (pidfd.valid()) {
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  } else {
    ::kill(pid, SIGKILL);
  }
}

// Version 1, and version 2 before Linux 5.14, end no group as a whole.
void KillGroup(const fs::path& group) {
  if (WriteGroup(group / "cgroup.kill", "1")) return;
  WriteGroup(group / "pids.max", "0");  // no new children while they are killed one by one
  for (const int pid : MembersOf(group)) KillMember(pid, group.filename());
}

// A group can be removed once its processes have ended; killed ones end soon.
void EndGroup(const fs::path& group) {
  constexpr int kRounds = 200;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int round = 0; round < kRounds; ++round) {
    KillGroup(group);
    for (const fs::path& below : GroupsBelow(group)) ::rmdir(below.c_str());
    if (::rmdir(group.c_str()) == 0 || (errno != EBUSY && errno != ENOTEMPTY)) return;
    ::nanosleep(&kPause, nullptr);
  }
}

// This process or a descendant of it.
bool IsOurs(int pid) {
  constexpr int kDeepest = 64;
  for (int depth = 0; pid > 0 && depth < kDeepest; ++depth) {
    if (pid == ::getpid()) return true;
    const auto stat = ReadProcessStat(pid);
    pid = stat ? stat->parent : 0;
  }
  return false;
}

// Write access to a group of systemd does not prove that it is ours: root always has it, and
// systemd marks delegated groups. Source: systemd.io/CGROUP_DELEGATION.
bool IsOursToArrange(const fs::path& group) {
  if (::access((group / "cgroup.subtree_control").c_str(), W_OK) != 0 ||
      ::access((group / "cgroup.procs").c_str(), W_OK) != 0) {
    return false;
  }
  if (::geteuid() != 0 || !Exists("/run/systemd/system")) return true;
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    char value = 0;
    if (::getxattr(group.c_str(), name, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

CgroupStates LookAt(const CgroupFolders& folders) {
  CgroupStates states;
  states.memory_is_writable = ::access(folders.memory.c_str(), W_OK) == 0;
  states.pids_is_writable = ::access(folders.pids.c_str(), W_OK) == 0;
  if (folders.unified.empty()) return states;
  states.controllers = GroupText(folders.unified / "cgroup.controllers");
  states.subtree_control = GroupText(folders.unified / "cgroup.subtree_control");
  states.is_root = !Exists(folders.unified / "cgroup.type");
  states.is_ours = IsOursToArrange(folders.unified);
  const std::set<int> pids = ProcessesIn(folders.unified);
  states.holds_processes = !pids.empty();
  states.holds_others = std::any_of(pids.begin(), pids.end(), [](int pid) { return !IsOurs(pid); });
  return states;
}

// False: something is left in it.
bool LeaveForBelow(const fs::path& group) {
  const fs::path below = group / kSupervisorGroup;
  if (::mkdir(below.c_str(), 0755) != 0 && errno != EEXIST) return false;
  constexpr int kRounds = 50;  // processes that start meanwhile appear in the next round
  for (int round = 0; round < kRounds; ++round) {
    const std::set<int> pids = ProcessesIn(group);
    if (pids.empty()) return true;
    for (const int pid : pids) {
      if (!IsOurs(pid)) return false;
      WriteGroup(below / "cgroup.procs", std::to_string(pid));
    }
  }
  return false;
}

struct Arrangement {
  CgroupFolders folders;
  CgroupPlan plan;
};

Arrangement Arrange() {
  Arrangement made;
  made.folders = FindCgroups(GroupText("/proc/self/cgroup"), GroupText("/proc/self/mountinfo"));
  CgroupPlan& plan = made.plan;
  plan = DecideCgroups(made.folders, LookAt(made.folders));
  const fs::path& group = made.folders.unified;
  bool done = !plan.leave || LeaveForBelow(group);
  for (const auto& [hierarchy, word] : {std::pair(plan.memory, "+memory"), {plan.pids, "+pids"}}) {
    if (!plan.hand_down || hierarchy != Hierarchy::kUnified) continue;
    done = done && WriteGroup(group / "cgroup.subtree_control", word);
  }
  if (done) return made;
  for (Hierarchy* hierarchy : {&plan.memory, &plan.pids}) {
    if (*hierarchy == Hierarchy::kUnified) *hierarchy = Hierarchy::kNone;
  }
  plan.why_not = fmt::format("the control group {} could not be arranged", group.string());
  return made;
}

// Version 1 before Linux 4.13 does not report kills.
bool TellsKills(const fs::path& group) {
  return GroupText(group / "memory.oom_control").find("\noom_kill ") != std::string::npos;
}

bool LimitMemory(const fs::path& group, Hierarchy hierarchy, std::uint64_t bytes) {
  const std::string text = std::to_string(bytes);
  if (hierarchy == Hierarchy::kUnified) {
    WriteGroup(group / "memory.oom.group", "1");
    WriteGroup(group / "memory.swap.max", "0");  // missing if nothing is swapped
    return WriteGroup(group / "memory.max", text);
  }
  WriteGroup(group / "memory.use_hierarchy", "1");
  if (!TellsKills(group) || !WriteGroup(group / "memory.limit_in_bytes", text)) return false;
  if (!WriteGroup(group / "memory.memsw.limit_in_bytes", text))
    WriteGroup(group / "memory.swappiness", "0");
  return true;
}

}  // namespace

// Moving a whole process waits until every processor has passed a quiet state, ten milliseconds and
// more. Version 1 also lets a thread move itself, without a wait, and a child before its exec is
// one thread. Source: cgroup_procs_write_start in the kernel's kernel/cgroup/cgroup.c.
Status JobCgroup::Add(const fs::path& path, Hierarchy hierarchy) {
  for (const Group& group : groups_) {
    if (group.path == path) return {};
  }
  if (::mkdir(path.c_str(), 0755) != 0) {
    return IoErrorFromErrno("cannot make a control group", errno, path.string());
  }
  const char* file = hierarchy == Hierarchy::kLegacy ? "tasks" : "cgroup.procs";
  Descriptor entrance(::open((path / file).c_str(), O_WRONLY | O_CLOEXEC));
  if (!entrance.valid()) {
    const int error = errno;
    ::rmdir(path.c_str());
    return IoErrorFromErrno(fmt::format("cannot open {}", file), error, path.string());
  }
  groups_.push_back({path, std::move(entrance)});
  return {};
}

Result<JobCgroup> JobCgroup::Make(std::string_view name, const CgroupLimits& limits,
                                  const JobCgroup* above) {
  static const Arrangement arranged = Arrange();
  const CgroupFolders& folders = arranged.folders;
  JobCgroup made;
  made.name_ = name;
  made.above_ = above;
  const fs::path below = above == nullptr ? fs::path(name) : fs::path(above->name_) / name;
  made.why_not_ = arranged.plan.why_not;
  Status status =
      NotFound("no control groups are mounted that this process is in", "/proc/self/mountinfo");
  const auto add = [&](const fs::path& folder, Hierarchy hierarchy, fs::path* of_controller) {
    if (folder.empty()) return;
    status = made.Add(folder / below, hierarchy);
    if (!status.ok()) made.why_not_ = status.error().ToString();
    if (status.ok() && of_controller != nullptr) *of_controller = folder / below;
  };
  const auto folder_of = [&](Hierarchy hierarchy, const fs::path& legacy) {
    if (hierarchy == Hierarchy::kNone) return fs::path();
    return hierarchy == Hierarchy::kLegacy ? legacy : folders.unified;
  };
  const CgroupPlan& plan = arranged.plan;
  // Any group ends a job; version 2's is used only if version 1 cannot do it.
  if (plan.pids != Hierarchy::kLegacy || plan.memory == Hierarchy::kUnified) {
    add(folders.unified, Hierarchy::kUnified, nullptr);
  }
  add(folder_of(plan.memory, folders.memory), plan.memory, &made.memory_);
  if (!made.memory_.empty()) made.memory_hierarchy_ = plan.memory;
  add(folder_of(plan.pids, folders.pids), plan.pids, &made.pids_);
  if (!made.pids_.empty()) made.pids_hierarchy_ = plan.pids;
  if (made.groups_.empty()) return status.error();
  made.Limit(limits);
  return made;
}

bool JobCgroup::HandDown() const {
  for (const auto& [hierarchy, folder, word] :
       {std::tuple(memory_hierarchy_, memory_, "+memory"), {pids_hierarchy_, pids_, "+pids"}}) {
    if (hierarchy != Hierarchy::kUnified) continue;
    if (!WriteGroup(folder / "cgroup.subtree_control", word)) return false;
  }
  return true;
}

void JobCgroup::Limit(const CgroupLimits& limits) {
  const auto refused = [this](const fs::path& group) {
    why_not_ = fmt::format("the control group {} takes no limit", group.string());
  };
  if (limits.memory_bytes > 0 && !memory_.empty()) {
    memory_bytes_ = limits.memory_bytes;
    limits_memory_ = LimitMemory(memory_, memory_hierarchy_, memory_bytes_);
    if (!limits_memory_) refused(memory_);
  }
  if (limits.processes > 0 && !pids_.empty()) {
    limits_processes_ = WriteGroup(pids_ / "pids.max", std::to_string(limits.processes));
    if (!limits_processes_) refused(pids_);
  }
}

JobCgroup::~JobCgroup() {
  for (const Group& group : groups_) {
    if (group.entrance.valid()) EndGroup(group.path);
  }
}

std::vector<int> JobCgroup::entrances() const {
  std::vector<int> descriptors;
  for (const Group& group : groups_) descriptors.push_back(group.entrance.get());
  return descriptors;
}

std::set<int> JobCgroup::Members() const {
  std::set<int> pids;
  for (const Group& group : groups_) pids.merge(MembersOf(group.path));
  return pids;
}

void JobCgroup::Kill() const {
  for (const Group& group : groups_) KillGroup(group.path);
}

bool JobCgroup::WasFull() const {
  if (memory_hierarchy_ == Hierarchy::kUnified) {
    return CgroupCount(GroupText(memory_ / "memory.events"), "oom") > 0;
  }
  // Nothing shows whose limit it was; but a group killed at its own limit had come close to it.
  const std::uint64_t most =
      CgroupCount("most " + GroupText(memory_ / "memory.max_usage_in_bytes"), "most");
  return limits_memory_ && most >= memory_bytes_ - memory_bytes_ / 8;
}

CgroupEvents JobCgroup::Events() const {
  CgroupEvents events;
  const bool unified = memory_hierarchy_ == Hierarchy::kUnified;
  const fs::path file = memory_ / (unified ? "memory.events" : "memory.oom_control");
  const std::uint64_t kills = memory_.empty() ? 0 : CgroupCount(GroupText(file), "oom_kill");
  if (kills > 0) {
    const bool own = WasFull();
    events.above = !own && above_ != nullptr && above_->WasFull();
    events.out_of_memory = own || events.above;
    events.others_needed = !events.out_of_memory;
  }
  events.unstarted = CgroupCount(GroupText(pids_ / "pids.events"), "max");
  return events;
}

std::optional<std::uint64_t> OwnMemoryKills() {
  const CgroupFolders own =
      FindCgroups(GroupText("/proc/self/cgroup"), GroupText("/proc/self/mountinfo"));
  if (!own.memory.empty() && TellsKills(own.memory)) {
    return CgroupCount(GroupText(own.memory / "memory.oom_control"), "oom_kill");
  }
  const std::string events =
      own.unified.empty() ? std::string() : GroupText(own.unified / "memory.events");
  if (events.empty()) return std::nullopt;
  return CgroupCount(events, "oom_kill");
}

void EndCgroups(std::string_view prefix) {
  for (const fs::path& mount : FindCgroupMounts(GroupText("/proc/self/mountinfo"))) {
    for (const fs::path& group : GroupsBelow(mount)) {
      if (group.filename().string().starts_with(prefix)) EndGroup(group);
    }
  }
}

}  // namespace rharness
