// The structure of the machine: sockets, caches, memory nodes, and the places of GPUs on PCIe.
//
// Role: queries hwloc for environment.cc. libhwloc is loaded, not linked: one rharness-probe runs
// in any image, and without the library all of this is not known. If a variable of hwloc replaces
// this machine by another (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT, ...), hwloc is not
// queried. Source: hwloc 2, documentation, "I/O devices" and "Environment variables".
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_TOPOLOGY_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/manifest/environment.h"

namespace rharness {

// A display or 3D controller or an accelerator: PCI classes 03xx and 12xx.
struct PciDevice {
  std::string bus_id;            // as PciBusId writes it
  std::optional<int> numa_node;  // empty: near none, or near several
  int root = 0;                  // which port of the host, from 0: devices of one share its switch
};

struct Topology {
  int numa_nodes = 0;  // here and below 0: not known
  int sockets = 0;
  int cores_per_socket = 0;        // without hardware threads; 0 also where they differ
  std::uint64_t l3_bytes = 0;      // of one L3 cache; 0 also where they differ
  std::vector<PciDevice> devices;  // in the order of the PCIe tree
};

// "0000:17:00.0".
std::string PciBusId(unsigned domain, unsigned bus, unsigned device, unsigned function);

// The variable that puts another machine in this one's place; empty: none is set.
std::string ReplacesTheMachine();

// The whole machine, also what this process may not use; or that which a variable names. Without
// libhwloc, or where it fails, all is unknown. Cost: some 20 ms, of this machine.
Topology LoadTopology();

// Fills the fields of the CPU, and of GPUs that have a bus id their NUMA node; of several GPUs,
// where all were found, pcie_order. Pure.
void Place(const Topology& topology, Hardware* hardware);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_TOPOLOGY_H_
