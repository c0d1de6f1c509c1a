// hwloc by dlopen: the only file that knows it.
#include "harness/records/manifest/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#if __has_include(<hwloc.h>)
#include <dlfcn.h>
#include <hwloc.h>
#endif

namespace rharness {

#if __has_include(<hwloc.h>)
namespace {

constexpr unsigned kMajor = 2;  // of the ABI that the header describes
constexpr unsigned kDisplayClass = 0x03, kAcceleratorClass = 0x12;

struct Hwloc {
  decltype(&hwloc_get_api_version) version = nullptr;
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_set_flags) set_flags = nullptr;
  decltype(&hwloc_topology_set_io_types_filter) set_io_filter = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_get_type_depth) depth = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) count = nullptr;
  decltype(&hwloc_get_obj_by_depth) object = nullptr;
  decltype(&hwloc_bitmap_isincluded) is_included = nullptr;
  decltype(&hwloc_bitmap_weight) weight = nullptr;
  decltype(&hwloc_bitmap_first) first = nullptr;
};

template <class Function>
bool Find(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(::dlsym(library, name));
  return *out != nullptr;
}

// nullptr: no such library here. It stays loaded.
const Hwloc* LoadHwloc() {
  static const std::optional<Hwloc> kHwloc = []() -> std::optional<Hwloc> {
    void* library = ::dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    Hwloc f;
    if (library == nullptr || !Find(library, "hwloc_get_api_version", &f.version) ||
        f.version() >> 16 != kMajor || !Find(library, "hwloc_topology_init", &f.init) ||
        !Find(library, "hwloc_topology_set_flags", &f.set_flags) ||
        !Find(library, "hwloc_topology_set_io_types_filter", &f.set_io_filter) ||
        !Find(library, "hwloc_topology_load", &f.load) ||
        !Find(library, "hwloc_topology_destroy", &f.destroy) ||
        !Find(library, "hwloc_get_type_depth", &f.depth) ||
        !Find(library, "hwloc_get_nbobjs_by_depth", &f.count) ||
        !Find(library, "hwloc_get_obj_by_depth", &f.object) ||
        !Find(library, "hwloc_bitmap_isincluded", &f.is_included) ||
        !Find(library, "hwloc_bitmap_weight", &f.weight) ||
        !Find(library, "hwloc_bitmap_first", &f.first)) {
      return std::nullopt;
    }
    return f;
  }();
  return kHwloc ? &*kHwloc : nullptr;
}

