// Comparing GPUs by what changes arithmetic or fit.
#include "harness/records/manifest/hardware_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "harness/base/glob.h"

namespace rharness {
namespace {

// Those that a run gets, as far as that is known.
std::vector<Gpu> Given(const Hardware& hardware, const std::vector<int>& gpus) {
  std::vector<Gpu> given;
  for (const int index : gpus) {
    const auto at = static_cast<std::size_t>(index);
    if (index >= 0 && at < hardware.gpus.size()) given.push_back(hardware.gpus[at]);
  }
  return given.empty() ? hardware.gpus : given;
}

// Each value once, in order: "NVIDIA A100, NVIDIA H100"; empty if one is not known.
std::string Distinct(const std::vector<Gpu>& gpus,
                     const std::function<std::string(const Gpu&)>& of) {
  std::set<std::string> values;
  for (const Gpu& gpu : gpus) values.insert(of(gpu));
  return values.contains("") ? "" : fmt::format("{}", fmt::join(values, ", "));
}

bool AllMatch(const std::vector<Gpu>& gpus, const std::string& glob) {
  return !gpus.empty() &&
         std::ranges::all_of(gpus, [&](const Gpu& gpu) { return GlobMatches(glob, gpu.model); });
}

}  // namespace

Json ToJson(const Substitution& substitution) {
  return Json::MakeObject({{"recorded", substitution.recorded},
                           {"here", substitution.here},
                           {"why", substitution.why}});
}

void ReadSubstitution(JsonReader& reader, Substitution* out) {
  reader.Read("recorded", &out->recorded);
  reader.Read("here", &out->here);
  reader.Read("why", &out->why);
}

std::string GpuMemory(const Gpu& gpu) {
  if (gpu.memory_bytes == 0) return "";
  return fmt::format("{:.0f} GiB", std::round(static_cast<double>(gpu.memory_bytes) / (1 << 30)));
}

std::vector<ClassDifference> CompareHardwareClass(const Manifest& run, const Hardware& here,
                                                  const std::vector<int>& gpus) {
  const Hardware& recorded = run.environment.hardware;
  std::vector<ClassDifference> differences;
  if (run.resources.gpus <= 0 || recorded.gpus.empty()) return differences;
  if (here.gpus.size() < static_cast<std::size_t>(run.resources.gpus)) {
    differences.push_back(
        {"number of GPUs", std::to_string(run.resources.gpus), std::to_string(here.gpus.size())});
    if (here.gpus.empty()) return differences;
  }
  const std::vector<Gpu> given = Given(here, gpus);
  const auto compare = [&](const char* what, const std::string& before, const std::string& now) {
    if (before.empty() || now.empty() || before == now) return;
    differences.push_back({what, before, now});
  };
  const auto compare_gpus = [&](const char* what, const auto& of) {
    compare(what, Distinct(recorded.gpus, of), Distinct(given, of));
  };
  compare_gpus("GPU model", [](const Gpu& gpu) { return gpu.model; });
  compare_gpus("GPU memory", GpuMemory);
  compare_gpus("GPU cores", [](const Gpu& gpu) {
    return gpu.cores > 0 ? std::to_string(gpu.cores) : std::string();
  });
  compare_gpus("MIG mode", [](const Gpu& gpu) { return gpu.mig; });
  if (run.resources.gpus > 1) {
    compare("GPU interconnect", recorded.interconnect, here.interconnect);
  }
  return differences;
}

const Substitution* FindSubstitution(const Manifest& run, const Hardware& here,
                                     const std::vector<Substitution>& substitutions) {
  const auto found = std::ranges::find_if(substitutions, [&](const Substitution& one) {
    return AllMatch(run.environment.hardware.gpus, one.recorded) && AllMatch(here.gpus, one.here);
  });
  return found == substitutions.end() ? nullptr : &*found;
}

std::string DescribeGpus(const Hardware& hardware) {
  if (hardware.gpus.empty()) return "no GPU";
  std::vector<std::string> kinds;
  std::vector<int> counts;
  for (const Gpu& gpu : hardware.gpus) {
    const std::string memory = GpuMemory(gpu);
    std::string kind = gpu.model + (memory.empty() ? "" : fmt::format(" ({})", memory));
    if (gpu.mig == "enabled") kind += " with MIG";
    const auto at = std::ranges::find(kinds, kind);
    if (at == kinds.end()) {
      kinds.push_back(kind);
      counts.push_back(1);
    } else {
      ++counts[static_cast<std::size_t>(at - kinds.begin())];
    }
  }
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    text += fmt::format("{}{} x {}", i == 0 ? "" : ", ", counts[i], kinds[i]);
  }
  if (hardware.gpus.size() > 1 && !hardware.interconnect.empty())
    text += ", " + hardware.interconnect;
  return text;
}

}  // namespace rharness
