// Notes in the place of values, and the key of their digests.
#include "harness/records/manifest/environment_secrets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/hmac.h"
#include "harness/records/manifest/environment.h"

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

// Loaded once per process; empty if there is none.
const std::string& KeyOfThisInstallation() {
  static const std::string kKey = [] {
    const auto file = KeyFile();
    if (!file.ok()) return std::string();
    auto key = LoadOrMakeKey(*file);
    return key.ok() ? std::move(*key) : std::string();
  }();
  return kKey;
}

enum class NameSort { kSetting, kToken, kPassword };

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// The words of a name in lower case: "hfAccess_TOKEN" is hf, access, token; "APIKey" is api, key.
std::vector<std::string> WordsOf(std::string_view name) {
  const auto is = [&](std::size_t i, int (*test)(int)) {
    return i < name.size() && test(static_cast<unsigned char>(name[i])) != 0;
  };
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins =
        is(i, std::isupper) && i > 0 &&
        (is(i - 1, std::islower) || (is(i - 1, std::isupper) && is(i + 1, std::islower)));
    if ((begins || !is(i, std::isalnum)) && !words.back().empty()) words.emplace_back();
    if (is(i, std::isalnum)) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

template <std::size_t N>
bool IsAmong(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

NameSort SortOf(std::string_view name) {
  constexpr std::array<std::string_view, 8> kPasswords = {
      "pw", "password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials"};
  // "pass" ends the names of steps and filters, too; "pwd" alone is the working folder.
  constexpr std::array<std::string_view, 2> kShortPasswords = {"pass", "pwd"};
  constexpr std::array<std::string_view, 19> kNoPassword = {
      "forward", "backward", "first", "second", "third", "last", "one", "two",  "single", "multi",
      "per",     "num",      "max",   "low",    "high",  "band", "old", "init", "pre"};
  constexpr std::array<std::string_view, 8> kJoined = {"apikey",     "apitoken",       "authtoken",
                                                       "accesskey",  "accesstoken",    "secretkey",
                                                       "privatekey", "secretaccesskey"};
  // Words of tokenizers and generation, and of keys for lookup, sorting or attention.
  constexpr std::array<std::string_view, 38> kOfSettings = {
      "pad",    "bos",    "eos",     "unk",    "sep",   "cls",    "mask",    "image",
      "video",  "audio",  "stop",    "end",    "start", "begin",  "special", "prompt",
      "class",  "per",    "newline", "think",  "sort",  "label",  "text",    "data",
      "target", "input",  "output",  "metric", "group", "index",  "rng",     "prng",
      "random", "column", "feature", "batch",  "query", "primary"};
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty()) return NameSort::kSetting;
  const std::string& last = words.back();
  if (IsAmong(kPasswords, last)) return NameSort::kPassword;
  if (IsAmong(kShortPasswords, last)) {
    const bool step = words.size() == 1 || IsAmong(kNoPassword, words[words.size() - 2]);
    return step ? NameSort::kSetting : NameSort::kToken;
  }
  if (IsAmong(kJoined, last)) return NameSort::kToken;
  if (words.size() > 2 && last == "id" && words[words.size() - 2] == "key") {
    return NameSort::kToken;  // AWS_ACCESS_KEY_ID
  }
  if (last != "token" && last != "key") return NameSort::kSetting;
  const bool setting = words.size() > 1 && IsAmong(kOfSettings, words[words.size() - 2]);
  return setting ? NameSort::kSetting : NameSort::kToken;
}

bool IsTruthValue(std::string_view value) {
  std::string lower(value);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 8> kValues = {"true", "false", "yes",  "no",
                                                       "on",   "off",   "none", "null"};
  return IsAmong(kValues, lower);
}

bool IsNumber(std::string_view value) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}

// A token in the place of a user, as Git hosts and error collectors take it. Names of people are
// shorter, or have no digits.
bool LooksDrawn(std::string_view user) {
  constexpr std::size_t kShortestToken = 20;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return user.size() >= kShortestToken && std::ranges::all_of(user, IsWordChar) &&
         std::ranges::any_of(user, is_digit);
}

