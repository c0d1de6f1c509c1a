// The environment as JSON; a variable known to be unset is null.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

void ReadCpu(JsonReader& reader, Cpu* out) {
  RefuseUnknownMembers(reader, {"architecture", "model", "logical_cores", "numa_nodes", "sockets",
                                "cores_per_socket", "l3_bytes", "microcode", "isa"});
  ReadText(reader, "architecture", &out->architecture);
  ReadText(reader, "model", &out->model);
  ReadCount(reader, "logical_cores", &out->logical_cores);
  ReadCount(reader, "numa_nodes", &out->numa_nodes);
  ReadCount(reader, "sockets", &out->sockets);
  ReadCount(reader, "cores_per_socket", &out->cores_per_socket);
  reader.ReadOptional("l3_bytes", &out->l3_bytes);
  ReadText(reader, "microcode", &out->microcode);
  reader.ReadArray("isa", &out->isa);
}

void ReadGpu(JsonReader& reader, Gpu* out) {
  RefuseUnknownMembers(reader, {"model", "memory_bytes", "uuid", "cores", "compute_capability",
                                "mig", "compute_mode", "bus_id", "numa_node"});
  ReadText(reader, "model", &out->model);
  reader.ReadOptional("memory_bytes", &out->memory_bytes);
  ReadText(reader, "uuid", &out->uuid);
  ReadCount(reader, "cores", &out->cores);
  ReadText(reader, "compute_capability", &out->compute_capability);
  ReadText(reader, "mig", &out->mig);
  ReadText(reader, "compute_mode", &out->compute_mode);
  ReadText(reader, "bus_id", &out->bus_id);
  if (!reader.over_values() && reader.Has("numa_node")) out->numa_node.emplace();
  if (out->numa_node) ReadCount(reader, "numa_node", &*out->numa_node);
}

void ReadHardware(JsonReader& reader, Hardware* out) {
  RefuseUnknownMembers(reader,
                       {"cpu", "memory_bytes", "gpus", "gpu_driver", "interconnect", "pcie_order"});
  reader.ReadObject("cpu", false, [&](JsonReader& r) { ReadCpu(r, &out->cpu); });
  reader.ReadOptional("memory_bytes", &out->memory_bytes);
  reader.ReadEach("gpus", &out->gpus, ReadGpu);
  ReadText(reader, "gpu_driver", &out->gpu_driver);
  ReadText(reader, "interconnect", &out->interconnect);
  ReadText(reader, "pcie_order", &out->pcie_order);
}

void ReadVariable(const std::string& name, JsonReader& reader, std::optional<std::string>* out) {
  const bool valid = IsName(name) && name.find('=') == std::string::npos;
  if (!valid) return reader.Fail("expected a variable's name, without '=' or control characters");
  if (!reader.json().IsNull()) reader.Get(&out->emplace());
  if (*out && (*out)->find('\0') != std::string::npos) reader.Fail("contains a NUL byte");
}

constexpr std::array<std::pair<PackageUse, std::string_view>, 3> kUseNames = {
    {{PackageUse::kUsed, "used"},
     {PackageUse::kNotUsed, "not_used"},
     {PackageUse::kNotKnown, "not_known"}}};

bool IsPackageDigest(std::string_view text) {
  const std::string_view hex = text.substr(std::min(text.size(), text.find(':') + 1));
  const bool is_hex = hex.find_first_not_of("0123456789abcdef") == hex.npos;
  return is_hex && ((text.starts_with("sha256:") && hex.size() == 64) ||
                    (text.starts_with("md5:") && hex.size() == 32));
}

void ReadPackages(JsonReader& reader, PackageList* out) {
  PackageMap packages;
  RefuseUnknownMembers(reader, {"used", "not_used", "not_known", "digests"});
  for (const auto& [use, key] : kUseNames) {
    reader.ForEachMember(key, [&, use = use](const std::string& name, JsonReader& value) {
      if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
      Package& package = packages[name];
      package.use = use;
      value.Get(&package.version);
    });
  }
  reader.ForEachMember("digests", [&](const std::string& name, JsonReader& value) {
    const auto package = packages.find(name);
    if (package == packages.end()) return value.Fail("expected the name of a package of the list");
    value.Get(&package->second.digest);
    if (!IsPackageDigest(package->second.digest)) {
      value.Fail("expected \"sha256:\" and 64 hex digits, or \"md5:\" and 32");
    }
  });
  *out = PackageList(std::move(packages));
}

Json PackagesToJson(const std::map<std::string, PackageList>& packages) {
  Json json = Json::MakeObject();
  for (const auto& [manager, list] : packages) {
    Json by_use = Json::MakeObject();
    for (const auto& [use, key] : kUseNames) {
      Json versions = Json::MakeObject();
      for (const auto& [name, package] : list) {
        if (package.use == use) versions.AppendMember(name, package.version);
      }
      if (!versions.AsObject().empty()) by_use.Set(std::string(key), std::move(versions));
    }
    Json digests = Json::MakeObject();
    for (const auto& [name, package] : list) {
      if (!package.digest.empty()) digests.AppendMember(name, package.digest);
    }
    if (!digests.AsObject().empty()) by_use.AppendMember("digests", std::move(digests));
    json.AppendMember(manager, std::move(by_use));
  }
  return json;
}

