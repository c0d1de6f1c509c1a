// Exit codes, colour and output shared by the verbs.
#include "harness/cli/verb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "harness/base/files.h"
#include "harness/base/log.h"

namespace rharness {

GlobalOptions& Globals() {
  static GlobalOptions options;
  return options;
}

bool ColorOn(int fd) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (Globals().no_color || set("NO_COLOR") || ::isatty(fd) == 0) return false;
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) != "dumb";
}

int FailWith(const Error& error) {
  LogError(error.ToString());
  switch (error.code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnsupported:
      return kExitUsage;
    case ErrorCode::kIntegrity:
      return kExitIntegrity;
    case ErrorCode::kIo:
    case ErrorCode::kProcess:
    case ErrorCode::kTimeout:
    case ErrorCode::kInternal:
      return kExitInfrastructure;
  }
  Abort("unknown ErrorCode");
}

std::string OneLine(std::string_view text) {
  std::string line = TerminalSafe(text);
  std::ranges::replace(line, '\n', ' ');
  return line + "\n";
}

int Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FailWith(IoErrorFromErrno("cannot write to stdout", errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return kExitOk;
}

namespace {

// The code point of one character of two bytes or three; JSON is UTF-8.
unsigned CodeOf(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character[0]) & (0xffU >> (character.size() + 1));
  if (character.size() == 1) code = static_cast<unsigned char>(character[0]);
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

// The same JSON without what acts on a terminal instead of showing there. Outside of strings there
// is none, and inside it has an escape.
std::string TerminalJson(std::string text) {
  const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x7f; };
  if (std::ranges::none_of(text, beyond_ascii) || TerminalSafe(text) == text) return text;
  std::string safe;
  for (std::string_view rest = text; !rest.empty();) {
    const auto next = std::find_if(rest.begin() + 1, rest.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    });
    const std::string_view one(rest.begin(), next);
    const bool plain = one.size() == 1 && !beyond_ascii(one[0]);
    if (plain || TerminalSafe(one) == one || one.size() > 3) {
      safe += one;
    } else {
      safe += fmt::format("\\u{:04x}", CodeOf(one));
    }
    rest.remove_prefix(one.size());
  }
  return safe;
}

}  // namespace

int PrintJson(const Json& json) { return Print(TerminalJson(json.Dump(2) + "\n")); }

}  // namespace rharness
