// Exit codes, colour and output shared by the verbs.
#include "harness/cli/verb.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

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

int Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FailWith(IoErrorFromErrno("cannot write to stdout", errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return kExitOk;
}

int PrintJson(const Json& json) { return Print(json.Dump(2) + "\n"); }

}  // namespace rharness
