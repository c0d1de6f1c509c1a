// A pseudo-terminal, and a reading of what came out of it.
#include "tests/cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace rharness {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);
constexpr unsigned short kColumns = 120;

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string Screen::text() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

void Screen::Put(char c) {
  std::string& line = lines_.back();
  if (c == '\r') {
    column_ = 0;
  } else if (c == '\n') {
    lines_.emplace_back();
    column_ = 0;
  } else {
    if (line.size() <= column_) line.resize(column_ + 1, ' ');
    line[column_++] = c;
  }
}

void Screen::Write(std::string_view bytes) {
  for (const char c : bytes) {
    if (sequence_.empty() && c != '\x1b') {
      Put(c);
      continue;
    }
    sequence_.push_back(c);
    const bool whole = sequence_.size() > 2 && c >= '@' && c <= '~';
    if (!whole) continue;
    if (sequence_ == "\x1b[K") lines_.back().resize(std::min(lines_.back().size(), column_));
    sequence_.clear();
  }
}

TerminalProgram::TerminalProgram(std::vector<std::string> argv, const std::filesystem::path& folder,
                                 const std::map<std::string, std::string>& environment) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment) lines.push_back(name + "=" + value);
  const std::vector<char*> arguments = Pointers(&argv);
  const std::vector<char*> variables = Pointers(&lines);
  master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
  const std::string name = ::ptsname(master_);
  const winsize size{.ws_row = 50, .ws_col = kColumns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(master_, TIOCSWINSZ, &size);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::setsid();
  const int terminal = ::open(name.c_str(), O_RDWR);
  ::ioctl(terminal, TIOCSCTTY, 0);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(terminal, fd);
  if (::chdir(folder.c_str()) == 0) ::execve(arguments[0], arguments.data(), variables.data());
  ::_exit(127);
}

TerminalProgram::~TerminalProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (master_ >= 0) ::close(master_);
}

// False at the end: the last process has closed the terminal.
bool TerminalProgram::ReadSome() {
  char buffer[4096];
  pollfd ready{.fd = master_, .events = POLLIN, .revents = 0};
  const auto patience = std::chrono::milliseconds(kPatience).count();
  if (::poll(&ready, 1, static_cast<int>(patience)) <= 0) return false;
  const ssize_t got = ::read(master_, buffer, sizeof buffer);
  if (got <= 0) return false;
  written_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool TerminalProgram::ReadUntil(const std::function<bool(const std::string&)>& holds) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!holds(written_)) {
    if (std::chrono::steady_clock::now() > until || !ReadSome()) return false;
  }
  return true;
}

void TerminalProgram::Type(std::string_view keys) const {
  [[maybe_unused]] const auto written = ::write(master_, keys.data(), keys.size());
}

int TerminalProgram::Wait() {
  ReadUntil([](const std::string&) { return false; });
  int status = -1;
  if (pid_ > 0 && ::waitpid(pid_, &status, 0) == pid_) pid_ = -1;
  return status;
}

Screen TerminalProgram::screen() const {
  Screen screen;
  screen.Write(written_);
  return screen;
}

}  // namespace rharness
