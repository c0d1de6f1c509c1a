// One loop around poll(): the child's end (pidfd), its pipes, and the next moment at which a limit
// has to be looked at.
#include "harness/base/process_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "harness/base/capped_buffer.h"
#include "harness/base/clean_text.h"
#include "harness/base/disk_meter.h"
#include "harness/base/process_tree.h"

namespace rharness {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr nanoseconds kTermGrace = std::chrono::seconds(2);
constexpr nanoseconds kKillGrace = std::chrono::seconds(30);  // then its end counts as not seen
constexpr nanoseconds kDrainGrace = milliseconds(500);
constexpr nanoseconds kCancelInterval = milliseconds(100);
constexpr nanoseconds kFirstSample = milliseconds(5);
// A disk takes longer to fill, and the open files of every process must be inspected.
constexpr nanoseconds kFirstDiskSample = milliseconds(50);
constexpr nanoseconds kShortestInterval = milliseconds(50);
constexpr nanoseconds kLongestInterval = std::chrono::seconds(2);
constexpr int kCostShare = 100;  // a sampler may use one part in this many of a core
constexpr int kFootprintCostShare = 400;
constexpr int kDiskEntriesPerStep = 1000;
constexpr std::size_t kReadBlock = std::size_t{1} << 16;

SteadyTime Now() { return std::chrono::steady_clock::now(); }

nanoseconds ThreadCpu() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

nanoseconds ToDuration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// When a repeated measurement is due: early and often for the short-lived, then as often as its
// cost allows.
class Pace {
 public:
  explicit Pace(SteadyTime start, int cost_share = kCostShare, nanoseconds first = kFirstSample)
      : start_(start), due_(start + first), cost_share_(cost_share) {}
  SteadyTime due() const { return due_; }
  template <class F>
  void RunIfDue(SteadyTime now, F&& measure) {
    if (now < due_) return;
    const nanoseconds before = ThreadCpu();
    measure();
    const nanoseconds cost = ThreadCpu() - before;
    const nanoseconds interval =
        std::clamp<nanoseconds>(cost_share_ * cost, kShortestInterval, kLongestInterval);
    due_ = now + std::min<nanoseconds>(interval, std::max<nanoseconds>(now - start_, kFirstSample));
  }

 private:
  SteadyTime start_;
  SteadyTime due_;
  int cost_share_;
};

// One captured stream.
struct Stream {
  Stream(Descriptor pipe, const ProcessLimits& limits)
      : fd(std::move(pipe)),
        buffer(limits.output_bytes),
        most_bytes(limits.close_when_full ? limits.output_bytes
                                          : std::numeric_limits<std::uint64_t>::max()) {
    if (fd.valid()) ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  }

  // Reads available data, up to a few blocks so that one loud child leaves time for the limits.
  void Read() {
    thread_local std::array<char, kReadBlock> block;
    for (int turn = 0; turn < 16 && fd.valid(); ++turn) {
      const ssize_t count = ::read(fd.get(), block.data(), block.size());
      if (count > 0) {
        buffer.Append({block.data(), static_cast<std::size_t>(count)});
        last = Now();
        if (buffer.total_bytes() > most_bytes) fd.Close();
      } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        fd.Close();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  Descriptor fd;
  CappedBuffer buffer;
  SteadyTime last{};         // when something was read
  std::uint64_t most_bytes;  // further output is no longer read
};

class Watcher {
 public:
  Watcher(StartedProcess child, const ProcessLimits& limits,
          const std::function<bool()>& should_cancel, const std::function<void()>& on_failure);
  ProcessResult Run();

 private:
  SteadyTime NextMoment() const;
  void Wait(SteadyTime until);
  bool LeaderEnded() const;
  void CheckLimits(SteadyTime now);
  void CheckMemory();
  void CheckDisk();
  void LookAtFiles();
  void Stop(OutcomeKind reason, std::string detail);
  void NoteLastWords();
  void TellFailure() const;
  void Escalate(SteadyTime now);
  void Reap(Outcome* outcome);
  void Drain();
  void CheckDiskAtEnd(Outcome* outcome);

  StartedProcess child_;
  const ProcessLimits& limits_;
  const std::function<bool()>& should_cancel_;
  const std::function<void()>& on_failure_;
  Descriptor pidfd_;
  Stream stdout_;
  Stream stderr_;
  ProcessTree tree_;
  std::optional<DiskMeter> disk_;
  Pace memory_pace_;
  Pace disk_pace_;
  Pace footprint_pace_;
  Footprint footprint_;
  SteadyTime next_cancel_;
  bool ended_ = false;
  std::optional<OutcomeKind> reason_;  // why rharness stops it
  std::string detail_;
  SteadyTime next_escalation_ = SteadyTime::max();
  bool killed_ = false;
  std::uint64_t peak_memory_bytes_ = 0;
  nanoseconds silence_{0};
  std::string last_line_;
};

Watcher::Watcher(StartedProcess child, const ProcessLimits& limits,
                 const std::function<bool()>& should_cancel,
                 const std::function<void()>& on_failure)
    : child_(std::move(child)),
      limits_(limits),
      should_cancel_(should_cancel),
      on_failure_(on_failure),
      pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, child_.pid, 0))),
      stdout_(std::move(child_.stdout_read), limits),
      stderr_(std::move(child_.stderr_read), limits),
      tree_(child_.pid, child_.marker, child_.group_only, child_.confinement->cgroup()),
      memory_pace_(child_.started),
      disk_pace_(child_.started, kCostShare, kFirstDiskSample),
      footprint_pace_(child_.started, kFootprintCostShare),
      next_cancel_(child_.started + kCancelInterval) {
  if (limits.disk_bytes > 0) disk_.emplace(limits.disk_root);
}

