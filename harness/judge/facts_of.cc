// Which fields of a record are facts, in which layer, and how much each weighs.
#include "harness/judge/facts_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/judge/chance_facts.h"
#include "harness/judge/gang_facts.h"
#include "harness/judge/kernel_facts.h"
#include "harness/judge/package_facts.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/fabric.h"
#include "harness/records/manifest/hardware_class.h"
#include "harness/records/manifest/lineage.h"

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
  // Nothing is known of the facts with these keys.
  void AddNotKnown(Layer layer, std::string keys, std::string in_words) {
    facts_.push_back(Fact{.layer = layer,
                          .key = std::move(keys),
                          .value = std::move(in_words),
                          .kind = FactKind::kNotKnown});
  }
  void Add(Fact fact) { facts_.push_back(std::move(fact)); }
  std::vector<Fact>* facts() { return &facts_; }
  std::vector<Fact> Take() { return std::move(facts_); }

 private:
  std::vector<Fact> facts_;
};

void AddData(const std::vector<DataItem>& data, Collector* out) {
  for (const DataItem& item : data) {
    if (IsCodeOutside(item)) {
      out->AddKnown(Layer::kCode, fmt::format("code.{}.sha256", item.path), item.sha256,
                    FactWeight::kIdentity);
      continue;
    }
    out->AddKnown(Layer::kData, fmt::format("data.{}.sha256", item.name), item.sha256,
                  FactWeight::kIdentity);
    // Not below "data.": an older record says nothing of them, which is no difference.
    if (item.empty_folders) {
      const auto& names = *item.empty_folders;
      out->Add(Layer::kData, "empty_folders." + item.name,
               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
               FactWeight::kIdentity);
    }
    if (!item.made_by) continue;
    out->Add({.layer = Layer::kData,
              .key = "made_by." + item.name,
              .value = InWords(*item.made_by),
              .kind = FactKind::kLineage});
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

// A seed missing on an observed side is a difference, if it was set on the other.
void AddSeedsThatWereSet(const Observation& seen, Collector* out) {
  if (!seen.Has(kSeenByPython)) return;
  out->Add({.layer = Layer::kRandomness,
            .key = "seed_set.",
            .value = "seeds that were set",
            .kind = FactKind::kComplete});
  for (const auto& [source, values] : seen.seeds) {
    out->Add(Layer::kRandomness, "seed_set." + source, fmt::format("{}", fmt::join(values, ", ")),
             FactWeight::kContext);
  }
}

std::string InWords(const SeenLibrary& library, bool in_image) {
  const std::string at = in_image ? "" : library.path + ", ";  // in images a copy may be anywhere
  if (!library.build_id.empty()) return at + "build id " + library.build_id;
  return fmt::format("{}, {} bytes", library.path, library.size_bytes);
}

// By SONAME; by path if several have it, or none. Sampled: a library on one side alone says
// nothing.
void AddLibraries(const Observation& seen, bool in_image, Collector* out) {
  std::map<std::string_view, int> named;
  for (const SeenLibrary& library : seen.libraries) ++named[library.soname];
  for (const SeenLibrary& library : seen.libraries) {
    const bool is_alone = !library.soname.empty() && named[library.soname] == 1;
    out->Add({.layer = Layer::kEnvironment,
              .key = "library." + (is_alone ? library.soname : library.path),
              .value = InWords(library, in_image),
              .use = FactUse::kUsed});
  }
}

// `is_complete`: a file that the other side read was not read here.
void AddUndeclared(const Observation& seen, bool is_complete, Collector* out) {
  if (!seen.inputs) return;
  if (is_complete) {
    out->Add({.layer = Layer::kData,
              .key = "input.",
              .value = "undeclared inputs",
              .kind = FactKind::kComplete});
  }
  for (const SeenInput& input : *seen.inputs) {
    out->Add(Layer::kData, "input." + input.path,
             input.sha256.empty() ? fmt::format("{} bytes", input.size_bytes) : input.sha256,
             FactWeight::kContext);
  }
}

void AddObservation(const std::optional<Observation>& seen, bool again, bool image,
                    Collector* out) {
  if (!seen) return;
  if (again && seen->means.empty()) {
    out->AddNotKnown(Layer::kEnvironment, "library.",
                     "what the run uses in its image (libraries, variables, files)");
  }
  AddSeedsThatWereSet(*seen, out);
  AddChance(*seen, out->facts());
  AddFlags(*seen, again, out->facts());
  for (const auto& [name, value] : seen->nccl) {
    out->AddKnown(Layer::kEnvironment, "nccl." + name, value, FactWeight::kContext);
  }
  AddKernels(*seen, out->facts());
  AddLibraries(*seen, image, out);
  AddUndeclared(*seen, again, out);
}

// Unless the run reported it itself.
void AddPythonVersion(const Environment& environment, Collector* out) {
  if (!environment.python || environment.software.contains("python")) return;
  out->AddKnown(Layer::kEnvironment, "software.python", environment.python->version,
                FactWeight::kContext);
}

// Whether the run was seen to read a variable. `watched`: the observed ones.
FactUse UseOfVariable(const std::string& name, const std::optional<Observation>& seen,
                      const std::map<std::string, std::optional<std::string>>& watched) {
  // Read by the loader and inside of the C library, which nobody sees.
  constexpr std::array<std::string_view, 6> kOfTheSystem = {"LD_", "GLIBC_", "MALLOC_",
                                                            "TZ",  "LANG",   "LC_"};
  if (!seen || !seen->variables_read) return FactUse::kNotKnown;
  if (seen->variables_read->contains(name)) return FactUse::kUsed;
  const bool of_system = std::ranges::any_of(
      kOfTheSystem, [&](std::string_view prefix) { return name.starts_with(prefix); });
  return of_system || !watched.contains(name) ? FactUse::kNotKnown : FactUse::kNotUsed;
}

void AddVariables(const Environment& environment, const std::optional<Observation>& seen,
                  const Manifest& manifest, Collector* out) {
  if (environment.variables.empty()) {
    out->AddNotKnown(Layer::kEnvironment, "variable.", "environment variables");
  }
  for (const auto& [name, value] : environment.variables) {
    out->Add({.layer = Layer::kEnvironment,
              .key = "variable." + name,
              .value = value,
              .use = UseOfVariable(name, seen, manifest.environment.variables),
              .realm = value ? RealmOf(*value) : ""});
  }
  for (const auto& [name, value] : environment.software) {
    out->AddKnown(Layer::kEnvironment, "software." + name, value, FactWeight::kContext);
  }
  for (const auto& [path, sha256] : environment.lock_files) {
    out->AddKnown(Layer::kEnvironment, "lock_file." + path, sha256, FactWeight::kContext);
  }
}

// How much the hardware of a run weighs.
struct HardwareUse {
  int gpus = 0;
  int nodes = 1;
  bool cpu_is_class = false;
  bool substituted = false;  // the drill accepted substitute GPUs: they count as equal
};

// The structure of the machine: no class of hardware, but it may explain another speed, another
// number of threads or another order of a collective.
void AddPlacement(const Hardware& hardware, Collector* out) {
  const auto add_count = [&](const char* key, int count) {
    if (count > 0) {
      out->Add(Layer::kHardware, key, std::to_string(count), FactWeight::kContext);
    }
  };
  add_count("cpu.numa_nodes", hardware.cpu.numa_nodes);
  add_count("cpu.sockets", hardware.cpu.sockets);
  add_count("cpu.cores_per_socket", hardware.cpu.cores_per_socket);
  if (hardware.cpu.l3_bytes > 0) {
    out->Add(Layer::kHardware, "cpu.l3", fmt::format("{} KiB", hardware.cpu.l3_bytes >> 10),
             FactWeight::kContext);
  }
}

// Of several GPUs, which memory each is near to, and which share a switch.
void AddGpuPlacement(const Hardware& hardware, Collector* out) {
  out->AddKnown(Layer::kHardware, "gpu.pcie_order", hardware.pcie_order, FactWeight::kContext);
  std::string nodes;
  for (const Gpu& gpu : hardware.gpus) {
    if (!gpu.numa_node) return;
    nodes += fmt::format("{}{}", nodes.empty() ? "" : " ", *gpu.numa_node);
  }
  out->AddKnown(Layer::kHardware, "gpu.numa_nodes", nodes, FactWeight::kContext);
}

// How many nodes and ranks a run has: of one process there are none.
void AddGang(std::size_t nodes, std::size_t ranks, Collector* out) {
  out->Add(Layer::kHardware, "gang.nodes", std::to_string(nodes), FactWeight::kClass);
  out->Add(Layer::kHardware, "gang.ranks", std::to_string(ranks), FactWeight::kClass);
}

void AddGpus(const Hardware& hardware, const HardwareUse& use, Collector* out) {
  const FactWeight gpu = use.substituted ? FactWeight::kContext : FactWeight::kClass;
  const auto add = [&](const char* key, FactWeight weight, const auto& of) {
    std::set<std::string> values;
    for (const Gpu& one : hardware.gpus) values.insert(of(one));
    if (values.contains("")) return;  // not known of all
    out->AddKnown(Layer::kHardware, key, fmt::format("{}", fmt::join(values, ", ")), weight);
  };
  add("gpu.model", gpu, [](const Gpu& one) { return one.model; });
  add("gpu.memory", gpu, GpuMemory);
  add("gpu.cores", gpu,
      [](const Gpu& one) { return one.cores > 0 ? std::to_string(one.cores) : ""; });
  add("gpu.mig", gpu, [](const Gpu& one) { return one.mig; });
  add("gpu.compute_mode", FactWeight::kContext, [](const Gpu& one) { return one.compute_mode; });
  if (!hardware.gpus.empty()) {
    out->Add(Layer::kHardware, "gpu.count", std::to_string(hardware.gpus.size()),
             FactWeight::kContext);
  }
  out->AddKnown(Layer::kHardware, "gpu.driver", hardware.gpu_driver, FactWeight::kContext);
  out->AddKnown(Layer::kHardware, "gpu.interconnect", hardware.interconnect,
                use.gpus > 1 ? gpu : FactWeight::kContext);
  if (use.gpus > 1) AddGpuPlacement(hardware, out);
}

void AddHardware(const Hardware& hardware, const HardwareUse& use, Collector* out) {
  const auto add = [&](const char* key, const std::string& value, FactWeight weight) {
    out->AddKnown(Layer::kHardware, key, value, weight);
  };
  const FactWeight cpu = use.cpu_is_class ? FactWeight::kClass : FactWeight::kContext;
  add("cpu.architecture", hardware.cpu.architecture, FactWeight::kClass);
  add("cpu.model", hardware.cpu.model, cpu);
  add("cpu.microcode", hardware.cpu.microcode, FactWeight::kContext);
  add("cpu.isa", fmt::format("{}", fmt::join(hardware.cpu.isa, " ")), FactWeight::kContext);
  if (hardware.cpu.logical_cores > 0) {
    add("cpu.logical_cores", std::to_string(hardware.cpu.logical_cores), FactWeight::kContext);
  }
  AddPlacement(hardware, out);
  if (use.gpus > 0) AddGpus(hardware, use, out);
  if (use.nodes < 2) return;
  if (!hardware.fabric) return out->AddNotKnown(Layer::kHardware, "fabric.", "network adapters");
  add("fabric.adapters", DescribeFabric(*hardware.fabric), FactWeight::kClass);
  add("fabric.firmware", FabricFirmware(*hardware.fabric), FactWeight::kContext);
}

// Without GPUs, bits promised on one hardware class are promised on one CPU model.
HardwareUse UseOf(const Manifest& manifest, bool substituted) {
  const int gpus = manifest.resources.gpus;
  return {.gpus = gpus,
          .nodes = manifest.gang ? manifest.gang->nodes : 1,
          .cpu_is_class = gpus <= 0 && manifest.determinism.declared == "bitwise" &&
                          manifest.determinism.scope == "hardware_class",
          .substituted = substituted};
}

bool IsSubstituted(const Evidence& evidence) {
  return std::ranges::any_of(
      evidence.remarks, [](const Finding& remark) { return remark.code == kHardwareSubstituted; });
}

// A library of a package with a changed version: the package covers it.
bool IsExplained(const SeenLibrary& library, const Environment& now) {
  const auto list = now.packages.find(library.manager);
  if (library.package.empty() || list == now.packages.end()) return false;
  const auto package = list->second.find(library.package);
  return package != list->second.end() && package->second.version != library.version;
}

// What `record` saw the run lose. No difference: a rerun that loses something has failed.
void AddDamage(const std::vector<std::string>& notes, Collector* out) {
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (!notes[i].starts_with(kLostSomething)) continue;
    out->Add(Layer::kEnvironment, fmt::format("damage.{}", i), notes[i], FactWeight::kContext);
  }
}

std::vector<Fact> FactsOf(const Manifest& manifest, bool substituted) {
  Collector out;
  AddData(manifest.data, &out);
  // Files pinned by hash outrank the commit: the commit then only explains.
  AddCode(manifest.code.files, manifest.code.commit,
          manifest.code.files.empty() ? FactWeight::kIdentity : FactWeight::kContext, &out);
  if (manifest.code.files.empty()) {
    out.AddKnown(Layer::kCode, "code.diff.sha256", manifest.code.kept_diff_sha256,
                 FactWeight::kIdentity);
  }
  if (manifest.image.kind != ImageKind::kHost) {
    out.AddKnown(Layer::kEnvironment, "image.digest", manifest.image.digest, FactWeight::kIdentity);
  }
  out.AddKnown(Layer::kEnvironment, "software.host_packages", manifest.image.packages_sha256,
               FactWeight::kContext);
  AddPythonVersion(manifest.environment, &out);
  AddVariables(manifest.environment, manifest.observation, manifest, &out);
  AddDamage(manifest.notes, &out);
  // An image is known by its digest, with everything in it.
  if (manifest.image.kind == ImageKind::kHost) {
    AddPackages(manifest.environment, manifest.image.packages_sha256, out.facts());
  }
  AddHardware(manifest.environment.hardware, UseOf(manifest, substituted), &out);
  if (const auto& gang = manifest.gang) {
    AddGang(static_cast<std::size_t>(gang->nodes), static_cast<std::size_t>(gang->ranks()), &out);
  }
  AddSeeds(manifest.seeds, &out);
  AddObservation(manifest.observation, /*again=*/false, manifest.image.kind != ImageKind::kHost,
                 &out);
  return out.Take();
}

}  // namespace

