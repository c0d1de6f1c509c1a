// A library that is put before libc: it counts the calls of one process that change or read files
// below a folder, and makes one of them go wrong. RHARNESS_FAULT="MODE N FOLDER": at the N-th call,
// from 1, of those that MODE is about. With N = 0 nothing goes wrong, and the number of calls is
// written to FOLDER.count when the process ends. "full" and "dead" go wrong from that call on.
//
// Role: loaded by LD_PRELOAD into drill_main. Not here: which calls are tried (faults_test.cc).
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Mode {
  kNone,
  kKillBefore,
  kKillAfter,
  kKillMid,
  kNoSpace,
  kShort,
  kIo,
  kReadIo,
  kFull,
  kDead
};

struct Plan {
  Mode mode = Mode::kNone;
  long n = 0;
  std::string folder;
};

const Plan& ThePlan() {
  static const Plan* plan = [] {
    auto* made = new Plan;
    char word[32] = "", folder[4096] = "";
    const char* text = std::getenv("RHARNESS_FAULT");
    if (text == nullptr || std::sscanf(text, "%31s %ld %4095s", word, &made->n, folder) != 3) {
      return made;
    }
    made->folder = folder;
    const char* const kWords[] = {"none",  "kill_before", "kill_after", "kill_mid", "no_space",
                                  "short", "io",          "read_io",    "full",     "dead"};
    for (int i = 0; i < 10; ++i) {
      if (std::strcmp(word, kWords[i]) == 0) made->mode = static_cast<Mode>(i);
    }
    return made;
  }();
  return *plan;
}

std::atomic<long> g_changes{0};
std::atomic<long> g_reads{0};
std::atomic<bool> g_no_space_next{false};

bool Below(const char* path) {
  const std::string& folder = ThePlan().folder;
  return !folder.empty() && path != nullptr &&
         std::strncmp(path, folder.c_str(), folder.size()) == 0;
}

bool Below(int fd) {
  if (ThePlan().folder.empty()) return false;
  char link[64], target[4096];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = ::readlink(link, target, sizeof(target) - 1);
  if (size <= 0) return false;
  target[size] = 0;
  return Below(target);
}

bool Below(int folder, const char* path) {
  return path != nullptr && path[0] != '/' && folder != AT_FDCWD ? Below(folder) : Below(path);
}

[[noreturn]] void Die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

template <class F>
F Real(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

// What is to happen to this call.
struct Fate {
  int error = 0;
  bool half = false;
  bool die = false;  // afterwards
};

Fate OfChange(bool ours) {
  Fate fate;
  if (!ours) return fate;
  const long count = ++g_changes;
  if (g_no_space_next.exchange(false)) fate.error = ENOSPC;
  if (count >= ThePlan().n && ThePlan().mode == Mode::kFull) fate.error = ENOSPC;
  if (count >= ThePlan().n && ThePlan().mode == Mode::kDead) fate.error = EIO;
  if (count != ThePlan().n) return fate;
  switch (ThePlan().mode) {
    case Mode::kKillBefore:
      Die();
    case Mode::kKillAfter:
      fate.die = true;
      break;
    case Mode::kKillMid:
      fate.half = fate.die = true;
      break;
    case Mode::kNoSpace:
      fate.error = ENOSPC;
      break;
    case Mode::kShort:
      fate.half = true;
      g_no_space_next = true;
      break;
    case Mode::kIo:
      fate.error = EIO;
      break;
    default:
      break;
  }
  return fate;
}

bool ReadFails(bool ours) {
  return ours && ++g_reads == ThePlan().n && ThePlan().mode == Mode::kReadIo;
}

template <class T, class F>
T Change(bool ours, F call) {
  const Fate fate = OfChange(ours);
  if (fate.error != 0) {
    errno = fate.error;
    return static_cast<T>(-1);
  }
  const T result = call();
  if (fate.die) Die();
  return result;
}

// `call` takes how much of the size to write.
template <class F>
ssize_t Write(bool ours, size_t size, F call) {
  const Fate fate = OfChange(ours);
  if (fate.error != 0) {
    errno = fate.error;
    return -1;
  }
  const ssize_t result = call(fate.half ? size / 2 : size);
  if (fate.die) Die();
  return result;
}

struct AtExit {
  ~AtExit() {
    if (ThePlan().n != 0 || ThePlan().folder.empty()) return;
    const std::string path = ThePlan().folder + ".count";
    if (std::FILE* file = std::fopen(path.c_str(), "w")) {
      std::fprintf(file, "%ld %ld\n", g_changes.load(), g_reads.load());
      std::fclose(file);
    }
  }
} g_at_exit;

template <class F>
int Open(bool ours, int flags, F call) {
  if ((flags & (O_CREAT | O_TRUNC)) != 0) return Change<int>(ours, call);
  if (ReadFails(ours)) {
    errno = EIO;
    return -1;
  }
  return call();
}

mode_t ModeOf(int flags, va_list list) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(list, int)) : 0;
}

}  // namespace

