// Starting the reaper, and waiting for it.
#include "tests/base/reaper.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "harness/base/subprocess.h"

namespace rharness {

Reaper::Reaper(const std::filesystem::path& folder) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    problem_ = std::strerror(errno);
    return;
  }
  const Descriptor read_end(in[0]), write_end(out[1]);
  held_ = Descriptor(in[1]);
  done_ = Descriptor(out[0]);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = RHARNESS_BIN_DIR "/test_reaper_main";
  char* argv[] = {program.data(), nullptr};
  char* environment[] = {nullptr};  // without this process's mark
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    problem_ = program + ": " + std::strerror(error);
    return;
  }
  ::waitpid(pid, nullptr, 0);  // what it leaves behind is the reaper
  const std::string order = folder.string() + "\n" + JobSession() + "\n";
  if (::write(held_.get(), order.data(), order.size()) != static_cast<ssize_t>(order.size())) {
    problem_ = "the reaper does not listen";
  }
}

Reaper::~Reaper() {
  if (!problem_.empty()) return;
  // This process goes on, and what others of its objects started with it.
  constexpr std::string_view kDone = "done\n";
  (void)!::write(held_.get(), kDone.data(), kDone.size());
  held_.Close();
  pollfd end{.fd = done_.get(), .events = POLLIN, .revents = 0};
  ::poll(&end, 1, 30'000);
}

}  // namespace rharness
