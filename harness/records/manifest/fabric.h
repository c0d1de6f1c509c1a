// The adapters by which the nodes of a run talk (InfiniBand, RoCE), as Linux lists them.
//
// Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_FABRIC_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_FABRIC_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/manifest/environment.h"

namespace rharness {

inline constexpr std::size_t kMostFabricPorts = 64;

// The active ports, sorted by name. An empty list: this machine has no port. Nothing: the folder
// cannot be listed. Members that no file states stay empty.
std::optional<std::vector<FabricPort>> ReadFabric(
    const std::filesystem::path& folder = "/sys/class/infiniband");

// "8 x MT4129 InfiniBand 400 Gb/sec (4X NDR)", kinds by name; "none" without ports.
std::string DescribeFabric(const std::vector<FabricPort>& ports);
// "28.39.1002", all that there are, by name.
std::string FabricFirmware(const std::vector<FabricPort>& ports);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_FABRIC_H_
