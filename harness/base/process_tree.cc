// Reads /proc. Membership is decided by group, parent and environment; identity by start time.
#include "harness/base/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "harness/base/subprocess.h"

namespace rharness {
namespace {

// Reads at most `limit` bytes of a /proc file; empty when it is gone or not readable.
std::string ReadProcFile(const std::string& path, std::size_t limit) {
  std::string content;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return content;
  constexpr std::size_t kBlock = 4096;
  while (content.size() < limit) {
    const std::size_t old_size = content.size();
    content.resize(old_size + kBlock);
    const ssize_t count = ::read(fd.get(), content.data() + old_size, kBlock);
    content.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count <= 0) break;
  }
  return content;
}

template <class T>
bool TakeNumber(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc();
}

// The newest process id of this pid namespace: the last field of /proc/loadavg. 0: unknown.
int NewestPid() {
  const std::string text = ReadProcFile("/proc/loadavg", 256);
  int pid = 0;
  const std::size_t space = text.rfind(' ');
  if (space != std::string::npos) TakeNumber(std::string_view(text).substr(space + 1), &pid);
  return pid;
}

std::vector<int> AllPids() {
  std::vector<int> pids;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = ::readdir(folder)) {
    int pid = 0;
    if (TakeNumber(entry->d_name, &pid)) pids.push_back(pid);
  }
  ::closedir(folder);
  return pids;
}

// Signals exactly the process that was seen, never a later one of the same number.
void SignalProcess(const ProcessStat& seen, int signal) {
  const Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, seen.pid, 0)));
  const std::optional<ProcessStat> now = ReadProcessStat(seen.pid);
  if (!now || now->start_ticks != seen.start_ticks) return;
  if (pidfd.valid()) {
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
  } else {
    ::kill(seen.pid, signal);
  }
}

std::uint64_t ProportionalBytesOf(const ProcessStat& stat) {
  const std::string text = ReadProcFile(fmt::format("/proc/{}/smaps_rollup", stat.pid), 1 << 16);
  const std::size_t at = text.find("\nPss:");
  if (at == std::string::npos) return stat.resident_bytes;
  const std::size_t digits = text.find_first_of("0123456789", at);
  std::uint64_t kibibytes = 0;
  if (digits == std::string::npos ||
      !TakeNumber(std::string_view(text).substr(digits), &kibibytes)) {
    return stat.resident_bytes;
  }
  return kibibytes * 1024;
}

// Whether a variable of the process is `text`, or begins with it.
bool Carries(int pid, std::string_view text, bool whole) {
  const std::string environment =
      ReadProcFile(fmt::format("/proc/{}/environ", pid), std::size_t{4} << 20);
  for (std::size_t at = environment.find(text); at != std::string::npos;
       at = environment.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if ((at == 0 || environment[at - 1] == '\0') &&
        (!whole || end == environment.size() || environment[end] == '\0')) {
      return true;
    }
  }
  return false;
}

// Calls `round` until it finds nothing left to do, for a second at most.
template <class F>
void Repeatedly(F round) {
  constexpr int kRounds = 200;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int i = 0; i < kRounds && !round(); ++i) ::nanosleep(&kPause, nullptr);
}

}  // namespace

std::optional<ProcessStat> ReadProcessStat(int pid) {
  const std::string text = ReadProcFile(fmt::format("/proc/{}/stat", pid), 4096);
  // The second field is a name in parentheses that may itself contain spaces and parentheses.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::vector<std::string_view> fields;  // fields[0] is field 3 of proc(5)
  std::string_view rest = std::string_view(text).substr(name_end + 1);
  while (!rest.empty()) {
    const std::size_t begin = rest.find_first_not_of(" \n");
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin);
    const std::size_t end = std::min(rest.find_first_of(" \n"), rest.size());
    fields.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  ProcessStat stat;
  stat.pid = pid;
  std::uint64_t resident_pages = 0;
  if (fields.size() < 22 || !TakeNumber(fields[1], &stat.parent) ||
      !TakeNumber(fields[2], &stat.group) || !TakeNumber(fields[19], &stat.start_ticks) ||
      !TakeNumber(fields[21], &resident_pages)) {
    return std::nullopt;
  }
  stat.state = fields[0].front();
  stat.resident_bytes = resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return stat;
}

ProcessTree::ProcessTree(int leader, std::string marker, bool group_only, const JobCgroup* cgroup)
    : leader_(leader),
      marker_(std::move(marker)),
      group_only_(group_only),
      cgroup_(cgroup),
      last_pid_(leader) {}

