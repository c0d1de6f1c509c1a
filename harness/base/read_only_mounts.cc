// Four system calls.
#include "harness/base/read_only_mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace rharness {

int MountReadOnly(const std::vector<const char*>& paths) {
  constexpr long kMountSetattr = 442;      // SYS_mount_setattr, which older headers lack
  constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE
  struct {
    std::uint64_t set = 1;  // MOUNT_ATTR_RDONLY
    std::uint64_t clear = 0;
    std::uint64_t propagation = 0;
    std::uint64_t user_namespace = 0;
  } attributes;
  if (::unshare(CLONE_NEWNS) != 0) return errno;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return errno;
  for (const char* path : paths) {
    if (::mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) != 0) return errno;
    if (::syscall(kMountSetattr, AT_FDCWD, path, kRecursive, &attributes, sizeof(attributes)) !=
        0) {
      const int error = errno;
      ::umount2(path, MNT_DETACH);
      return error;
    }
  }
  return 0;
}

}  // namespace rharness
