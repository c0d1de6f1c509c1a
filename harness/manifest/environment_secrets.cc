// Notes in the place of values, and the key of their digests.
#include "harness/manifest/environment_secrets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/hmac.h"
#include "harness/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNote = "withheld:";
constexpr std::string_view kRedactedNote = "withheld:redacted";
constexpr std::string_view kKeyedNote = "withheld:hmac-sha256:";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kKeyIdDigits = 16;

std::string ValueOf(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Result<std::string> RandomKey() {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return IoError(std::string("no random bytes: ") + std::strerror(errno));
  }
  return ToHex(bytes);
}

// Whole or not at all, and never over a key that is there: another process may have made it.
Status MakeKey(const fs::path& file) {
  RETURN_IF_ERROR(MakeDirectories(file.parent_path()));
  ASSIGN_OR_RETURN(const std::string key, RandomKey());
  const std::string draft = fmt::format("{}.{}", file.string(), ::getpid());
  const Descriptor fd(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return IoError(std::string("cannot create: ") + std::strerror(errno), draft);
  const std::string line = key + "\n";
  const bool written =
      ::write(fd.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fsync(fd.get()) == 0;
  const bool placed = written && (::link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST);
  const int reason = errno;
  ::unlink(draft.c_str());
  if (placed) return {};
  return IoError(std::string("cannot write: ") + std::strerror(reason), file.string());
}

// Asked for once a process; empty where there is none.
const std::string& KeyOfThisInstallation() {
  static const std::string kKey = [] {
    const auto file = KeyFile();
    if (!file.ok()) return std::string();
    auto key = LoadOrMakeKey(*file);
    return key.ok() ? std::move(*key) : std::string();
  }();
  return kKey;
}

}  // namespace

bool NamesSecret(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 6> kWords = {"TOKEN",  "SECRET", "PASSWORD",
                                                      "PASSWD", "KEY",    "CREDENTIAL"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

bool HoldsCredential(std::string_view value) {
  constexpr std::string_view kScheme = "://";
  for (auto at = value.find(kScheme); at != value.npos; at = value.find(kScheme, at + 1)) {
    std::string_view authority = value.substr(at + kScheme.size());
    authority = authority.substr(0, authority.find_first_of("/?# \t,"));
    const auto user = authority.substr(0, authority.find('@'));
    if (user.size() < authority.size() && user.find(':') != user.npos) return true;
  }
  return false;
}

std::string Withheld(std::string_view name, const std::string& value) {
  const bool secret = NamesSecret(name);
  if (!secret && !HoldsCredential(value)) return value;
  const bool redact = secret && ValueOf("RHARNESS_SECRETS") != "keyed";
  if (redact || KeyOfThisInstallation().empty()) return std::string(kRedactedNote);
  return KeyedNote(KeyOfThisInstallation(), value);
}

std::string KeyedNote(std::string_view key, std::string_view value) {
  const std::string id =
      Sha256HexOf(fmt::format("rharness.environment-key/v1:{}", key)).substr(0, kKeyIdDigits);
  return fmt::format("{}{}:{}", kKeyedNote, id, HmacSha256Hex(key, value));
}

std::string RealmOf(std::string_view value) {
  if (!value.starts_with(kNote)) return "";
  if (value.starts_with(kKeyedNote)) {
    const std::string_view rest = value.substr(kKeyedNote.size());
    return "key " + std::string(rest.substr(0, rest.find(':')));
  }
  const std::string_view rest = value.substr(kNote.size());
  return std::string(rest.substr(0, rest.find(':')));
}

Result<fs::path> KeyFile() {
  if (const std::string file = ValueOf("RHARNESS_KEY_FILE"); !file.empty()) return fs::path(file);
  fs::path state = ValueOf("XDG_STATE_HOME");
  if (!state.is_absolute()) {
    const std::string home = ValueOf("HOME");
    if (!fs::path(home).is_absolute()) {
      return NotFound("no place for a key; expected RHARNESS_KEY_FILE, XDG_STATE_HOME or HOME");
    }
    state = fs::path(home) / ".local/state";
  }
  return state / "rharness" / "environment.key";
}

Result<std::string> LoadOrMakeKey(const fs::path& file) {
  auto text = ReadFile(file, 1024);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) {
    RETURN_IF_ERROR(MakeKey(file));
    text = ReadFile(file, 1024);
  }
  if (!text.ok()) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  if (!IsSha256Hex(*text)) {
    return InvalidInput("holds no key; expected 64 hexadecimal digits", file.string());
  }
  return std::move(*text);
}

}  // namespace rharness
