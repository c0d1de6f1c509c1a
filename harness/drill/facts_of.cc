// Which fields of a record are facts, in which layer, and how much each weighs.
#include "harness/drill/facts_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace rharness {
namespace {

class Collector {
 public:
  void Add(Layer layer, std::string key, std::optional<std::string> value, FactWeight weight) {
    facts_.push_back(Fact{layer, std::move(key), std::move(value), weight});
  }
  // Left out when nothing is known.
  void AddKnown(Layer layer, std::string key, const std::string& value, FactWeight weight) {
    if (!value.empty()) Add(layer, std::move(key), value, weight);
  }
  std::vector<Fact> Take() { return std::move(facts_); }

 private:
  std::vector<Fact> facts_;
};

void AddData(const std::vector<DataItem>& data, Collector* out) {
  for (const DataItem& item : data) {
    out->AddKnown(Layer::kData, fmt::format("data.{}.sha256", item.name), item.sha256,
                  FactWeight::kIdentity);
  }
}

void AddCode(const std::vector<CodeFile>& files, const std::string& commit, FactWeight weight,
             Collector* out) {
  for (const CodeFile& file : files) {
    out->AddKnown(Layer::kCode, fmt::format("code.{}.sha256", file.path), file.sha256,
                  FactWeight::kIdentity);
  }
  out->AddKnown(Layer::kCode, "code.commit", commit, weight);
}

void AddSeeds(const std::map<std::string, std::int64_t>& seeds, Collector* out) {
  for (const auto& [source, value] : seeds) {
    out->Add(Layer::kRandomness, fmt::format("seed.{}", source), std::to_string(value),
             FactWeight::kIdentity);
  }
}

void AddVariables(const Environment& environment, Collector* out) {
  for (const auto& [name, value] : environment.variables) {
    out->Add(Layer::kEnvironment, "variable." + name, value, FactWeight::kContext);
  }
  for (const auto& [name, value] : environment.software) {
    out->AddKnown(Layer::kEnvironment, "software." + name, value, FactWeight::kContext);
  }
}

void AddHardware(const Hardware& hardware, bool uses_gpus, bool cpu_is_class, Collector* out) {
  const auto add = [&](const char* key, const std::string& value, FactWeight weight) {
    out->AddKnown(Layer::kHardware, key, value, weight);
  };
  const FactWeight cpu = cpu_is_class ? FactWeight::kClass : FactWeight::kContext;
  add("cpu.architecture", hardware.cpu.architecture, FactWeight::kClass);
  add("cpu.model", hardware.cpu.model, cpu);
  add("cpu.microcode", hardware.cpu.microcode, FactWeight::kContext);
  add("cpu.isa", fmt::format("{}", fmt::join(hardware.cpu.isa, " ")), FactWeight::kContext);
  if (hardware.cpu.logical_cores > 0) {
    add("cpu.logical_cores", std::to_string(hardware.cpu.logical_cores), FactWeight::kContext);
  }
  if (!uses_gpus) return;
  std::set<std::string> models;
  for (const Gpu& gpu : hardware.gpus) models.insert(gpu.model);
  add("gpu.model", fmt::format("{}", fmt::join(models, ", ")), FactWeight::kClass);
  add("gpu.driver", hardware.gpu_driver, FactWeight::kContext);
  add("gpu.interconnect", hardware.interconnect, FactWeight::kContext);
}

bool UsesGpus(const Manifest& manifest) { return manifest.resources.gpus > 0; }

// Without GPUs, bits promised on one hardware class are promised on one CPU model.
bool CpuIsClass(const Manifest& manifest) {
  return !UsesGpus(manifest) && manifest.determinism.declared == "bitwise" &&
         manifest.determinism.scope == "hardware_class";
}

}  // namespace

std::vector<Fact> FactsOf(const Manifest& manifest) {
  Collector out;
  AddData(manifest.data, &out);
  // Files pinned by hash outrank the commit: the commit then only explains.
  AddCode(manifest.code.files, manifest.code.commit,
          manifest.code.files.empty() ? FactWeight::kIdentity : FactWeight::kContext, &out);
  if (manifest.image.kind == "oci") {
    out.AddKnown(Layer::kEnvironment, "image.digest", manifest.image.digest, FactWeight::kIdentity);
  }
  out.AddKnown(Layer::kEnvironment, "software.host_packages", manifest.image.packages_sha256,
               FactWeight::kContext);
  AddVariables(manifest.environment, &out);
  AddHardware(manifest.environment.hardware, UsesGpus(manifest), CpuIsClass(manifest), &out);
  AddSeeds(manifest.seeds, &out);
  return out.Take();
}

std::vector<Fact> FactsOf(const Evidence& evidence, const Manifest& manifest) {
  Collector out;
  AddData(evidence.data, &out);
  AddCode(evidence.code_files, evidence.code_commit, FactWeight::kIdentity, &out);
  out.AddKnown(Layer::kEnvironment, "image.digest", evidence.image_digest, FactWeight::kIdentity);
  AddVariables(evidence.environment, &out);
  AddHardware(evidence.environment.hardware, UsesGpus(manifest), CpuIsClass(manifest), &out);
  AddSeeds(evidence.seeds, &out);
  return out.Take();
}

}  // namespace rharness
