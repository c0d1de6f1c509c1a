// A child for the tests of subprocess: does what its arguments say, one after the other, and exits
// with 0. It ends by itself after a minute, whatever happens to its parent.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Arguments = std::vector<std::string>;

char* g_program = nullptr;

[[noreturn]] void Hang() {
  for (;;) ::pause();
}

void Say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void Write(int fd, char byte, std::size_t count) {
  const std::string block(65536, byte);
  while (count > 0) {
    const ssize_t written = ::write(fd, block.data(), std::min(count, block.size()));
    if (written <= 0) std::exit(99);
    count -= static_cast<std::size_t>(written);
  }
}

void PrintEnvironment() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    Say(std::string(*variable) + "\n");
  }
}

void PrintDescriptors() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (fd > 2 && target.string().find("/fd") == std::string::npos) {
      Say(std::to_string(fd) + " " + target.string() + "\n");
    }
  }
}

void PrintStatusLines(const std::string& prefix) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(prefix, 0) == 0) Say(line + "\n");
  }
}

void Raise(int number) {
  // A sanitizer would catch this one and exit.
  if (number == SIGSEGV) ::signal(SIGSEGV, SIG_DFL);
  ::raise(number);
}

void Allocate(std::size_t bytes) {
  char* block = static_cast<char*>(std::malloc(bytes));
  for (std::size_t at = 0; at < bytes; at += 4096) {
    reinterpret_cast<volatile char*>(block)[at] = 1;
  }
}

void WriteFiles(const std::string& folder, std::size_t bytes_each, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string path = folder + "/" + std::to_string(i);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    Write(fd, 'x', bytes_each);
    ::close(fd);
  }
}

// Memory that is a file and no process has mapped.
void FillMemoryFile(std::size_t bytes) { Write(::memfd_create("filled", MFD_CLOEXEC), 'x', bytes); }

// Looks at every page of a file, which nothing but that mapping holds in memory.
void MapFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) std::exit(95);
  const auto bytes = static_cast<std::size_t>(info.st_size);
  const void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) std::exit(94);
  for (std::size_t at = 0; at < bytes; at += 4096) {
    [[maybe_unused]] const char byte = static_cast<const volatile char*>(mapped)[at];
  }
}

// As many hanging children as asked for; says how many there are.
void ForkMany(int count) {
  int started = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) Hang();
    started += pid > 0 ? 1 : 0;
  }
  Say(std::to_string(started));
}

// A grandchild that hangs; its pid goes to stdout first.
void ForkHanging() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    Hang();
  }
  Say(std::to_string(pid) + "\n");
}

// A daemon: its parent is gone, its session is its own. With `forget`, so is its environment.
void ForkDaemon(bool forget) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) std::exit(98);
  const pid_t middle = ::fork();
  if (middle == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    Say(std::to_string(::getpid()) + "\n");
    char hang[] = "hang";
    char* argv[] = {g_program, hang, nullptr};
    char* nothing[] = {nullptr};
    ::execve("/proc/self/exe", argv, forget ? nothing : environ);
    ::_exit(97);
  }
  ::waitpid(middle, nullptr, 0);
  ::close(ready[1]);
  char unused;
  while (::read(ready[0], &unused, 1) > 0) {
  }
}

void OnTerm(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, "term", 4);
  ::_exit(7);
}

struct Step {
  std::size_t arguments;
  std::function<void(const Arguments&)> run;
};

const std::map<std::string, Step>& Steps() {
  static const std::map<std::string, Step> steps = {
      {"exit", {1, [](const Arguments& a) { std::exit(std::stoi(a[0])); }}},
      {"raise", {1, [](const Arguments& a) { Raise(std::stoi(a[0])); }}},
      {"hang", {0, [](const Arguments&) { Hang(); }}},
      {"say", {1, [](const Arguments& a) { Say(a[0]); }}},
      {"print", {3, [](const Arguments& a) { Write(std::stoi(a[0]), a[1][0], std::stoul(a[2])); }}},
      {"env", {0, [](const Arguments&) { PrintEnvironment(); }}},
      {"cwd", {0, [](const Arguments&) { Say(std::filesystem::current_path().string()); }}},
      {"stdin",
       {0,
        [](const Arguments&) {
          char byte;
          Say(std::to_string(::read(STDIN_FILENO, &byte, 1)));
        }}},
      {"descriptors", {0, [](const Arguments&) { PrintDescriptors(); }}},
      {"status", {1, [](const Arguments& a) { PrintStatusLines(a[0]); }}},
      {"core-limit",
       {0,
        [](const Arguments&) {
          rlimit limit{};
          ::getrlimit(RLIMIT_CORE, &limit);
          Say(std::to_string(limit.rlim_cur));
        }}},
      {"allocate", {1, [](const Arguments& a) { Allocate(std::stoul(a[0])); }}},
      {"fill-memory-file", {1, [](const Arguments& a) { FillMemoryFile(std::stoul(a[0])); }}},
      {"linger",
       {1, [](const Arguments& a) { ::usleep(static_cast<unsigned>(1000 * std::stoul(a[0]))); }}},
      {"map", {1, [](const Arguments& a) { MapFile(a[0]); }}},
      {"fork-many", {1, [](const Arguments& a) { ForkMany(std::stoi(a[0])); }}},
      {"write",
       {3, [](const Arguments& a) { WriteFiles(a[0], std::stoul(a[1]), std::stoi(a[2])); }}},
      {"ignore", {1, [](const Arguments& a) { ::signal(std::stoi(a[0]), SIG_IGN); }}},
      {"catch-term", {0, [](const Arguments&) { ::signal(SIGTERM, OnTerm); }}},
      {"fork-hanging", {0, [](const Arguments&) { ForkHanging(); }}},
      {"fork-daemon", {0, [](const Arguments&) { ForkDaemon(false); }}},
      {"fork-forgetful-daemon", {0, [](const Arguments&) { ForkDaemon(true); }}},
  };
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(60);
  g_program = argv[0];
  const Arguments all(argv + 1, argv + argc);
  for (std::size_t at = 0; at < all.size();) {
    const auto step = Steps().find(all[at]);
    if (step == Steps().end() || all.size() - at - 1 < step->second.arguments) return 96;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto end = begin + static_cast<std::ptrdiff_t>(step->second.arguments);
    step->second.run(Arguments(begin, end));
    at += 1 + step->second.arguments;
  }
  return 0;
}
