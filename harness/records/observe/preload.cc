// The library that is loaded before all others into the processes of an observed run: it notes
// variables looked up by name and files opened for reading, and changes nothing.
//
// Role: wraps the C library's functions of these names, calls them, and writes notes. It takes no
// lock and no memory, so that it may be called from anywhere: before constructors, in a signal
// handler, between vfork and exec. It depends on the C library alone and must not be built with a
// sanitizer. It goes into images as well, whose C library may be ten years older than the one it
// was built with: a loader that misses a version of a symbol ends the program. So it needs no
// version after glibc 2.17 (a test reads them); functions with newer versions are called
// indirectly. Not here: the meaning of a note (observer.h).
//
// Not seen: system calls without the C library, statically linked programs, and code that reads
// `environ` itself.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/records/observe/arena.h"
#include "harness/records/observe/libc_symbols.h"
#include "harness/records/observe/mapped_notes.h"
#include "harness/records/observe/own_process.h"
#include "harness/records/observe/preload_parts.h"

// dlsym as the first C libraries of this machine have it. Before glibc 2.34 it is libdl's, which
// not every program has: then it is null.
extern "C" __attribute__((weak)) void* OldDlsym(void* handle, const char* name);
#if defined(__x86_64__)
__asm__(".symver OldDlsym,dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver OldDlsym,dlsym@GLIBC_2.17");
#endif

namespace {

using rharness::Next;

using rharness::Arena;
using rharness::ArenaEntry;
using rharness::BeginsWith;
using rharness::FindVariable;
using rharness::kLongestPath;
using rharness::ReadLink;
using rharness::StatOf;

constexpr int kMostProbes = 32;
constexpr uint64_t kTick = 4000000;      // change times are up to this much behind, in ns
constexpr uint32_t kMostDropped = 1000;  // then it is full, and no name is asked for any more

enum State { kNew, kStarting, kReady, kOff };
int state = kNew;
Arena* arena = nullptr;
const char* home = nullptr;  // the run's own folder, with its slash; null: outputs are not noted
bool may_begin[256];         // whether a watched name begins with this byte

const char* EndOfNames() { return arena->names + rharness::kArenaNamesBytes; }

// The name behind this one; null at the end.
const char* NextName(const char* name) {
  const char* end =
      static_cast<const char*>(memchr(name, 0, static_cast<size_t>(EndOfNames() - name)));
  if (end == nullptr || end + 1 >= EndOfNames() || end[1] == 0) return nullptr;
  return end + 1;
}

const char* FirstName() { return arena->names[0] == 0 ? nullptr : arena->names; }

void NoteProgram();

// Made ready by whoever comes first: the constructors of other libraries run before this one's.
bool IsReady() {
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  if (now != kNew) return now == kReady;
  if (environ == nullptr) return false;
  if (!__atomic_compare_exchange_n(&state, &now, kStarting, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return now == kReady;
  }
  const int error = errno;
  const char* folder = FindVariable(rharness::kObserveVariable);
  arena = folder == nullptr
              ? nullptr
              : static_cast<Arena*>(rharness::MapNotes(folder, rharness::kArenaFile, sizeof(Arena),
                                                       rharness::kArenaMagic));
  errno = error;
  if (arena == nullptr) {
    __atomic_store_n(&state, kOff, __ATOMIC_RELEASE);
    return false;
  }
  for (const char* name = FirstName(); name != nullptr; name = NextName(name)) {
    if (name[0] == rharness::kNameHome) home = name + 1;
    const bool variable = name[0] != rharness::kNameFolder && name[0] != rharness::kNameHome;
    if (variable) may_begin[static_cast<unsigned char>(name[1])] = true;
  }
  __atomic_store_n(&state, kReady, __ATOMIC_RELEASE);
  NoteProgram();
  return true;
}

uint64_t HashOf(uint8_t kind, const char* text, size_t size) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u ^ kind;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  }
  return hash | 1;
}