ProcessResult Watcher::Run() {
  while (!ended_) {
    Wait(NextMoment());
    const SteadyTime now = Now();
    if (ended_) break;
    if (now >= next_escalation_) {
      if (killed_) break;
      Escalate(now);
    } else if (!reason_) {
      CheckLimits(now);
    }
  }
  if (!reason_) TellFailure();
  tree_.KillAll();
  Outcome outcome;
  Reap(&outcome);
  Drain();
  outcome.wall = Now() - child_.started;
  outcome.peak_memory_bytes = peak_memory_bytes_;
  child_.confinement->Explain(limits_, &outcome);
  CheckDiskAtEnd(&outcome);
  return {.outcome = std::move(outcome),
          .stdout_text = stdout_.buffer.Text(),
          .stderr_text = stderr_.buffer.Text(),
          .stdout_bytes = stdout_.buffer.total_bytes(),
          .stderr_bytes = stderr_.buffer.total_bytes(),
          .silence = silence_,
          .last_line = std::move(last_line_),
          .footprint = std::move(footprint_)};
}

SteadyTime Watcher::NextMoment() const {
  SteadyTime next = next_escalation_;
  if (reason_) return next;
  next = std::min(next, memory_pace_.due());
  if (disk_) next = std::min(next, disk_pace_.due());
  if (limits_.footprint) next = std::min(next, footprint_pace_.due());
  if (limits_.timeout > nanoseconds{0}) next = std::min(next, child_.started + limits_.timeout);
  if (should_cancel_) next = std::min(next, next_cancel_);
  return next;
}

void Watcher::Wait(SteadyTime until) {
  nanoseconds span = std::max<nanoseconds>(until - Now(), nanoseconds{0});
  // Without pidfds (Linux before 5.3) the child's end is asked for instead of being announced.
  if (!pidfd_.valid()) span = std::min<nanoseconds>(span, milliseconds(5));
  const timespec limit{.tv_sec = static_cast<time_t>(span / std::chrono::seconds(1)),
                       .tv_nsec = static_cast<long>((span % std::chrono::seconds(1)).count())};
  std::array<pollfd, 3> fds = {pollfd{pidfd_.get(), POLLIN, 0}, pollfd{stdout_.fd.get(), POLLIN, 0},
                               pollfd{stderr_.fd.get(), POLLIN, 0}};
  ::ppoll(fds.data(), fds.size(), &limit, nullptr);
  if (fds[1].revents != 0) stdout_.Read();
  if (fds[2].revents != 0) stderr_.Read();
  ended_ = pidfd_.valid() ? fds[0].revents != 0 : LeaderEnded();
}

bool Watcher::LeaderEnded() const {
  siginfo_t info{};
  const int result =
      ::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return result != 0 || info.si_pid == child_.pid;
}

void Watcher::CheckLimits(SteadyTime now) {
  if (limits_.timeout > nanoseconds{0} && now >= child_.started + limits_.timeout) {
    return Stop(OutcomeKind::kTimedOut, "");
  }
  if (should_cancel_ && now >= next_cancel_) {
    next_cancel_ = now + kCancelInterval;
    if (should_cancel_()) return Stop(OutcomeKind::kCancelled, "");
  }
  memory_pace_.RunIfDue(now, [this] { CheckMemory(); });
  if (disk_ && !reason_) disk_pace_.RunIfDue(now, [this] { CheckDisk(); });
  if (limits_.footprint && !reason_) footprint_pace_.RunIfDue(now, [this] { LookAtFiles(); });
}

void Watcher::CheckMemory() {
  tree_.Refresh(/*search_environments=*/false);
  const std::uint64_t limit = limits_.memory_bytes;
  const bool held = child_.confinement->holds_memory();
  // Version 1 ends one process of the group; a run that lacks one is at its end.
  if (const std::string full = child_.confinement->OutOfMemory(limits_); !full.empty()) {
    return Stop(OutcomeKind::kMemoryLimit, full);
  }
  std::uint64_t used = tree_.ResidentBytes();
  // Forked workers share most of their pages: only the proportional size may condemn.
  if (limit > 0 && used > limit) used = tree_.ProportionalBytes();
  peak_memory_bytes_ = std::max(peak_memory_bytes_, used);
  if (const std::string all = child_.confinement->TellJoint(tree_, used); !all.empty()) {
    return Stop(OutcomeKind::kMemoryLimit, all);
  }
  // The kernel enforces the group's limit, and counts differently: a file that is only mapped takes
  // no memory from anybody.
  if (limit > 0 && used > limit && held) used = tree_.ProportionalBytes(/*outside_cgroup=*/true);
  if (limit > 0 && used > limit) {
    Stop(OutcomeKind::kMemoryLimit, fmt::format("held {} bytes; the limit is {}", used, limit));
  }
}

