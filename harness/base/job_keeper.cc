// One fork, and a socket that ends with this process.
#include "harness/base/job_keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/process_tree.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

constexpr char kBegins = '+';
constexpr char kEnds = '-';
constexpr int kFirstOther = STDERR_FILENO + 1;

// It is no second rharness: who kills those by their command line means the first.
// Source: proc(5), /proc/PID/stat, fields 48 and 49 (arg_start, arg_end), ours to read.
void HideCommandLine() {
  ::prctl(PR_SET_NAME, "job-keeper");
  const auto stat = ReadFile("/proc/self/stat", 4096);
  if (!stat.ok()) return;
  std::uint64_t bounds[2] = {0, 0};
  std::size_t at = stat->rfind(')');
  for (int field = 2; at != stat->npos && field < 49; ++field) {
    at = stat->find(' ', at + 1);
    if (field >= 47 && at != stat->npos) {
      bounds[field - 47] = std::strtoull(stat->c_str() + at, nullptr, 10);
    }
  }
  if (bounds[0] == 0 || bounds[1] <= bounds[0]) return;
  std::memset(reinterpret_cast<void*>(bounds[0]), 0, bounds[1] - bounds[0]);
}

// A pipe or a lock of this process that the keeper held would seem to live on.
void KeepOnly(int socket) {
  const int null = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < kFirstOther; ++stream) ::dup2(null, stream);
  constexpr long kCloseRange = 436;  // SYS_close_range; kernels before 5.9 refuse
  if (::syscall(kCloseRange, static_cast<unsigned>(socket + 1), ~0U, 0U) != 0) {
    for (int other = socket + 1; other < 65536; ++other) ::close(other);
  }
  for (int other = kFirstOther; other < socket; ++other) ::close(other);
}

// The other threads of the process are not here: nothing that could wait for them.
[[noreturn]] void Keep(int socket, const std::string& session) {
  ::setsid();
  if (::chdir("/") != 0) ::_exit(1);
  KeepOnly(socket);
  HideCommandLine();
  std::int64_t jobs = 0;
  for (;;) {
    char words[256];
    const ssize_t count = ::read(socket, words, sizeof(words));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (ssize_t i = 0; i < count; ++i) jobs += words[i] == kBegins ? 1 : -1;
  }
  if (jobs <= 0) ::_exit(0);
  KillMarked(session);
  // A child that was on its way to be a program has the mark only then.
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 100'000'000};
  ::nanosleep(&kPause, nullptr);
  KillMarked(session);
  ::_exit(0);
}

// The end of the socket that the keeper does not have; -1: there is no keeper.
int StartKeeper() {
  const std::string session = JobSession();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  // Where a standard stream is closed, its number is free.
  for (int& end : ends) {
    if (end >= kFirstOther) continue;
    const int low = std::exchange(end, ::fcntl(end, F_DUPFD_CLOEXEC, kFirstOther));
    ::close(low);
  }
  // No handler of this process may run in the keeper, nor may Ctrl-C end it.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::close(ends[0]);
    Keep(ends[1], session);
  }
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::close(ends[1]);
  if (keeper > 0) return ends[0];
  ::close(ends[0]);
  LogDebug("no keeper of jobs: if this process is killed, they may outlive it");
  return -1;
}

void Say(char word) {
  static std::mutex mutex;
  static pid_t owner = 0;
  static int socket = -1;
  const std::scoped_lock lock(mutex);
  // A fork of this process that starts jobs itself has a keeper of its own.
  if (std::exchange(owner, ::getpid()) != ::getpid()) socket = StartKeeper();
  if (socket >= 0) (void)::send(socket, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

KeptJob::KeptJob(bool marked) : marked_(marked) {
  if (marked_) Say(kBegins);
}

KeptJob::~KeptJob() {
  if (marked_) Say(kEnds);
}

}  // namespace rharness
