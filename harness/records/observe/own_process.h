// Facts that a process can read about itself, without a lock and without memory: its variables, its
// links in /proc, and how it was started.
//
// Role: for the library that is loaded into the processes of a run (preload.cc), under its
// conditions: a ten-year-old C library is enough.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_OWN_PROCESS_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_OWN_PROCESS_H_

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/records/observe/arena.h"

namespace rharness {

inline constexpr size_t kLongestPath = 4096;

inline char* FindVariable(const char* name) {
  const size_t length = strlen(name);
  if (environ == nullptr || length == 0) return nullptr;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  return nullptr;
}

inline bool BeginsWith(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// As readlinkat; errno stays as it was.
inline long ReadLink(const char* link, char* out, size_t size) {
  const int error = errno;
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, out, size);
  errno = error;
  return length;
}

// `path` as an absolute one, without ".", ".." and empty names; links are not followed. Its length;
// 0: it has no room.
inline size_t AbsoluteName(const char* path, char* out, size_t size) {
  const long folder = path[0] == '/' ? 0 : ReadLink("/proc/self/cwd", out, size);
  if (folder < 0 || static_cast<size_t>(folder) >= size) return 0;
  size_t end = folder == 1 ? 0 : static_cast<size_t>(folder);
  while (*path != 0) {
    const size_t length = strcspn(path, "/");
    if (length == 2 && path[0] == '.' && path[1] == '.') {
      while (end > 0 && out[--end] != '/') {
      }
    } else if (length > 0 && (length > 1 || path[0] != '.')) {
      if (end + length + 1 >= size) return 0;
      out[end] = '/';
      memcpy(out + end + 1, path, length);
      end += length + 1;
    }
    path += path[length] == 0 ? length : length + 1;
  }
  out[end] = 0;
  return end;
}

// argv[0], or, if it names no folder, the file passed to execve.
inline void ReadInvoked(char* out, size_t size) {
  const int error = errno;
  const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
  const long count = fd < 0 ? 0 : syscall(SYS_read, fd, out, size - 1);
  out[count > 0 ? count : 0] = 0;
  if (fd >= 0) syscall(SYS_close, fd);
  errno = error;
  if (strchr(out, '/') != nullptr) return;
  const auto* file = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (file != nullptr && strlen(file) < size) strcpy(out, file);
}

// "/usr/bin/python3.11"; pypy as well.
inline bool IsPythonProgram(const char* path) {
  const char* name = strrchr(path, '/');
  return name != nullptr && (BeginsWith(name + 1, "python") || BeginsWith(name + 1, "pypy"));
}

// The texts of an entry of the kind kEntryPython.
struct StartText {
  char bytes[kArenaTextBytes];
  size_t size = 0;

  // False: it has no room.
  bool Add(const char* text) {
    const size_t length = text == nullptr ? 0 : strlen(text);
    const size_t begin = size == 0 ? 0 : size + 1;
    if (begin + length > sizeof(bytes)) return false;
    if (size > 0) bytes[size] = 0;
    if (length > 0) memcpy(bytes + begin, text, length);
    size = begin + length;
    return true;
  }
};

// How this process was started. Without PYTHONPATH if that does not fit; false: the rest does not
// fit.
inline bool DescribeStart(const char* program, StartText* out) {
  char invoked[kLongestPath];
  char folder[kLongestPath];
  ReadInvoked(invoked, sizeof(invoked));
  const long length = ReadLink("/proc/self/cwd", folder, sizeof(folder) - 1);
  folder[length > 0 ? length : 0] = 0;
  const bool fits =
      out->Add(program) && out->Add(invoked) && out->Add(folder) && out->Add(FindVariable("HOME"));
  return fits && (out->Add(FindVariable("PYTHONPATH")) || out->Add(""));
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_OWN_PROCESS_H_