std::vector<int> ProcessTree::Candidates() {
  const int newest = NewestPid();
  // Numbers are given out in rising order; once they start again at the bottom, all are suspect.
  if (newest < last_pid_) wrapped_ = true;
  last_pid_ = newest;
  std::vector<int> pids;
  constexpr int kFewPids = 128;
  if (!wrapped_ && newest - leader_ <= kFewPids) {
    for (int pid = leader_; pid <= newest; ++pid) pids.push_back(pid);
    return pids;
  }
  pids = AllPids();
  if (!wrapped_) std::erase_if(pids, [this](int pid) { return pid < leader_; });
  return pids;
}

bool ProcessTree::Adopt(const ProcessStat& stat, bool search_environments) const {
  if (stat.pid == leader_ || stat.group == leader_) return true;
  if (in_cgroup_.contains(stat.pid)) return true;
  if (group_only_) return false;
  if (members_.contains(stat.parent)) return true;
  if (!search_environments || marker_.empty() || stat.IsDead()) return false;
  return Carries(stat.pid, marker_, /*whole=*/true);
}

void ProcessTree::Refresh(bool search_environments) {
  const std::vector<int> candidates = Candidates();
  std::set<int> pids(candidates.begin(), candidates.end());
  // After the candidates, so that none of them was started into it unseen.
  if (cgroup_ != nullptr) in_cgroup_ = cgroup_->Members();
  pids.insert(in_cgroup_.begin(), in_cgroup_.end());
  std::vector<ProcessStat> strangers;
  std::map<int, ProcessStat> members;
  for (const int pid : pids) {
    const std::optional<ProcessStat> stat = ReadProcessStat(pid);
    if (!stat) continue;
    const auto known = members_.find(pid);
    const bool same = known != members_.end() && known->second.start_ticks == stat->start_ticks;
    // If only the group counts, a process that left it is no member any more.
    if (same && (!group_only_ || Adopt(*stat, false))) {
      members.emplace(pid, *stat);
    } else {
      strangers.push_back(*stat);
    }
  }
  members_ = std::move(members);
  // A child may come before its parent in the list: go round until nobody joins.
  for (std::size_t joined = 1; joined > 0;) {
    joined = std::erase_if(strangers, [&](const ProcessStat& stat) {
      if (!Adopt(stat, search_environments)) return false;
      members_.emplace(stat.pid, stat);
      return true;
    });
  }
}

std::uint64_t ProcessTree::ResidentBytes() const {
  std::uint64_t sum = 0;
  for (const auto& [pid, stat] : members_) sum += stat.resident_bytes;
  return sum;
}

std::uint64_t ProcessTree::ProportionalBytes(bool outside_cgroup) const {
  std::uint64_t sum = 0;
  for (const auto& [pid, stat] : members_) {
    if (!outside_cgroup || !in_cgroup_.contains(pid)) sum += ProportionalBytesOf(stat);
  }
  return sum;
}

std::vector<int> ProcessTree::LivingMembers() const {
  std::vector<int> pids;
  for (const auto& [pid, stat] : members_) {
    if (!stat.IsDead()) pids.push_back(pid);
  }
  return pids;
}

void ProcessTree::Signal(int signal) const {
  ::kill(-leader_, signal);
  for (const auto& [pid, stat] : members_) {
    if (stat.group != leader_ && !stat.IsDead()) SignalProcess(stat, signal);
  }
}

bool ProcessTree::HasLivingMember() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const auto& member) { return !member.second.IsDead(); });
}

void ProcessTree::KillAll() {
  Repeatedly([this] {
    ::kill(-leader_, SIGKILL);
    if (cgroup_ != nullptr) cgroup_->Kill();
    Refresh(/*search_environments=*/true);
    if (!HasLivingMember()) return true;
    Signal(SIGKILL);
    return false;
  });
}

std::optional<std::uint64_t> ProcessStartTicks(int pid) {
  const std::optional<ProcessStat> stat = ReadProcessStat(pid);
  if (!stat) return std::nullopt;
  return stat->start_ticks;
}

void KillSession(const std::string& session) {
  if (!session.empty() && session != JobSession()) KillMarked(session);
}

void KillMarked(const std::string& session) {
  EndCgroups(kCgroupPrefix + session);
  const std::string text = fmt::format("{}={}", kJobMarker, session);
  Repeatedly([&] {
    bool gone = true;
    for (const int pid : AllPids()) {
      const std::optional<ProcessStat> stat = ReadProcessStat(pid);
      if (!stat || stat->IsDead() || !Carries(pid, text, /*whole=*/false)) continue;
      gone = false;
      SignalProcess(*stat, SIGKILL);
    }
    return gone;
  });
}

void KillLeftoverGroup(int pid, std::uint64_t start_ticks) {
  const std::optional<ProcessStat> stat = ReadProcessStat(pid);
  if (!stat || stat->start_ticks != start_ticks || stat->group != pid) return;
  ProcessTree tree(pid, "");
  tree.KillAll();
}

}  // namespace rharness
