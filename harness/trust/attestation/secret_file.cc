// Secrets out of files.
#include "harness/trust/attestation/secret_file.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostSecretBytes = std::uint64_t{64} << 10;

}  // namespace

SecretText::~SecretText() {
  // A short text that was moved from here is still in these bytes.
  text_.resize(text_.capacity());
  ::explicit_bzero(text_.data(), text_.size());
}

Result<SecretText> ReadSecretFile(const std::filesystem::path& path, std::string_view what) {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  struct stat status {};
  if (::fstat(file.descriptor.get(), &status) != 0) {
    return IoErrorFromErrno("cannot look at it", errno, path.string());
  }
  if ((status.st_mode & 077) != 0) {
    return InvalidInput(fmt::format("others may read it; chmod 600 keeps {} to you", what),
                        path.string());
  }
  auto text = ReadFile(fmt::format("/proc/self/fd/{}", file.descriptor.get()), kMostSecretBytes);
  if (!text.ok()) return Error{text.error().code, text.error().message, path.string()};
  return SecretText(std::move(*text));
}

Result<SecretText> ReadSecretLine(const std::filesystem::path& path, std::string_view what) {
  ASSIGN_OR_RETURN(const SecretText file, ReadSecretFile(path, what));
  SecretText line(file.text().substr(0, file.text().find_first_of("\r\n")));
  if (!line.text().empty()) return line;
  return InvalidInput(fmt::format("its first line is empty; expected {}", what), path.string());
}

}  // namespace rharness