bool HoldsPasswordInUrl(std::string_view value) {
  constexpr std::string_view kScheme = "://";
  for (auto at = value.find(kScheme); at != value.npos; at = value.find(kScheme, at + 1)) {
    std::string_view authority = value.substr(at + kScheme.size());
    authority = authority.substr(0, authority.find_first_of("/?# \t,"));
    const auto user = authority.substr(0, authority.find('@'));
    if (user.size() == authority.size()) continue;
    if (user.find(':') != user.npos) return true;
    if (value.substr(0, at).ends_with("http") || value.substr(0, at).ends_with("https")) {
      if (LooksDrawn(user)) return true;
    }
  }
  return false;
}

// Tokens of well-known services: how they begin, and of how many characters the rest is at least.
bool HoldsToken(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 19> kTokens = {
      {{"AKIA", 16},
       {"ASIA", 16},
       {"ghp_", 30},
       {"gho_", 30},
       {"ghs_", 30},
       {"github_pat_", 30},
       {"glpat-", 20},
       {"hf_", 30},
       {"xoxb-", 20},
       {"xoxp-", 20},
       {"AIza", 35},
       {"ghu_", 30},
       {"ghr_", 30},
       {"npm_", 36},
       {"pypi-", 50},
       {"dckr_pat_", 20},
       {"sk_live_", 20},
       {"nvapi-", 30},
       {"sk-", 32}}};
  return std::ranges::any_of(kTokens, [&](const auto& token) {
    for (auto at = text.find(token.first); at != text.npos; at = text.find(token.first, at + 1)) {
      if (at > 0 && IsWordChar(text[at - 1])) continue;
      const std::string_view rest = text.substr(at + token.first.size());
      const auto end = std::ranges::find_if_not(rest, IsWordChar);
      if (static_cast<std::size_t>(end - rest.begin()) >= token.second) return true;
    }
    return false;
  });
}

// RFC 7519: three parts in base64url between dots; the first one is a JSON object ("eyJ").
bool HoldsWebToken(std::string_view text) {
  constexpr std::size_t kShortestPart = 10;
  for (auto at = text.find("eyJ"); at != text.npos; at = text.find("eyJ", at + 1)) {
    if (at > 0 && IsWordChar(text[at - 1])) continue;
    std::string_view rest = text.substr(at);
    int parts = 0;
    for (; parts < 3; ++parts) {
      const auto size =
          static_cast<std::size_t>(std::ranges::find_if_not(rest, IsWordChar) - rest.begin());
      if (size < kShortestPart) break;
      rest.remove_prefix(size);
      if (parts < 2 && !rest.starts_with('.')) break;
      if (parts < 2) rest.remove_prefix(1);
    }
    if (parts == 3) return true;
  }
  return false;
}

}  // namespace

bool NamesSecret(std::string_view name) { return SortOf(name) != NameSort::kSetting; }

bool HoldsCredential(std::string_view value) {
  const bool key = value.find("-----BEGIN ") != value.npos &&  //
                   value.find("PRIVATE KEY") != value.npos;
  return key || HoldsPasswordInUrl(value) || HoldsToken(value) || HoldsWebToken(value);
}

bool IsSecret(std::string_view name, std::string_view value) {
  if (HoldsCredential(value)) return true;
  const NameSort sort = SortOf(name);
  if (sort == NameSort::kSetting || value.empty() || IsTruthValue(value)) return false;
  return sort == NameSort::kPassword || !IsNumber(value);
}

std::string Withheld(std::string_view name, const std::string& value) {
  if (!IsSecret(name, value)) return value;
  const bool redact = ValueOf("RHARNESS_SECRETS") == "redacted" && !HoldsCredential(value);
  if (redact || KeyOfThisInstallation().empty()) return std::string(kRedactedNote);
  return KeyedNote(KeyOfThisInstallation(), value);
}

Json WithoutSecrets(std::string_view name, Json value) {
  if (value.IsArray()) {
    Json::Array elements;
    for (const Json& element : value.AsArray()) elements.push_back(WithoutSecrets(name, element));
    return Json::MakeArray(std::move(elements));
  }
  if (value.IsObject()) {
    Json::Members members;
    for (const auto& [member, of] : value.AsObject()) {
      const bool of_parent = NamesSecret(name) && !NamesSecret(member);
      members.emplace_back(member, WithoutSecrets(of_parent ? name : member, of));
    }
    return Json::MakeObject(std::move(members));
  }
  const std::string text = value.kind() == Json::Kind::kString ? value.AsString() : value.Dump();
  return IsSecret(name, text) ? Json(Withheld(name, text)) : value;
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