extern "C" {

#define RHARNESS_OPEN(name)                                                   \
  int name(const char* path, int flags, ...) {                                \
    va_list list;                                                             \
    va_start(list, flags);                                                    \
    const mode_t mode = ModeOf(flags, list);                                  \
    va_end(list);                                                             \
    static const auto real = Real<int (*)(const char*, int, ...)>(#name);     \
    return Open(Below(path), flags, [&] { return real(path, flags, mode); }); \
  }
RHARNESS_OPEN(open)
RHARNESS_OPEN(open64)

#define RHARNESS_OPENAT(name)                                                                 \
  int name(int folder, const char* path, int flags, ...) {                                    \
    va_list list;                                                                             \
    va_start(list, flags);                                                                    \
    const mode_t mode = ModeOf(flags, list);                                                  \
    va_end(list);                                                                             \
    static const auto real = Real<int (*)(int, const char*, int, ...)>(#name);                \
    return Open(Below(folder, path), flags, [&] { return real(folder, path, flags, mode); }); \
  }
RHARNESS_OPENAT(openat)
RHARNESS_OPENAT(openat64)

#define RHARNESS_MKOSTEMP(name)                                               \
  int name(char* pattern, int flags) {                                        \
    static const auto real = Real<int (*)(char*, int)>(#name);                \
    return Change<int>(Below(pattern), [&] { return real(pattern, flags); }); \
  }
RHARNESS_MKOSTEMP(mkostemp)
RHARNESS_MKOSTEMP(mkostemp64)

ssize_t write(int fd, const void* data, size_t size) {
  static const auto real = Real<ssize_t (*)(int, const void*, size_t)>("write");
  return Write(Below(fd), size, [&](size_t part) { return real(fd, data, part); });
}

#define RHARNESS_PWRITE(name, offset_type)                                                    \
  ssize_t name(int fd, const void* data, size_t size, offset_type at) {                       \
    static const auto real = Real<ssize_t (*)(int, const void*, size_t, offset_type)>(#name); \
    return Write(Below(fd), size, [&](size_t part) { return real(fd, data, part, at); });     \
  }
RHARNESS_PWRITE(pwrite, off_t)
RHARNESS_PWRITE(pwrite64, off64_t)

#define RHARNESS_SENDFILE(name, offset_type)                                              \
  ssize_t name(int to, int from, offset_type* at, size_t size) {                          \
    static const auto real = Real<ssize_t (*)(int, int, offset_type*, size_t)>(#name);    \
    return Write(Below(to), size, [&](size_t part) { return real(to, from, at, part); }); \
  }
RHARNESS_SENDFILE(sendfile, off_t)
RHARNESS_SENDFILE(sendfile64, off64_t)

ssize_t copy_file_range(int from, off64_t* at, int to, off64_t* to_at, size_t size,
                        unsigned flags) {
  static const auto real =
      Real<ssize_t (*)(int, off64_t*, int, off64_t*, size_t, unsigned)>("copy_file_range");
  return Write(Below(to), size,
               [&](size_t part) { return real(from, at, to, to_at, part, flags); });
}

#define RHARNESS_PATH(name, parameters, arguments, below)      \
  int name parameters {                                        \
    static const auto real = Real<int(*) parameters>(#name);   \
    return Change<int>(below, [&] { return real arguments; }); \
  }
RHARNESS_PATH(rename, (const char* from, const char* to), (from, to), Below(to))
RHARNESS_PATH(renameat, (int a, const char* from, int b, const char* to), (a, from, b, to),
              Below(b, to))
RHARNESS_PATH(link, (const char* from, const char* to), (from, to), Below(to))
RHARNESS_PATH(symlink, (const char* from, const char* to), (from, to), Below(to))
RHARNESS_PATH(unlink, (const char* path), (path), Below(path))
RHARNESS_PATH(unlinkat, (int folder, const char* path, int flags), (folder, path, flags),
              Below(folder, path))
RHARNESS_PATH(rmdir, (const char* path), (path), Below(path))
RHARNESS_PATH(mkdir, (const char* path, mode_t mode), (path, mode), Below(path))
RHARNESS_PATH(mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode),
              Below(folder, path))
RHARNESS_PATH(chmod, (const char* path, mode_t mode), (path, mode), Below(path))
RHARNESS_PATH(fchmod, (int fd, mode_t mode), (fd, mode), Below(fd))
RHARNESS_PATH(fsync, (int fd), (fd), Below(fd))
RHARNESS_PATH(fdatasync, (int fd), (fd), Below(fd))
RHARNESS_PATH(ftruncate, (int fd, off_t size), (fd, size), Below(fd))
RHARNESS_PATH(ftruncate64, (int fd, off64_t size), (fd, size), Below(fd))

#define RHARNESS_READ(name, parameters, arguments)               \
  ssize_t name parameters {                                      \
    static const auto real = Real<ssize_t(*) parameters>(#name); \
    if (ReadFails(Below(fd))) {                                  \
      errno = EIO;                                               \
      return -1;                                                 \
    }                                                            \
    return real arguments;                                       \
  }
RHARNESS_READ(read, (int fd, void* data, size_t size), (fd, data, size))
RHARNESS_READ(pread, (int fd, void* data, size_t size, off_t at), (fd, data, size, at))
RHARNESS_READ(pread64, (int fd, void* data, size_t size, off64_t at), (fd, data, size, at))

DIR* opendir(const char* path) {
  static const auto real = Real<DIR* (*)(const char*)>("opendir");
  if (ReadFails(Below(path))) {
    errno = EIO;
    return nullptr;
  }
  return real(path);
}

}  // extern "C"
