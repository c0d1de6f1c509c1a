// System descriptions: objects of texts, with forms that differ between submitters.
#include "harness/records/intake/mlperf_system.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "harness/base/held_folder.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostSystemBytes = std::uint64_t{1} << 20;
constexpr double kMostNodeGpus = 1024.0;

// "cuda_version": "cuda".
std::string SoftwareName(std::string_view name) {
  constexpr std::string_view kVersion = "_version";
  if (name.ends_with(kVersion)) name.remove_suffix(kVersion.size());
  return std::string(name);
}

// An object, a list of objects, or one text.
void AddSoftwareStack(const Json* stack, const std::string& from, ImportedRun* run) {
  constexpr std::string_view kWhy = "written by people, of the system";
  ForEachElement(stack, [&](const Json& part) {
    if (!part.IsObject()) {
      return run->SetSoftware("stack", LooseText(&part), Hint(from + "other_software_stack", kWhy));
    }
    ForEachMember(&part, [&](const std::string& name, const Json& value) {
      const Worth worth = Hint(from + "other_software_stack." + name, kWhy);
      if (name == "nvidia_kernel_driver") return run->SetGpuDriver(LooseText(&value), worth);
      run->SetSoftware(SoftwareName(name), LooseText(&value), worth);
    });
  });
}

void AddNodeGpus(const Json& json, const std::string& from, ImportedRun* run) {
  const std::string model = LooseText(json, "accelerator_model_name");
  const double count = LooseNumber(json.Find("accelerators_per_node")).value_or(0.0);
  const auto memory = DescribedMemory(LooseText(json, "accelerator_memory_capacity"));
  if (model.empty() || !(count >= 1.0)) return;
  if (count > kMostNodeGpus) {
    return run->Remark(fmt::format("{}accelerators_per_node: {} is more than 1024", from, count));
  }
  for (int i = 0; i < static_cast<int>(count); ++i) {
    run->AddGpu(model, memory.value_or(0),
                Hint(from + "accelerator_model_name", "written by people, of the system"));
  }
}

}  // namespace

std::optional<std::uint64_t> DescribedMemory(std::string_view text) {
  double amount = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || !(amount > 0.0 && amount < 1e9)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  const double unit = text == "MiB" ? 0x1p20 : text == "GiB" ? 0x1p30 : text == "TiB" ? 0x1p40 : 0;
  if (unit == 0.0) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(amount * unit));
}

void AddMlperfSystem(const std::filesystem::path& submission, const std::string& system,
                     ImportedRun* run) {
  const std::string name = fmt::format("systems/{}.json", system);
  const auto folder = HeldFolder::Open(submission);
  const auto json = folder.ok() ? ReadLooseJson(*folder, name, kMostSystemBytes, name)
                                : Result<Json>(folder.error());
  if (!json.ok() || !json->IsObject()) {
    return run->Remark(
        json.ok() ? name + ": expected an object"
                  : fmt::format("no description of the system: {}", json.error().ToString()));
  }
  const std::string from = name + " ";
  constexpr std::string_view kWhy = "written by people, of the system";
  run->SetCpu(LooseText(*json, "host_processor_model_name"), "",
              Hint(from + "host_processor_model_name", kWhy));
  AddNodeGpus(*json, from, run);
  for (const char* key : {"framework", "operating_system"}) {
    run->SetSoftware(key == std::string_view("framework") ? "framework" : "os",
                     LooseText(*json, key), Hint(from + key, kWhy));
  }
  AddSoftwareStack(json->Find("other_software_stack"), from, run);
  run->SetNodes(LooseNumber(json->Find("number_of_nodes")).value_or(0.0),
                Hint(from + "number_of_nodes", kWhy),
                LooseNumber(json->Find("accelerators_per_node")).value_or(0.0),
                Hint(from + "accelerators_per_node", "a task for each accelerator is the custom"));
}

}  // namespace rharness