// Here and below, unknown values are left out, so that an older record keeps its bytes.
Json CpuToJson(const Cpu& cpu) {
  Json json = ObjectOf({{"architecture", cpu.architecture},
                        {"model", cpu.model},
                        {"logical_cores", cpu.logical_cores},
                        {"numa_nodes", cpu.numa_nodes},
                        {"microcode", cpu.microcode},
                        {"isa", ToJson(cpu.isa)}});
  if (cpu.sockets > 0) json.Set("sockets", cpu.sockets);
  if (cpu.cores_per_socket > 0) json.Set("cores_per_socket", cpu.cores_per_socket);
  if (cpu.l3_bytes > 0) json.Set("l3_bytes", cpu.l3_bytes);
  return json;
}

Json GpuToJson(const Gpu& gpu) {
  Json json =
      ObjectOf({{"model", gpu.model}, {"memory_bytes", gpu.memory_bytes}, {"uuid", gpu.uuid}});
  if (gpu.cores > 0) json.Set("cores", gpu.cores);
  for (const auto& [name, value] : {std::pair("compute_capability", &gpu.compute_capability),
                                    {"mig", &gpu.mig},
                                    {"compute_mode", &gpu.compute_mode},
                                    {"bus_id", &gpu.bus_id}}) {
    if (!value->empty()) json.Set(name, *value);
  }
  if (gpu.numa_node) json.Set("numa_node", *gpu.numa_node);
  return json;
}

Json HardwareToJson(const Hardware& hardware) {
  Json gpus = Json::MakeArray();
  for (const Gpu& gpu : hardware.gpus) gpus.Append(GpuToJson(gpu));
  Json json = ObjectOf({{"cpu", CpuToJson(hardware.cpu)},
                        {"memory_bytes", hardware.memory_bytes},
                        {"gpus", std::move(gpus)},
                        {"gpu_driver", hardware.gpu_driver},
                        {"interconnect", hardware.interconnect}});
  if (!hardware.pcie_order.empty()) json.Set("pcie_order", hardware.pcie_order);
  return json;
}

}  // namespace

Json ToJson(const Environment& environment) {
  Json variables = Json::MakeObject();
  for (const auto& [name, value] : environment.variables) variables.AppendMember(name, value);
  Json software = Json::MakeObject();
  for (const auto& [name, version] : environment.software) software.AppendMember(name, version);
  Json json = ObjectOf({{"variables", std::move(variables)},
                        {"software", std::move(software)},
                        {"hardware", HardwareToJson(environment.hardware)}});
  // Left out if not captured, so that an older record keeps its bytes.
  if (!environment.packages.empty()) {
    json.AppendMember("packages", PackagesToJson(environment.packages));
  }
  if (!environment.lock_files.empty()) {
    Json lock_files = Json::MakeObject();
    for (const auto& [path, sha256] : environment.lock_files) lock_files.AppendMember(path, sha256);
    json.AppendMember("lock_files", std::move(lock_files));
  }
  if (environment.python) json.AppendMember("python", ToJson(*environment.python));
  return json;
}

void ReadEnvironment(JsonReader& reader, Environment* out) {
  RefuseUnknownMembers(reader,
                       {"variables", "software", "hardware", "packages", "lock_files", "python"});
  reader.ReadEachMember("variables", &out->variables, ReadVariable);
  const auto read_version = [](const std::string& name, JsonReader& value, std::string* version) {
    if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
    value.Get(version);
  };
  reader.ReadEachMember("software", &out->software, read_version);
  const auto read_lock = [](const std::string& path, JsonReader& value, std::string* sha256) {
    const auto safe = SafeRelativePath(path, "");
    if (!safe.ok()) return value.Fail(safe.error().message);
    value.Get(sha256);
    if (!IsSha256Hex(*sha256)) value.Fail("expected 64 hex digits");
  };
  reader.ReadEachMember("lock_files", &out->lock_files, read_lock);
  reader.ReadObject("hardware", false, [&](JsonReader& r) { ReadHardware(r, &out->hardware); });
  if (reader.over_values()) return;  // the rest: see CheckManifest
  if (reader.Has("python")) out->python.emplace();
  reader.ReadObject("python", false,
                    [&](JsonReader& r) { ReadPythonEnvironment(r, &*out->python); });
  reader.ReadObject("packages", false, [&](JsonReader& packages) {
    for (const auto& [manager, list] : packages.json().AsObject()) {
      if (!IsName(manager)) return packages.Fail("expected the name of a package manager");
      packages.ReadObject(manager, true, [&, list_of = &out->packages[manager]](JsonReader& r) {
        ReadPackages(r, list_of);
      });
    }
  });
}

}  // namespace rharness
