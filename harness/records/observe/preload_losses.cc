// Losses of a run that it may not report: children ended by a signal, and failed writes.
//
// Role: a part of the library that is loaded before all others (preload.cc): wraps the C library's
// functions that wait for children, send signals and write. It changes nothing.
//
// Not seen: writes of the C library's own streams, children that nobody waits for, and signals sent
// by other system calls (pidfd_send_signal).
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/records/observe/arena.h"
#include "harness/records/observe/own_process.h"
#include "harness/records/observe/preload_parts.h"

namespace {

using rharness::Next;

using Kill = int(pid_t, int);
using WaitPid = pid_t(pid_t, int*, int);
using Wait4 = pid_t(pid_t, int*, int, rusage*);
using WaitId = int(idtype_t, id_t, siginfo_t*, int);
using Write = ssize_t(int, const void*, size_t);

// "NUMBER " and the text after it. False: it is too long.
bool AppendNumber(unsigned long number, char* text, size_t size, size_t* at) {
  char digits[20];
  size_t count = 0;
  for (; count == 0 || number > 0; number /= 10) {
    digits[count++] = static_cast<char>('0' + number % 10);
  }
  if (*at + count + 1 > size) return false;
  while (count > 0) text[(*at)++] = digits[--count];
  text[(*at)++] = ' ';
  return true;
}

// Processes that this one sent a signal: it wanted them to end. 0: none; a group is represented by
// its leader.
constexpr size_t kMostSignalled = 64;
pid_t signalled[kMostSignalled];
size_t next_signalled = 0;

void NoteSent(pid_t pid, int number) {
  if (number == 0) return;
  const size_t at = __atomic_fetch_add(&next_signalled, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&signalled[at % kMostSignalled], pid < 0 ? -pid : pid, __ATOMIC_RELAXED);
}

// Signals by which a process ends that came to harm; others are asked for.
bool IsHarm(int number) {
  return number == SIGKILL || number == SIGSEGV || number == SIGBUS || number == SIGILL ||
         number == SIGFPE || number == SIGABRT || number == SIGXFSZ || number == SIGXCPU;
}

// `of`: the number of a signal, or of an exit code with kExitCodes added.
void NoteEnd(pid_t pid, int of) {
  char text[48];
  size_t at = 0;
  if (!AppendNumber(static_cast<unsigned long>(of), text, sizeof(text), &at) ||
      !AppendNumber(static_cast<unsigned long>(pid), text, sizeof(text), &at)) {
    return;
  }
  rharness::NoteText(rharness::kEntrySignalled, text, at - 1);
}

void NoteEnded(pid_t pid, int number) {
  if (pid <= 0 || !IsHarm(number) || !rharness::MayNote()) return;
  for (const pid_t& sent : signalled) {
    if (__atomic_load_n(&sent, __ATOMIC_RELAXED) == pid) return;
  }
  static unsigned noted = 0;  // the notes have room for other things, too
  if (__atomic_add_fetch(&noted, 1, __ATOMIC_RELAXED) <= kMostSignalled) NoteEnd(pid, number);
}

// For a shell the exit code of a command is a condition; after a signal it is 128 and more.
bool IsShell() {
  constexpr const char* kShells[] = {"sh", "bash", "dash", "ash", "zsh", "ksh"};
  for (const char* shell : kShells) {
    if (strcmp(program_invocation_short_name, shell) == 0) return true;
  }
  return false;
}

void NoteExited(pid_t pid, int code) {
  if (pid <= 0 || code == 0 || !rharness::MayNote()) return;
  // Each code once: a program may ask thousands of others that fail. In a shell a code is a
  // condition of the script, unless the child was a hooked program: its number tells.
  constexpr int kBySignal = 128;
  constexpr unsigned kMostConditions = 256;
  static unsigned conditions = 0;
  if (code >= kBySignal || !IsShell()) {
    NoteEnd(0, rharness::kExitCodes + code);
  } else if (__atomic_add_fetch(&conditions, 1, __ATOMIC_RELAXED) <= kMostConditions) {
    NoteEnd(pid, rharness::kExitCodes + code);
  }
}

void NoteStatus(pid_t pid, const int* status) {
  if (pid <= 0 || status == nullptr) return;
  if (WIFSIGNALED(*status)) NoteEnded(pid, WTERMSIG(*status));
  if (WIFEXITED(*status)) NoteExited(pid, WEXITSTATUS(*status));
}

void NoteNotWritten(int fd, int error) {
  if ((error != ENOSPC && error != EDQUOT && error != EFBIG) || !rharness::MayNote()) return;
  char text[rharness::kLongestPath + 8];
  size_t at = 0;
  if (!AppendNumber(static_cast<unsigned long>(error), text, sizeof(text), &at)) return;
  const long size = rharness::PathOfOpen(fd, text + at);
  if (size == 0 || rharness::BeginsWith(text + at, "/dev/")) return;
  rharness::NoteText(rharness::kEntryNotWritten, text, at + static_cast<size_t>(size));
}

}  // namespace

long rharness::PathOfOpen(int fd, char* path) {
  char link[32] = "/proc/self/fd/";
  size_t length = strlen(link);
  if (!AppendNumber(static_cast<unsigned long>(fd), link, sizeof(link), &length)) return 0;
  link[length - 1] = 0;
  const long size = ReadLink(link, path, kLongestPath - 1);
  if (size <= 0 || path[0] != '/') return 0;
  path[size] = 0;
  return size;
}

EXPORTED int kill(pid_t pid, int number) noexcept {
  static Kill* next = nullptr;
  NoteSent(pid, number);
  return Next(&next, "kill")(pid, number);
}

EXPORTED int killpg(pid_t group, int number) noexcept {
  static Kill* next = nullptr;
  NoteSent(group, number);
  return Next(&next, "killpg")(group, number);
}

EXPORTED pid_t waitpid(pid_t pid, int* status, int options) {
  static WaitPid* next = nullptr;
  int own = 0;
  int* where = status == nullptr ? &own : status;
  const pid_t ended = Next(&next, "waitpid")(pid, where, options);
  NoteStatus(ended, where);
  return ended;
}

EXPORTED pid_t wait(int* status) { return waitpid(-1, status, 0); }

EXPORTED pid_t wait4(pid_t pid, int* status, int options, rusage* usage) noexcept {
  static Wait4* next = nullptr;
  int own = 0;
  int* where = status == nullptr ? &own : status;
  const pid_t ended = Next(&next, "wait4")(pid, where, options, usage);
  NoteStatus(ended, where);
  return ended;
}

EXPORTED pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return wait4(-1, status, options, usage);
}

EXPORTED int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  static WaitId* next = nullptr;
  const int result = Next(&next, "waitid")(type, id, info, options);
  if (result != 0 || info == nullptr || info->si_signo != SIGCHLD) return result;
  if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED) {
    NoteEnded(info->si_pid, info->si_status);
  }
  if (info->si_code == CLD_EXITED) NoteExited(info->si_pid, info->si_status);
  return result;
}

EXPORTED ssize_t write(int fd, const void* bytes, size_t size) {
  static Write* next = nullptr;
  const ssize_t written = Next(&next, "write")(fd, bytes, size);
  if (written < 0) {
    const int error = errno;
    NoteNotWritten(fd, error);
    errno = error;
  }
  return written;
}
