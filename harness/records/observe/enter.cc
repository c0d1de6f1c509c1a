// rharness-enter LEND COMMAND...: the first program of an observed run in a container. It reports
// at the door that the run begins, gives it the library and the hooks, and becomes the command.
//
// Role: see door.h. Statically linked with the C library alone, so that it runs in an image with an
// older one, with musl, or with none. It reads the image's own environment and program, which are
// not known outside: existing values of LD_PRELOAD and PYTHONPATH stay. After any failure here the
// command still starts as without it.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness/records/observe/arena.h"
#include "harness/records/observe/door.h"
#include "harness/records/observe/kernel_arena.h"

namespace {

using rharness::DoorEvent;
using rharness::DoorMessage;
using rharness::DoorWhy;

constexpr size_t kLongestPath = 4096;
constexpr int kMostInterpreters = 4;

// A file mapped for reading.
struct Bytes {
  const unsigned char* data = nullptr;
  size_t size = 0;

  bool Holds(uint64_t at, uint64_t count) const { return at <= size && count <= size - at; }
  // Null: no text that ends within the file.
  const char* Text(uint64_t at) const {
    if (at >= size || memchr(data + at, 0, size - at) == nullptr) return nullptr;
    return reinterpret_cast<const char*>(data + at);
  }
};

Bytes MapFile(const char* path) {
  Bytes bytes;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    void* mapped = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped != MAP_FAILED) {
      bytes = {static_cast<const unsigned char*>(mapped), static_cast<size_t>(info.st_size)};
    }
  }
  if (fd >= 0) close(fd);
  return bytes;
}

// The place of an address in the file; past its end: none.
uint64_t OffsetOf(const Bytes& file, const Elf64_Phdr* headers, size_t count, uint64_t address) {
  for (size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
        address - headers[i].p_vaddr < headers[i].p_filesz) {
      return headers[i].p_offset + (address - headers[i].p_vaddr);
    }
  }
  return file.size;
}

bool NeedsAddressSanitizer(const Bytes& file, const Elf64_Phdr* headers, size_t count,
                           const Elf64_Phdr& dynamic) {
  if (!file.Holds(dynamic.p_offset, dynamic.p_filesz)) return false;
  const auto* entries = reinterpret_cast<const Elf64_Dyn*>(file.data + dynamic.p_offset);
  const size_t entry_count = dynamic.p_filesz / sizeof(Elf64_Dyn);
  uint64_t texts = file.size;
  for (size_t i = 0; i < entry_count; ++i) {
    if (entries[i].d_tag == DT_STRTAB) {
      texts = OffsetOf(file, headers, count, entries[i].d_un.d_ptr);
    }
  }
  for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; ++i) {
    if (entries[i].d_tag != DT_NEEDED || entries[i].d_un.d_val >= file.size) continue;
    const char* name = file.Text(texts + entries[i].d_un.d_val);
    if (name != nullptr && strncmp(name, "libasan.", 8) == 0) return true;
  }
  return false;
}

// Why the library must not be loaded into this program.
DoorWhy WhyNotPreload(const Bytes& file) {
  if (!file.Holds(0, sizeof(Elf64_Ehdr))) return DoorWhy::kNone;
  const auto* head = reinterpret_cast<const Elf64_Ehdr*>(file.data);
  if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_phoff % alignof(Elf64_Phdr) != 0 ||
      !file.Holds(head->e_phoff, uint64_t{head->e_phnum} * sizeof(Elf64_Phdr))) {
    return DoorWhy::kNone;
  }
  const auto* headers = reinterpret_cast<const Elf64_Phdr*>(file.data + head->e_phoff);
  for (size_t i = 0; i < head->e_phnum; ++i) {
    if (headers[i].p_type == PT_INTERP) {
      const char* loader = file.Text(headers[i].p_offset);
      if (loader != nullptr && strstr(loader, "ld-musl") != nullptr) return DoorWhy::kNotGlibc;
    }
    if (headers[i].p_type == PT_DYNAMIC &&
        NeedsAddressSanitizer(file, headers, head->e_phnum, headers[i])) {
      return DoorWhy::kAddressSanitizer;
    }
  }
  return DoorWhy::kNone;
}

bool IsProgram(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

// As the engine would look for it. False: ENOENT.
bool FindProgram(const char* command, char* out) {
  if (strchr(command, '/') != nullptr) {
    return snprintf(out, kLongestPath, "%s", command) < static_cast<int>(kLongestPath);
  }
  const char* path = getenv("PATH");
  if (path == nullptr) path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const char* rest = path; rest != nullptr;) {
    const char* end = strchr(rest, ':');
    const int length =
        end == nullptr ? static_cast<int>(strlen(rest)) : static_cast<int>(end - rest);
    const int size = snprintf(out, kLongestPath, "%.*s/%s", length, rest, command);
    if (length > 0 && size < static_cast<int>(kLongestPath) && IsProgram(out)) return true;
    rest = end == nullptr ? nullptr : end + 1;
  }
  return false;
}

// Follows "#!INTERPRETER" from the program in `path`, and sets `path` to the final program.
Bytes MapInterpreted(char* path) {
  Bytes file = MapFile(path);
  for (int depth = 0; depth < kMostInterpreters && file.Holds(0, 2); ++depth) {
    if (memcmp(file.data, "#!", 2) != 0) break;
    const char* line = reinterpret_cast<const char*>(file.data) + 2;
    size_t left = file.size - 2;
    while (left > 0 && (*line == ' ' || *line == '\t')) ++line, --left;
    size_t length = 0;
    while (length < left && strchr(" \t\n", line[length]) == nullptr) ++length;
    if (length == 0 || length >= kLongestPath) break;
    memcpy(path, line, length);
    path[length] = 0;
    file = MapFile(path);
  }
  return file;
}

