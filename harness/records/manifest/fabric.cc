// Ports of adapters from sysfs.
#include "harness/records/manifest/fabric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <system_error>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = 256;

std::string LineOf(const fs::path& path) {
  auto text = ReadFile(path, kMostText);
  if (!text.ok()) return "";
  text->resize(std::min(text->find('\n'), text->size()));
  return TerminalSafe(*text);
}

std::optional<int> NumaNodeOf(const fs::path& device) {
  const std::string text = LineOf(device / "numa_node");
  int node = -1;
  std::from_chars(text.data(), text.data() + text.size(), node);
  return node < 0 ? std::nullopt : std::optional(node);
}

// None: the folder is there, but cannot be listed. A folder that its parent does not have is empty.
std::optional<std::vector<fs::path>> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error, of_parent;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  const bool is_missing = error == std::errc::no_such_file_or_directory;
  if (error && !(is_missing && fs::is_directory(folder.parent_path(), of_parent))) return {};
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

std::optional<std::vector<FabricPort>> ReadFabric(const fs::path& folder) {
  const auto adapters = EntriesOf(folder);
  if (!adapters) return {};
  std::vector<FabricPort> ports;
  for (const fs::path& adapter : *adapters) {
    const auto of_adapter = EntriesOf(adapter / "ports");
    if (!of_adapter) return {};
    for (const fs::path& port : *of_adapter) {
      if (ports.size() == kMostFabricPorts) return ports;
      if (LineOf(port / "state").find("ACTIVE") == std::string::npos) continue;
      std::error_code error;
      const fs::path device = fs::read_symlink(adapter / "device", error);
      ports.push_back({.name = fmt::format("{}:{}", TerminalSafe(adapter.filename().string()),
                                           TerminalSafe(port.filename().string())),
                       .type = LineOf(adapter / "hca_type"),
                       .firmware = LineOf(adapter / "fw_ver"),
                       .link = LineOf(port / "link_layer"),
                       .rate = LineOf(port / "rate"),
                       .bus_id = TerminalSafe(device.filename().string()),
                       .numa_node = NumaNodeOf(adapter / "device")});
    }
  }
  return ports;
}

std::string DescribeFabric(const std::vector<FabricPort>& ports) {
  if (ports.empty()) return "none";
  std::map<std::string, int> kinds;
  for (const FabricPort& port : ports) {
    std::string kind = port.type.empty() ? "adapter" : port.type;
    for (const std::string& word : {port.link, port.rate}) {
      if (!word.empty()) kind += " " + word;
    }
    ++kinds[kind];
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, kind);
  }
  return text;
}

std::string FabricFirmware(const std::vector<FabricPort>& ports) {
  std::set<std::string> versions;
  for (const FabricPort& port : ports) {
    if (!port.firmware.empty()) versions.insert(port.firmware);
  }
  return fmt::format("{}", fmt::join(versions, ", "));
}

}  // namespace rharness
