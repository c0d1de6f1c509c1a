// Maps a file of notes into a process of the run, under the conditions of preload.cc: no lock, no
// memory, errno may change.
//
// Role: shared by the libraries that are lent to a run, each with a file of its own in the notes'
// folder.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_MAPPED_NOTES_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_MAPPED_NOTES_H_

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/records/observe/own_process.h"

namespace rharness {

// fstat was given a new version in glibc 2.33; the kernel's structure is the same as the library's.
inline bool StatOf(int fd, struct stat* info) { return syscall(SYS_fstat, fd, info) == 0; }

// `size` bytes, which begin with `magic`; null: there is no such file.
inline void* MapNotes(const char* folder, const char* file, size_t size, uint64_t magic) {
  char path[kLongestPath];
  const size_t length = strlen(folder), name = strlen(file) + 1;
  if (length == 0 || length + name + 1 > sizeof(path)) return nullptr;
  memcpy(path, folder, length);
  path[length] = '/';
  memcpy(path + length + 1, file, name);
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return nullptr;
  struct stat info;
  void* mapped = MAP_FAILED;
  if (StatOf(static_cast<int>(fd), &info) && S_ISREG(info.st_mode) &&
      info.st_size == static_cast<off_t>(size)) {
    mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(fd), 0);
  }
  syscall(SYS_close, fd);
  if (mapped == MAP_FAILED) return nullptr;
  // A few entries far apart: read-ahead would only load empty pages, for the reader too.
  madvise(mapped, size, MADV_RANDOM);
  return memcmp(mapped, &magic, sizeof(magic)) == 0 ? mapped : nullptr;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_MAPPED_NOTES_H_
