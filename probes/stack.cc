// Selects from the captured environment the facts that a stack's arithmetic can depend on.
#include "probes/stack.h"

#include <unistd.h>

#include "harness/base/clock.h"

namespace rharness {
namespace {

void SetIfKnown(Json* json, std::string_view key, const std::string& value) {
  if (!value.empty()) json->Set(key, value);
}

Json DescribeCpu(const Cpu& cpu) {
  Json json = Json::MakeObject();
  SetIfKnown(&json, "architecture", cpu.architecture);
  SetIfKnown(&json, "model", cpu.model);
  SetIfKnown(&json, "microcode", cpu.microcode);
  std::string isa;
  for (const std::string& flag : cpu.isa) isa += (isa.empty() ? "" : " ") + flag;
  SetIfKnown(&json, "isa", isa);
  return json.Set("logical_cores", cpu.logical_cores);
}

}  // namespace

Json DescribeStack(const Environment& environment, const std::string& device,
                   const std::map<std::string, Json>& libraries) {
  Json stack = Json::MakeObject();
  stack.Set("device", device);
  for (const char* key : {"os", "kernel", "glibc", "cuda_driver"}) {
    const auto found = environment.software.find(key);
    if (found != environment.software.end()) SetIfKnown(&stack, key, found->second);
  }
  stack.Set("cpu", DescribeCpu(environment.hardware.cpu));
  SetIfKnown(&stack, "gpu_driver", environment.hardware.gpu_driver);
  Json gpus = Json::MakeArray();
  for (const Gpu& gpu : environment.hardware.gpus) {
    gpus.Append(Json().Set("model", gpu.model).Set("memory_bytes", gpu.memory_bytes));
  }
  stack.Set("gpus", std::move(gpus));
  Json described = Json::MakeObject();
  for (const auto& [soname, library] : libraries) described.Set(soname, library);
  stack.Set("libraries", std::move(described));
  Json variables = Json::MakeObject();
  for (const auto& [name, value] : environment.variables) {
    if (value && IsNumericVariable(name)) variables.Set(name, *value);
  }
  return stack.Set("environment", std::move(variables));
}

Json CaptureContext(const Environment& environment) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  Json gpus = Json::MakeArray();
  for (const Gpu& gpu : environment.hardware.gpus) gpus.Append(gpu.uuid);
  return Json()
      .Set("made", FormatTime(SystemClock().Now()))
      .Set("host", std::string_view(host.data()))
      .Set("gpus", std::move(gpus));
}

}  // namespace rharness