void Note(uint8_t kind, const char* text, size_t size) {
  if (size == 0 || size > rharness::kArenaTextBytes) {
    if (size > 0) __atomic_add_fetch(&arena->dropped, 1, __ATOMIC_RELAXED);
    return;
  }
  const uint64_t hash = HashOf(kind, text, size);
  for (int probe = 0; probe < kMostProbes; ++probe) {
    const uint64_t at = (hash >> 8) + static_cast<uint64_t>(probe);
    ArenaEntry* entry = &arena->entries[at % rharness::kArenaEntries];
    uint64_t found = __atomic_load_n(&entry->hash, __ATOMIC_RELAXED);
    if (found == 0 && __atomic_compare_exchange_n(&entry->hash, &found, hash, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      entry->kind = kind;
      entry->size = static_cast<uint16_t>(size);
      memcpy(entry->text, text, size);
      __atomic_store_n(&entry->ready, 1, __ATOMIC_RELEASE);
      return;
    }
    if (found == hash) return;
  }
  __atomic_add_fetch(&arena->dropped, 1, __ATOMIC_RELAXED);
}

void NoteProgram() {
  char path[kLongestPath];
  const long length = ReadLink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return;
  path[length] = 0;
  Note(rharness::kEntryProgram, path, static_cast<size_t>(length));
  if (!rharness::IsPythonProgram(path)) return;
  rharness::StartText start;
  if (DescribeStart(path, &start)) Note(rharness::kEntryPython, start.bytes, start.size);
}

void NoteVariable(const char* name) {
  if (name == nullptr || !IsReady() || !may_begin[static_cast<unsigned char>(name[0])]) return;
  for (const char* one = FirstName(); one != nullptr; one = NextName(one)) {
    const bool watched = one[0] == rharness::kNameExact    ? strcmp(one + 1, name) == 0
                         : one[0] == rharness::kNamePrefix ? BeginsWith(name, one + 1)
                                                           : false;
    if (watched) return Note(rharness::kEntryVariable, name, strlen(name));
  }
}

// Files of the system or of an installed Python are no input of the run. Below folders with the
// system's files and people's data, such as /var/lib, only the system's files count as such.
bool IsOfTheSystem(const char* path) {
  static constexpr const char* kData[] = {"/usr/local/share/", "/dev/shm/"};
  for (const char* folder : kData) {
    if (BeginsWith(path, folder)) return false;
  }
  static constexpr const char* kFolders[] = {"/usr/",
                                             "/lib/",
                                             "/lib64/",
                                             "/lib32/",
                                             "/proc/",
                                             "/sys/",
                                             "/dev/",
                                             "/etc/",
                                             "/run/",
                                             "/bin/",
                                             "/sbin/",
                                             "/boot/",
                                             "/var/cache/fontconfig/",
                                             "/var/cache/ldconfig/",
                                             "/var/cache/nscd/",
                                             "/var/lib/dbus/",
                                             "/var/lib/dpkg/",
                                             "/var/lib/nscd/",
                                             "/var/lib/rpm/",
                                             "/var/lib/sss/"};
  for (const char* folder : kFolders) {
    if (BeginsWith(path, folder)) return true;
  }
  return strstr(path, "/site-packages/") != nullptr || strstr(path, "/dist-packages/") != nullptr ||
         strstr(path, "/lib/python3") != nullptr;
}

bool IsDeclared(const char* path) {
  for (const char* one = FirstName(); one != nullptr; one = NextName(one)) {
    if (one[0] == rharness::kNameFolder && BeginsWith(path, one)) return true;
  }
  return false;
}

// Whether this process had the same file open under this name a while ago; a data loader opens few
// files often. A query for a file's name costs several times as much as opening it.
// `*is_own`: the run changed the file.
bool IsKnown(int fd, const char* path, bool* is_own) {
  static uint64_t known[size_t{1} << 14];
  struct stat info;
  const int error = errno;
  const bool is_file = StatOf(fd, &info) && S_ISREG(info.st_mode);
  errno = error;
  if (!is_file) return true;
  const uint64_t changed = static_cast<uint64_t>(info.st_ctim.tv_sec) * 1000000000u +
                           static_cast<uint64_t>(info.st_ctim.tv_nsec);
  *is_own = changed + kTick >= arena->made_ns;
  const uint64_t key = ((info.st_ino * 0x9e3779b97f4a7c15u) ^ (info.st_dev * 0xc2b2ae3d27d4eb4fu) ^
                        HashOf(rharness::kEntryFile, path, strlen(path))) |
                       1;
  uint64_t* slot = &known[key >> 50];
  if (__atomic_load_n(slot, __ATOMIC_RELAXED) == key) return true;
  __atomic_store_n(slot, key, __ATOMIC_RELAXED);
  return false;
}

// A rerun needs the name that the program uses. False: it is the file's own, or has no room.
bool NoteLink(const char* path, const char* real, size_t length) {
  char text[rharness::kArenaTextBytes];
  if (length + 2 > sizeof(text)) return false;
  const size_t end = rharness::AbsoluteName(path, text, sizeof(text) - length - 1);
  if (end == 0 || strcmp(text, real) == 0) return false;
  memcpy(text + end + 1, real, length);
  Note(rharness::kEntryLink, text, end + 1 + length);
  return true;
}

void NoteOpened(int fd, const char* path, bool also_writes) {
  if (fd < 0 || path == nullptr || !IsReady() || IsOfTheSystem(path)) return;
  bool is_own = false;
  if ((path[0] == '/' && IsDeclared(path)) || IsKnown(fd, path, &is_own)) return;
  if (__atomic_load_n(&arena->dropped, __ATOMIC_RELAXED) > kMostDropped) return;
  char real[kLongestPath];
  const long length = rharness::PathOfOpen(fd, real);
  if (length == 0 || IsOfTheSystem(real) || IsDeclared(real)) return;
  const auto size = static_cast<size_t>(length);
  // What the run wrote is no input, by whatever name.
  if (is_own || !NoteLink(path, real, size)) {
    Note(is_own || also_writes ? rharness::kEntryOwnFile : rharness::kEntryFile, real, size);
  }
}

// A program that makes files without end must not take the place of all other notes.
constexpr unsigned kMostOutputs = 1024;  // of a process, in its own folder and outside of it

void NoteOutput(int fd, const char* path) {
  static unsigned noted[2] = {0, 0};
  if (fd < 0 || path == nullptr || !IsReady() || home == nullptr || IsOfTheSystem(path)) return;
  char real[kLongestPath];
  const long length = rharness::PathOfOpen(fd, real);
  if (length == 0 || IsOfTheSystem(real)) return;
  const bool own = BeginsWith(real, home);
  if (__atomic_fetch_add(&noted[own ? 1 : 0], 1, __ATOMIC_RELAXED) < kMostOutputs) {
    Note(rharness::kEntryOutput, real, static_cast<size_t>(length));
  } else if (!own) {
    __atomic_store_n(&arena->dropped, 1, __ATOMIC_RELAXED);
  }
}

bool Reads(int flags) {
  return (flags & O_ACCMODE) != O_WRONLY && (flags & (O_DIRECTORY | O_PATH | O_TRUNC)) == 0;
}

bool Reads(const char* mode) { return mode != nullptr && mode[0] == 'r'; }

bool Writes(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY && (flags & (O_DIRECTORY | O_PATH)) == 0;
}

bool Writes(const char* mode) {
  return mode != nullptr && (mode[0] != 'r' || strchr(mode, '+') != nullptr);
}

template <class How>
void NoteFile(int fd, const char* path, How how) {
  if (Reads(how)) NoteOpened(fd, path, Writes(how));
  if (Writes(how)) NoteOutput(fd, path);
}

mode_t ModeOf(int flags, va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? va_arg(arguments, mode_t) : 0;
}

using Open = int(const char*, int, ...);
using OpenAt = int(int, const char*, int, ...);
using Open2 = int(const char*, int);
using OpenAt2 = int(int, const char*, int);
using FileOpen = FILE*(const char*, const char*);
using GetEnv = char*(const char*);

GetEnv* next_getenv = nullptr;
GetEnv* next_secure_getenv = nullptr;
bool constructed = false;  // before that the C library's own functions are not looked up

int NoteLibrary(struct dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
    Note(rharness::kEntryLibrary, info->dlpi_name, strlen(info->dlpi_name));
  }
  return 0;
}