std::vector<Fact> FactsOf(const Manifest& manifest) { return FactsOf(manifest, false); }

std::vector<Fact> FactsAsRerun(const Manifest& manifest, const Evidence& evidence) {
  std::vector<Fact> facts = FactsOf(manifest, IsSubstituted(evidence));
  if (manifest.observation) {
    std::set<std::string> explained;
    for (const SeenLibrary& library : manifest.observation->libraries) {
      if (IsExplained(library, evidence.environment)) explained.insert(InWords(library, false));
    }
    std::erase_if(facts, [&](const Fact& fact) {
      return fact.key.starts_with("library.") && fact.value && explained.contains(*fact.value);
    });
  }
  for (const Finding& remark : evidence.remarks) {
    if (remark.code != kEnvironmentOverridden) continue;
    const std::string name = remark.subject.substr(remark.subject.find(' ') + 1);
    if (manifest.environment.variables.contains(name)) continue;
    facts.push_back({.layer = Layer::kEnvironment, .key = "variable." + name});
  }
  std::ranges::move(FactsOfGang(manifest, evidence).recorded, std::back_inserter(facts));
  return facts;
}

std::vector<Fact> FactsOf(const Evidence& evidence, const Manifest& manifest) {
  Collector out;
  AddData(evidence.data, &out);
  AddCode(evidence.code_files, evidence.code_commit, FactWeight::kIdentity, &out);
  out.AddKnown(Layer::kCode, "code.diff.sha256", evidence.code_diff_sha256, FactWeight::kIdentity);
  out.AddKnown(Layer::kEnvironment, "image.digest", evidence.image_digest, FactWeight::kIdentity);
  if (manifest.environment.python) AddPythonVersion(evidence.environment, &out);
  AddVariables(evidence.environment, evidence.observation, manifest, &out);
  if (manifest.image.kind == ImageKind::kHost && evidence.image_digest.empty()) {
    const auto digest = evidence.environment.software.find("host_packages");
    AddPackages(evidence.environment,
                digest == evidence.environment.software.end() ? "" : digest->second, out.facts());
  }
  AddHardware(evidence.environment.hardware, UseOf(manifest, IsSubstituted(evidence)), &out);
  if (evidence.gang) AddGang(evidence.gang->nodes.size(), evidence.gang->ranks.size(), &out);
  AddSeeds(evidence.seeds, &out);
  AddObservation(evidence.observation, /*again=*/true, manifest.image.kind != ImageKind::kHost,
                 &out);
  std::vector<Fact> facts = out.Take();
  std::ranges::move(FactsOfGang(manifest, evidence).observed, std::back_inserter(facts));
  return facts;
}

}  // namespace rharness
