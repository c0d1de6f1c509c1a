// Programs by their names and their ELF headers.
#include "harness/records/observe/programs.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "harness/records/observe/elf.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr std::uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kThisMachine = EM_AARCH64;
#else
constexpr std::uint16_t kThisMachine = EM_NONE;
#endif

bool IsOneOf(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != names.end();
}

// "#!INTERPRETER ..." of a script; empty for anything else.
fs::path InterpreterOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 256> head{};
  in.read(head.data(), head.size());
  std::string_view text(head.data(), static_cast<std::size_t>(in.gcount()));
  if (!text.starts_with("#!")) return {};
  text = text.substr(2, text.find('\n') - 2);
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  text.remove_prefix(begin);
  return std::string(text.substr(0, text.find_first_of(" \t")));
}

fs::path Canonical(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error || !fs::is_regular_file(real, error) ? fs::path() : real;
}

fs::path FindOnPath(const std::string& command, std::string_view path, const fs::path& folder) {
  while (!path.empty()) {
    const std::string_view one = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), one.size() + 1));
    const fs::path file = folder / one / command;
    if (::access(file.c_str(), X_OK) != 0) continue;
    if (fs::path found = Canonical(file); !found.empty()) return found;
  }
  return {};
}

}  // namespace

ProgramKind KindOf(const fs::path& executable) {
  static constexpr std::array<std::string_view, 14> kShells = {
      "sh",  "dash", "bash", "zsh",  "ksh",     "mksh", "yash",
      "ash", "fish", "csh",  "tcsh", "busybox", "posh", "ksh93"};
  static constexpr std::array<std::string_view, 8> kOthers = {"perl", "ruby",  "node", "nodejs",
                                                              "php",  "tclsh", "java", "gawk"};
  const auto elf = ReadElf(executable);
  if (!elf.ok() || elf->interpreter.empty() || elf->machine != kThisMachine ||
      elf->interpreter.find("ld-musl") != std::string::npos) {
    return ProgramKind::kUnlinked;
  }
  const std::string file = executable.filename().string();
  if (file.starts_with("python") || file.starts_with("pypy")) return ProgramKind::kPython;
  if (IsOneOf(file, kShells)) return ProgramKind::kShell;
  // "perl5.36" is perl.
  const std::string_view name = std::string_view(file).substr(0, file.find_first_of("0123456789."));
  return IsOneOf(name, kOthers) ? ProgramKind::kOther : ProgramKind::kSeen;
}

fs::path ProgramOf(const std::string& command,
                   const std::map<std::string, std::string>& environment,
                   const fs::path& working_directory) {
  const auto path = environment.find("PATH");
  fs::path program = command.find('/') != std::string::npos ? Canonical(working_directory / command)
                     : path == environment.end()
                         ? fs::path()
                         : FindOnPath(command, path->second, working_directory);
  for (int depth = 0; depth < 4 && !program.empty(); ++depth) {
    const fs::path interpreter = InterpreterOf(program);
    if (interpreter.empty()) return program;
    program = Canonical(working_directory / interpreter);
  }
  return program;
}

std::string WhyNotPreload(const fs::path& program) {
  if (program.empty()) return {};
  const auto elf = ReadElf(program);
  if (!elf.ok()) return {};
  for (const std::string& library : elf->needed) {
    if (library.starts_with("libasan.")) {
      return "is built with AddressSanitizer, which wants no library before its own";
    }
  }
  if (elf->interpreter.find("ld-musl") != std::string::npos) return "is not linked with glibc";
  if (elf->machine != kThisMachine) return "is a program of another machine";
  return {};
}

}  // namespace rharness
