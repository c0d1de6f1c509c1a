// Which failures are the machine's.
#include "harness/base/trouble.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace rharness {
namespace {

constexpr std::array kOfThePath = {EACCES, EPERM, ELOOP, ENAMETOOLONG, EISDIR};
constexpr std::array kOfTheMachine = {EIO,    ENOSPC, EDQUOT, ENOMEM, EMFILE,
                                      ENFILE, EROFS,  ESTALE, EAGAIN, ENOTCONN};
// Of programs that had helpers: one was killed, or its other end went away.
constexpr std::array<std::string_view, 4> kHelperDied = {
    "died of signal", "Out of memory", "out of memory", "unable to create thread"};
constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

}  // namespace

bool IsTrouble(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kProcess ||
         error.code == ErrorCode::kTimeout || error.code == ErrorCode::kInternal;
}

Error PathError(std::string_view what, int error_number, const std::filesystem::path& path) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return NotFound("no such file", path.string());
  }
  Error error = IoErrorFromErrno(std::string(what), error_number, path.string());
  if (std::ranges::find(kOfThePath, error_number) != kOfThePath.end()) {
    error.code = ErrorCode::kInvalidInput;
  }
  return error;
}

bool IsAnswer(const ProcessResult& failed) {
  if (failed.outcome.kind != OutcomeKind::kExited) return false;
  const auto says = [&](std::string_view words) {
    return failed.stderr_text.find(words) != std::string::npos;
  };
  return std::ranges::none_of(kHelperDied, says) &&
         std::ranges::none_of(kOfTheMachine,
                              [&](int number) { return says(std::strerror(number)); });
}

std::optional<std::string> WhyFull(const std::filesystem::path& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return std::nullopt;
  const std::uint64_t free_bytes = std::uint64_t{info.f_bavail} * info.f_frsize;
  if (info.f_blocks > 0 && free_bytes < kLeastBytes) {
    return fmt::format("{} ({} bytes are left)", std::strerror(ENOSPC), free_bytes);
  }
  if (info.f_files > 0 && info.f_favail == 0) {
    return fmt::format("{} (no file can be made)", std::strerror(ENOSPC));
  }
  return std::nullopt;
}

}  // namespace rharness