bool WriteAll(int fd, const unsigned char* data, size_t size) {
  while (size > 0) {
    const ssize_t count = write(fd, data, size);
    if (count <= 0) return false;
    data += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

// A file of the notes, which begins as the door has it, with room for `size` bytes.
bool CopyToNotes(const char* name, size_t most, size_t size) {
  char from[256];
  char to[256];
  snprintf(from, sizeof(from), "%s/%s", rharness::kInsideDoor, name);
  snprintf(to, sizeof(to), "%s/%s", rharness::kInsideNotes, name);
  const Bytes source = MapFile(from);
  if (source.size == 0) return false;
  const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  // With its blocks: a hole that finds no space when it is written to would end the run (SIGBUS).
  const bool done = (size == 0 || posix_fallocate(fd, 0, static_cast<off_t>(size)) == 0) &&
                    WriteAll(fd, source.data, source.size < most ? source.size : most);
  close(fd);
  return done;
}

bool MakeNotes() {
  return CopyToNotes(rharness::kArenaFile, offsetof(rharness::Arena, entries),
                     sizeof(rharness::Arena)) &&
         CopyToNotes(rharness::kNamesFile, size_t{1} << 20, 0);
}

const char* ValueOf(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

// False too where they are not wanted: the door has no such file then.
bool MakeKernelNotes() {
  return *ValueOf(rharness::kInjectionVariable) == 0 &&
         CopyToNotes(rharness::kKernelArenaFile, offsetof(rharness::KernelArena, dropped),
                     sizeof(rharness::KernelArena));
}

// Who listens is started with the engine, and is there long before; if not, it gets a moment.
int Knock() {
  const int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", rharness::kInsideDoor,
           rharness::kDoorSocket);
  for (int attempt = 0; door >= 0 && attempt < 50; ++attempt) {
    if (connect(door, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return door;
    if (errno != ENOENT && errno != ECONNREFUSED) break;
    usleep(2000);
  }
  if (door >= 0) close(door);
  return -1;
}

void Tell(int door, const DoorMessage& message, bool with_descriptors) {
  int fds[3] = {-1, -1, -1};
  size_t count = 0;
  if (with_descriptors) {
    fds[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    fds[1] = open(rharness::kInsideNotes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fds[2] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    while (count < 3 && fds[count] >= 0) ++count;
  }
  iovec part{const_cast<DoorMessage*>(&message), sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  if (count > 0) {
    packet.msg_control = control;
    packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(head), fds, count * sizeof(int));
  }
  sendmsg(door, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (const int fd : fds) {
    if (fd >= 0) close(fd);
  }
}

// NAME becomes FIRST:SECOND, without empty parts.
void SetList(const char* name, const char* first, const char* second) {
  const size_t size = strlen(first) + strlen(second) + 2;
  char* value = static_cast<char*>(malloc(size));
  if (value == nullptr) return;
  const bool both = *first != 0 && *second != 0;
  snprintf(value, size, "%s%s%s", first, both ? ":" : "", second);
  setenv(name, value, 1);
  free(value);
}

void Lend(const DoorMessage& message) {
  char part[256];
  if (message.preload != 0) {
    snprintf(part, sizeof(part), "%s/librharness-observe.so", rharness::kInsideParts);
    SetList("LD_PRELOAD", ValueOf("LD_PRELOAD"), part);
  }
  if (message.python != 0) {
    snprintf(part, sizeof(part), "%s/python", rharness::kInsideParts);
    SetList("PYTHONPATH", part, ValueOf("PYTHONPATH"));
  }
  if (message.kernels != 0) {
    snprintf(part, sizeof(part), "%s/%s", rharness::kInsideParts, rharness::kKernelsLibrary);
    setenv(rharness::kInjectionVariable, part, 1);
  }
  if (message.preload != 0 || message.python != 0 || message.kernels != 0) {
    setenv(rharness::kObserveVariable, rharness::kInsideNotes, 1);
  }
}

DoorMessage Decide(const char* lend, const char* program) {
  DoorMessage message;
  message.magic = rharness::kDoorMagic;
  message.event = DoorEvent::kEntered;
  const bool has_notes = MakeNotes();
  char path[kLongestPath];
  snprintf(path, sizeof(path), "%s", program);
  message.why = has_notes ? WhyNotPreload(MapInterpreted(path)) : DoorWhy::kNotes;
  message.preload = message.why == DoorWhy::kNone;
  message.kernels = has_notes && MakeKernelNotes();
  message.python = has_notes && strcmp(lend, rharness::kLendPython) == 0;
  char real[kLongestPath];
  if (realpath(path, real) != nullptr && strlen(real) < sizeof(message.program)) {
    memcpy(message.program, real, strlen(real) + 1);
  }
  return message;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  char** command = argv + 2;
  char program[kLongestPath];
  const bool found = FindProgram(command[0], program);
  const int door = Knock();
  if (door >= 0 && found) {
    const DoorMessage message = Decide(argv[1], program);
    Tell(door, message, /*with_descriptors=*/true);
    Lend(message);
  }
  if (found) {
    execv(program, command);
  } else {
    errno = ENOENT;
  }
  DoorMessage failed;
  failed.magic = rharness::kDoorMagic;
  failed.event = DoorEvent::kNotStarted;
  failed.error = errno;
  if (door >= 0) Tell(door, failed, /*with_descriptors=*/false);
  fprintf(stderr, "%s: %s\n", command[0], strerror(failed.error));
  return failed.error == ENOENT ? 127 : 126;
}
