// Line-wise reading of Linux's own records.
#include "harness/records/manifest/host.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <vector>

namespace rharness {
namespace {

std::string_view Trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

// Calls f(key, value) for every line, split at its first `separator`; lines without one, and empty
// ones, come as a key without a value.
void ForEachLine(std::string_view text, char separator,
                 const std::function<void(std::string_view, std::string_view)>& f) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto split = line.find(separator);
    if (split == std::string_view::npos) {
      f(Trim(line), {});
    } else {
      f(Trim(line.substr(0, split)), Trim(line.substr(split + 1)));
    }
  }
}

bool IsNumericFlag(std::string_view flag) {
  for (const std::string_view prefix : {"avx", "amx", "sse", "ssse", "sve", "sme", "asimd"}) {
    if (flag.starts_with(prefix)) return true;
  }
  static const std::set<std::string_view> kNames = {
      "bf16", "bmi2", "dgh", "f16c", "flagm", "fma", "fma4", "fp", "fphp", "i8mm", "pni", "popcnt"};
  return kNames.contains(flag);
}

std::vector<std::string> NumericFlags(std::string_view flags) {
  std::set<std::string> kept;
  while (!flags.empty()) {
    const std::string_view flag = flags.substr(0, flags.find(' '));
    flags.remove_prefix(std::min(flags.size(), flag.size() + 1));
    if (IsNumericFlag(flag)) kept.emplace(flag);
  }
  return {kept.begin(), kept.end()};
}

}  // namespace

void ReadCpuInfo(std::string_view cpuinfo, Cpu* cpu) {
  std::string implementer;
  std::string part;
  const auto keep_first = [](std::string* out, std::string_view value) {
    if (out->empty()) *out = value;
  };
  ForEachLine(cpuinfo, ':', [&](std::string_view key, std::string_view value) {
    if (key == "model name" || key == "cpu") keep_first(&cpu->model, value);
    if (key == "microcode") keep_first(&cpu->microcode, value);
    if (key == "CPU implementer") keep_first(&implementer, value);
    if (key == "CPU part") keep_first(&part, value);
    if ((key == "flags" || key == "Features") && cpu->isa.empty()) cpu->isa = NumericFlags(value);
  });
  if (cpu->model.empty() && !part.empty()) cpu->model = "ARM " + implementer + " " + part;
}

std::uint64_t MemoryOf(std::string_view meminfo) {
  std::uint64_t bytes = 0;
  ForEachLine(meminfo, ':', [&](std::string_view key, std::string_view value) {
    std::uint64_t kibibytes = 0;
    if (key != "MemTotal") return;
    std::from_chars(value.data(), value.data() + value.size(), kibibytes);
    bytes = kibibytes * 1024;
  });
  return bytes;
}

std::string PrettyNameOf(std::string_view os_release) {
  std::string name;
  ForEachLine(os_release, '=', [&](std::string_view key, std::string_view value) {
    if (key == "PRETTY_NAME") name = value;
  });
  return name;
}

std::map<std::string, std::string> ParseDpkgStatus(std::string_view dpkg_status) {
  std::map<std::string, std::string> packages;
  std::string name;
  std::string architecture;
  std::string version;
  bool installed = false;
  const auto finish = [&] {
    if (installed) packages[name + ":" + architecture] = version;
    installed = false;
    name.clear();
    architecture.clear();
    version.clear();
  };
  ForEachLine(dpkg_status, ':', [&](std::string_view key, std::string_view value) {
    if (key.empty() && value.empty()) return finish();
    if (key == "Package") name = value;
    if (key == "Architecture") architecture = value;
    if (key == "Version") version = value;
    if (key == "Status") installed = value.ends_with(" installed");
  });
  finish();
  return packages;
}

std::string InstalledPackages(std::string_view dpkg_status) {
  std::set<std::string> lines;
  for (const auto& [name, version] : ParseDpkgStatus(dpkg_status)) {
    lines.insert(name + "=" + version + "\n");
  }
  std::string list;
  for (const std::string& line : lines) list += line;
  return list;
}

}  // namespace rharness