__attribute__((constructor)) void Construct() {
  (void)Next(&next_getenv, "getenv");
  (void)Next(&next_secure_getenv, "secure_getenv");
  constructed = true;
  // At the start as well: a program that replaces itself by execve has no end.
  if (IsReady()) dl_iterate_phdr(NoteLibrary, nullptr);
}

__attribute__((destructor)) void Destroy() {
  if (IsReady()) dl_iterate_phdr(NoteLibrary, nullptr);
}

}  // namespace

namespace rharness {

bool MayNote() { return IsReady(); }
void NoteText(uint8_t kind, const char* text, size_t size) { Note(kind, text, size); }
void* NextFunction(const char* name) {
  return OldDlsym != nullptr ? OldDlsym(RTLD_NEXT, name) : FindInLibc(name);
}

}  // namespace rharness

EXPORTED char* getenv(const char* name) noexcept {
  NoteVariable(name);
  return constructed && next_getenv != nullptr ? next_getenv(name) : FindVariable(name);
}

EXPORTED char* secure_getenv(const char* name) noexcept {
  NoteVariable(name);
  GetEnv* next = Next(&next_secure_getenv, "secure_getenv");
  return next == nullptr ? nullptr : next(name);
}

#define NOTES_OPEN(NAME)                                  \
  EXPORTED int NAME(const char* path, int flags, ...) {   \
    static Open* next = nullptr;                          \
    va_list arguments;                                    \
    va_start(arguments, flags);                           \
    const mode_t mode = ModeOf(flags, arguments);         \
    va_end(arguments);                                    \
    const int fd = Next(&next, #NAME)(path, flags, mode); \
    NoteFile(fd, path, flags);                            \
    return fd;                                            \
  }
NOTES_OPEN(open)
NOTES_OPEN(open64)

#define NOTES_OPENAT(NAME)                                          \
  EXPORTED int NAME(int folder, const char* path, int flags, ...) { \
    static OpenAt* next = nullptr;                                  \
    va_list arguments;                                              \
    va_start(arguments, flags);                                     \
    const mode_t mode = ModeOf(flags, arguments);                   \
    va_end(arguments);                                              \
    const int fd = Next(&next, #NAME)(folder, path, flags, mode);   \
    NoteFile(fd, path, flags);                                      \
    return fd;                                                      \
  }
NOTES_OPENAT(openat)
NOTES_OPENAT(openat64)

// The variants of open and openat in a program compiled with _FORTIFY_SOURCE.
#define NOTES_OPEN_2(NAME)                          \
  EXPORTED int NAME(const char* path, int flags) {  \
    static Open2* next = nullptr;                   \
    const int fd = Next(&next, #NAME)(path, flags); \
    NoteFile(fd, path, flags);                      \
    return fd;                                      \
  }
NOTES_OPEN_2(__open_2)
NOTES_OPEN_2(__open64_2)

#define NOTES_OPENAT_2(NAME)                                   \
  EXPORTED int NAME(int folder, const char* path, int flags) { \
    static OpenAt2* next = nullptr;                            \
    const int fd = Next(&next, #NAME)(folder, path, flags);    \
    NoteFile(fd, path, flags);                                 \
    return fd;                                                 \
  }
NOTES_OPENAT_2(__openat_2)
NOTES_OPENAT_2(__openat64_2)

#define NOTES_FOPEN(NAME)                                    \
  EXPORTED FILE* NAME(const char* path, const char* mode) {  \
    static FileOpen* next = nullptr;                         \
    FILE* file = Next(&next, #NAME)(path, mode);             \
    if (file != nullptr) NoteFile(fileno(file), path, mode); \
    return file;                                             \
  }
NOTES_FOPEN(fopen)
NOTES_FOPEN(fopen64)