void Watcher::CheckDisk() {
  disk_->Step(kDiskEntriesPerStep);
  if (disk_->used_bytes() > limits_.disk_bytes) {
    Stop(OutcomeKind::kDiskLimit,
         fmt::format("used {} bytes; the limit is {}", disk_->used_bytes(), limits_.disk_bytes));
  }
}

// After memory was looked at, which finds the members.
void Watcher::LookAtFiles() {
  for (const int pid : tree_.LivingMembers()) {
    AddProcess(pid, limits_.footprint_variables, &footprint_);
  }
}

void Watcher::Stop(OutcomeKind reason, std::string detail) {
  reason_ = reason;
  detail_ = std::move(detail);
  // What a handler prints at the end says nothing about what it did before.
  NoteLastWords();
  if (reason != OutcomeKind::kCancelled) TellFailure();
  // Memory and disk go on growing while a handler runs; time does no harm.
  if (reason == OutcomeKind::kMemoryLimit || reason == OutcomeKind::kDiskLimit) {
    return Escalate(Now());
  }
  tree_.Refresh(/*search_environments=*/true);
  tree_.Signal(SIGTERM);
  // A stopped process would sleep through the request.
  tree_.Signal(SIGCONT);
  next_escalation_ = Now() + kTermGrace;
}

void Watcher::NoteLastWords() {
  const Stream& later = stdout_.last > stderr_.last ? stdout_ : stderr_;
  silence_ = Now() - std::max(later.last, child_.started);
  last_line_ = LastLine(later.buffer.Text());
}

// A leader that ended by itself is not reaped yet.
void Watcher::TellFailure() const {
  if (!on_failure_) return;
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  const bool succeeded = !reason_ && info.si_code == CLD_EXITED && info.si_status == 0;
  if (!succeeded) on_failure_();
}

void Watcher::Escalate(SteadyTime now) {
  ::kill(-child_.pid, SIGKILL);
  tree_.KillAll();
  killed_ = true;
  next_escalation_ = now + kKillGrace;
}

void Watcher::Reap(Outcome* outcome) {
  int status = 0;
  rusage usage{};
  pid_t reaped = 0;
  do {
    reaped = ::wait4(child_.pid, &status, ended_ ? 0 : WNOHANG, &usage);
  } while (reaped < 0 && errno == EINTR);
  if (reaped != child_.pid) {
    outcome->kind = OutcomeKind::kLost;
    outcome->detail = reaped < 0 ? std::string("wait: ") + std::strerror(errno)
                                 : fmt::format("process {} did not end when killed", child_.pid);
    return;
  }
  outcome->cpu = ToDuration(usage.ru_utime) + ToDuration(usage.ru_stime);
  if (reason_) {
    outcome->kind = *reason_;
    outcome->detail = detail_;
  } else if (WIFEXITED(status)) {
    outcome->kind = OutcomeKind::kExited;
    outcome->exit_code = WEXITSTATUS(status);
  } else {
    outcome->kind = OutcomeKind::kSignalled;
    outcome->signal = WTERMSIG(status);
  }
}

// The pipes end with the last writer; an escaped one may keep them open for any time.
void Watcher::Drain() {
  const SteadyTime until = Now() + kDrainGrace;
  pidfd_.Close();
  for (SteadyTime now = Now(); now < until && (stdout_.fd.valid() || stderr_.fd.valid());
       now = Now()) {
    std::array<pollfd, 2> fds = {pollfd{stdout_.fd.get(), POLLIN, 0},
                                 pollfd{stderr_.fd.get(), POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(until - now);
    ::poll(fds.data(), fds.size(), static_cast<int>(left.count()));
    stdout_.Read();
    stderr_.Read();
  }
}

// What was written between the last look and the end counts as well.
void Watcher::CheckDiskAtEnd(Outcome* outcome) {
  if (!disk_ ||
      (outcome->kind != OutcomeKind::kExited && outcome->kind != OutcomeKind::kSignalled)) {
    return;
  }
  const std::uint64_t used = disk_->MeasureNamed();
  const bool file_too_large =
      outcome->kind == OutcomeKind::kSignalled && outcome->signal == SIGXFSZ;
  if (used <= limits_.disk_bytes && !file_too_large) return;
  outcome->kind = OutcomeKind::kDiskLimit;
  outcome->detail =
      file_too_large
          ? fmt::format("wrote a file of more than the limit of {} bytes", limits_.disk_bytes)
          : fmt::format("used {} bytes; the limit is {}", used, limits_.disk_bytes);
}

}  // namespace

ProcessResult WatchProcess(StartedProcess child, const ProcessLimits& limits,
                           const std::function<bool()>& should_cancel,
                           const std::function<void()>& on_failure) {
  return Watcher(std::move(child), limits, should_cancel, on_failure).Run();
}

}  // namespace rharness
