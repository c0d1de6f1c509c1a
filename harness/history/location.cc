// URLs of histories, and the filesystems below them.
#include "harness/history/location.h"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "harness/history/postgresql_url.h"

namespace rharness {
namespace {

constexpr std::string_view kExpected =
    "expected sqlite:PATH, the path of an SQLite file, or postgresql://HOST:PORT/DATABASE";

constexpr std::array<std::uint64_t, 14> kNetworkFilesystems = {
    0x6969,      // NFS
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB2
    0x517B,      // SMB
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS (Spectrum Scale)
    0x19830326,  // BeeGFS
    0x00C36400,  // Ceph
    0x65735546,  // FUSE: sshfs, GlusterFS, JuiceFS, ...
    0x01021997,  // 9P
    0x5346414F,  // OpenAFS
    0x6B414653,  // kAFS
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2
};

// The scheme of "scheme://...", else of "postgresql:..." and "postgres:...", else nothing.
std::string_view SchemeOf(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view scheme = url.substr(0, colon);
  const bool plain = !scheme.empty() && std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
  if (!plain) return {};
  const bool authority = url.substr(colon + 1).starts_with("//");
  return authority || scheme == "postgresql" || scheme == "postgres" ? scheme : std::string_view();
}

}  // namespace

Result<std::filesystem::path> ParseHistoryUrl(std::string_view url) {
  std::string_view path = url;
  if (url.starts_with("sqlite:")) {
    path.remove_prefix(7);
    if (path.starts_with("//")) path.remove_prefix(2);
  } else if (const std::string_view scheme = SchemeOf(url); !scheme.empty()) {
    return Unsupported(
        fmt::format("histories in '{}:' databases are not supported; {}", scheme, kExpected));
  }
  if (path.empty()) return InvalidInput(fmt::format("the history's path is empty; {}", kExpected));
  if (std::any_of(path.begin(), path.end(), [](char c) {
        return c == '"' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
      })) {
    return InvalidInput(
        fmt::format("the history's path holds a quote or a control character; {}", kExpected));
  }
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return IoError("cannot resolve the history's path: " + error.message());
  return absolute.lexically_normal();
}

Result<std::string> ResolveHistoryUrl(const std::string& url) {
  if (IsPostgresqlUrl(url)) {
    RETURN_IF_ERROR(CheckPostgresqlUrl(url));
    return url;
  }
  ASSIGN_OR_RETURN(const std::filesystem::path path, ParseHistoryUrl(url));
  return path.string();
}

std::vector<std::string> FilesOfHistory(const std::string& url) {
  std::vector<std::string> files;
  const auto path = ParseHistoryUrl(url);
  if (!path.ok()) return files;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    files.push_back(path->string() + suffix);
  return files;
}

std::string_view JournalModeFor(std::uint64_t magic) {
  const bool network = std::find(kNetworkFilesystems.begin(), kNetworkFilesystems.end(), magic) !=
                       kNetworkFilesystems.end();
  return network ? "delete" : "wal";
}

Result<std::string_view> JournalModeAt(const std::filesystem::path& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0 &&
      (errno != ENOENT || ::statfs(path.parent_path().c_str(), &info) != 0)) {
    return IoErrorFromErrno("cannot look at the history's folder", errno, path.string());
  }
  // f_type is signed on some platforms, and magic numbers have 32 bits.
  return JournalModeFor(static_cast<std::uint64_t>(info.f_type) & 0xFFFFFFFFu);
}

}  // namespace rharness