// One loaded topology.
class LoadedTopology {
 public:
  explicit LoadedTopology(const Hwloc& hwloc) : hwloc_(hwloc) {
    if (hwloc_.init(&topology_) != 0) {
      topology_ = nullptr;
      return;
    }
    loaded_ = hwloc_.set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
              hwloc_.set_io_filter(topology_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
              hwloc_.load(topology_) == 0;
  }
  LoadedTopology(const LoadedTopology&) = delete;
  LoadedTopology& operator=(const LoadedTopology&) = delete;
  ~LoadedTopology() {
    if (topology_ != nullptr) hwloc_.destroy(topology_);
  }
  bool loaded() const { return loaded_; }

  std::vector<hwloc_obj_t> All(hwloc_obj_type_t type) const {
    std::vector<hwloc_obj_t> objects;
    const int depth = hwloc_.depth(topology_, type);
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return objects;
    const unsigned count = hwloc_.count(topology_, depth);
    for (unsigned i = 0; i < count; ++i) objects.push_back(hwloc_.object(topology_, depth, i));
    return objects;
  }

  // The value shared by all; 0 if they differ or there is none.
  int CoresPerSocket() const {
    std::set<std::ptrdiff_t> counts;
    const auto cores = All(HWLOC_OBJ_CORE);
    for (const hwloc_obj_t socket : All(HWLOC_OBJ_PACKAGE)) {
      counts.insert(std::ranges::count_if(cores, [&](hwloc_obj_t core) {
        return hwloc_.is_included(core->cpuset, socket->cpuset) == 1;
      }));
    }
    return counts.size() == 1 ? static_cast<int>(*counts.begin()) : 0;
  }
  std::uint64_t L3Bytes() const {
    std::set<std::uint64_t> sizes;
    for (const hwloc_obj_t cache : All(HWLOC_OBJ_L3CACHE)) sizes.insert(cache->attr->cache.size);
    return sizes.size() == 1 ? *sizes.begin() : 0;
  }

  std::vector<PciDevice> Devices() const {
    std::vector<PciDevice> devices;
    std::vector<hwloc_obj_t> roots;
    for (const hwloc_obj_t object : All(HWLOC_OBJ_PCI_DEVICE)) {
      const auto& pci = object->attr->pcidev;
      const unsigned kind = pci.class_id >> 8;
      if (kind != kDisplayClass && kind != kAcceleratorClass) continue;
      const hwloc_obj_t root = RootOf(object);
      const auto at = std::ranges::find(roots, root);
      const int index = static_cast<int>(at - roots.begin());
      if (at == roots.end()) roots.push_back(root);
      devices.push_back({PciBusId(pci.domain, pci.bus, pci.dev, pci.func), NodeOf(object), index});
    }
    return devices;
  }

 private:
  static bool IsHostBridge(hwloc_obj_t object) {
    return object->type == HWLOC_OBJ_BRIDGE &&
           object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
  }
  // What is right below the host's bridge: a root port, or the device itself.
  static hwloc_obj_t RootOf(hwloc_obj_t device) {
    hwloc_obj_t at = device;
    while (at->parent != nullptr && !IsHostBridge(at->parent) &&
           (at->parent->type == HWLOC_OBJ_BRIDGE || at->parent->type == HWLOC_OBJ_PCI_DEVICE)) {
      at = at->parent;
    }
    return at;
  }
  std::optional<int> NodeOf(hwloc_obj_t device) const {
    hwloc_obj_t at = device;
    while (at != nullptr && at->nodeset == nullptr) at = at->parent;
    if (at == nullptr || hwloc_.weight(at->nodeset) != 1) return std::nullopt;
    return hwloc_.first(at->nodeset);
  }

  const Hwloc& hwloc_;
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

}  // namespace

Topology LoadTopology() {
  const Hwloc* hwloc = LoadHwloc();
  if (hwloc == nullptr) return {};
  const LoadedTopology machine(*hwloc);
  if (!machine.loaded()) return {};
  return {.numa_nodes = static_cast<int>(machine.All(HWLOC_OBJ_NUMANODE).size()),
          .sockets = static_cast<int>(machine.All(HWLOC_OBJ_PACKAGE).size()),
          .cores_per_socket = machine.CoresPerSocket(),
          .l3_bytes = machine.L3Bytes(),
          .devices = machine.Devices()};
}
#else
Topology LoadTopology() { return {}; }
#endif

std::string ReplacesTheMachine() {
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH",
                           "HWLOC_DUMPED_HWDATA_DIR"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  return {};
}

std::string PciBusId(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

void Place(const Topology& topology, Hardware* hardware) {
  hardware->cpu.numa_nodes = topology.numa_nodes;
  hardware->cpu.sockets = topology.sockets;
  hardware->cpu.cores_per_socket = topology.cores_per_socket;
  hardware->cpu.l3_bytes = topology.l3_bytes;
  std::string order;
  std::size_t found = 0;
  int root = -1;
  for (const PciDevice& device : topology.devices) {
    const auto gpu = std::ranges::find(hardware->gpus, device.bus_id, &Gpu::bus_id);
    if (gpu == hardware->gpus.end()) continue;
    gpu->numa_node = device.numa_node;
    order += fmt::format("{}{}",
                         order.empty()         ? ""
                         : device.root == root ? " "
                                               : " | ",
                         gpu - hardware->gpus.begin());
    root = device.root;
    ++found;
  }
  if (found > 1 && found == hardware->gpus.size()) hardware->pcie_order = order;
}

}  // namespace rharness
