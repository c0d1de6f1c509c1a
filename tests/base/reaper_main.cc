// What outlives a test program, to end what that left. Reads a folder and the mark of the test's
// processes (reaper.h), then waits for the end of its stdin. It has no library of ours, so that it
// is there before anything else.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Of "/proc/7/stat": its parent; 0 where it is gone, or dead and not yet fetched.
int LivingParentOf(int pid) {
  const std::string stat = ReadAll("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  if (end == std::string::npos || end + 4 >= stat.size() || stat[end + 2] == 'Z') return 0;
  return std::atoi(stat.c_str() + end + 4);
}

bool IsBelow(std::string_view path, const std::string& folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool IsMarked(int pid, const std::string& folder, const std::string& mark) {
  const std::string at = "/proc/" + std::to_string(pid);
  const std::string environment = '\0' + ReadAll(at + "/environ");
  const std::string variable = '\0' + std::string("RHARNESS_JOB=") + mark;
  if (!mark.empty() && environment.find(variable) != std::string::npos) return true;
  if (environment.find(folder) != std::string::npos) return true;
  if (ReadAll(at + "/cmdline").find(folder) != std::string::npos) return true;
  std::error_code error;
  return IsBelow(fs::read_symlink(at + "/cwd", error).string(), folder);
}

// What is marked, and what descends from it.
std::set<int> FindLeft(const std::string& folder, const std::string& mark) {
  std::multimap<int, int> children;
  std::vector<int> found;
  std::error_code error;
  for (fs::directory_iterator one("/proc", error), end; !error && one != end;
       one.increment(error)) {
    const std::string name = one->path().filename();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    const int parent = LivingParentOf(pid);
    if (parent == 0 || pid == ::getpid()) continue;
    children.emplace(parent, pid);
    if (IsMarked(pid, folder, mark)) found.push_back(pid);
  }
  std::set<int> left;
  while (!found.empty()) {
    const int pid = found.back();
    found.pop_back();
    if (!left.insert(pid).second) continue;
    const auto [first, last] = children.equal_range(pid);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  return left;
}

// Where something is mounted below the folder, the innermost last.
std::vector<std::string> MountsBelow(const std::string& folder) {
  std::vector<std::string> mounts;
  std::ifstream table("/proc/self/mountinfo");
  std::string field, line;
  while (std::getline(table, line)) {
    std::size_t at = 0;
    for (int i = 0; i < 4; ++i) at = line.find(' ', at) + 1;
    const std::string path = line.substr(at, line.find(' ', at) - at);
    if (IsBelow(path, folder)) mounts.push_back(path);
  }
  return mounts;
}

void Reap(const std::string& folder, const std::string& mark) {
  constexpr int kMostRounds = 200;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::set<int> left = FindLeft(folder, mark);
    if (left.empty()) break;
    for (const int pid : left) ::kill(pid, SIGKILL);
    ::usleep(50'000);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<std::string> mounts = MountsBelow(folder);
    if (mounts.empty()) break;
    for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) {
      ::umount2(mount->c_str(), MNT_DETACH);
    }
  }
  std::error_code error;
  if (MountsBelow(folder).empty()) fs::remove_all(folder, error);
}

}  // namespace

int main() {
  // Who kills a tree of processes by their parents, as ctest does, must not find this one.
  if (::fork() != 0) ::_exit(0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  std::string order;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(0, buffer, sizeof(buffer))) > 0;) {
    order.append(buffer, static_cast<std::size_t>(size));
  }
  std::istringstream lines(order);
  std::string folder, mark, done;
  if (!std::getline(lines, folder) || !std::getline(lines, mark) || mark.empty()) return 2;
  if (std::getline(lines, done)) mark.clear();  // the process lives
  // Nothing but a folder of a test's own.
  if (fs::path(folder).filename().string().find("rharness-") != 0) return 2;
  Reap(folder, mark);
  return 0;
}
