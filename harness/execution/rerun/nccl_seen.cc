// Files of logs, and our own output.
#include "harness/execution/rerun/nccl_seen.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/records/manifest/nccl_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNcclText = std::size_t{4} << 20;
constexpr std::size_t kMostNcclFiles = 16;

// A regular file alone: a pipe of that name would block.
std::string BeginningOf(const fs::path& path, std::int64_t from, WallTime since) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  const WallTime changed{std::chrono::seconds(info.st_mtim.tv_sec + 1)};
  if (changed < since) return "";
  std::string text(kMostNcclText, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::pread(file.get(), text.data() + size, text.size() - size,
                                  from + static_cast<off_t>(size));
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

// "nccl.%h.%p.log" as a glob. Source: NVIDIA, NCCL User Guide, NCCL_DEBUG_FILE.
std::string GlobOf(const std::string& pattern) {
  char host[256] = "";
  (void)::gethostname(host, sizeof(host) - 1);
  std::string_view name = host;
  name = name.substr(0, name.find('.'));  // NCCL cuts it there, too
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'h') glob += name;
    if (next == 'p') glob += '*';
    if (next == '%') glob += '%';
    if (next == '\0') glob += pattern[i];
    if (next != '\0') ++i;
  }
  return glob;
}

}  // namespace

std::map<std::string, std::string> NcclChoices(std::string_view output,
                                               const std::map<std::string, std::string>& variables,
                                               const fs::path& folder, WallTime started) {
  if (!variables.contains("NCCL_DEBUG")) return {};
  std::string text(output);
  const auto named = variables.find("NCCL_DEBUG_FILE");
  if (named == variables.end() || named->second.empty()) return ReadNcclLog(text);
  const fs::path glob = folder / GlobOf(named->second);
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(glob.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (GlobMatches(glob.filename().string(), entry->path().filename().string())) {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  files.resize(std::min(files.size(), kMostNcclFiles));
  for (const fs::path& file : files) text += "\n" + BeginningOf(file, 0, started);
  return ReadNcclLog(text);
}

OwnOutput::OwnOutput() {
  struct stat info {};
  if (::fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode)) from_ = info.st_size;
}

std::string OwnOutput::Text() const {
  return from_ < 0 ? "" : BeginningOf("/proc/self/fd/1", from_, WallTime());
}

}  // namespace rharness
