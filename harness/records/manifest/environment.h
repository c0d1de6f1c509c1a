// The environment of a run: variables, software, CPU, GPUs. Captured here, compared as facts.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"
#include "harness/records/manifest/package_list.h"
#include "harness/records/manifest/python_environment.h"

namespace rharness {

struct Cpu {
  std::string architecture;  // "x86_64"
  std::string model;         // "AMD EPYC 9654 96-Core Processor"
  int logical_cores = 0;
  int numa_nodes = 0;  // these four from hwloc (topology.h); 0: not known
  int sockets = 0;
  int cores_per_socket = 0;      // without hardware threads
  std::uint64_t l3_bytes = 0;    // of one L3 cache
  std::string microcode;         // "0xa101144"
  std::vector<std::string> isa;  // the flags that numeric libraries dispatch on, sorted
};

struct Gpu {
  std::string model;
  std::uint64_t memory_bytes = 0;
  std::string uuid;
  // As far as the driver reports them; older records do not have them.
  int cores = 0;
  std::string compute_capability;  // "9.0"
  std::string mig;                 // "enabled" or "disabled"; empty: not known, or it has none
  std::string compute_mode;        // "default", "prohibited", "exclusive_process"
  std::string bus_id;              // of PCI: "0000:17:00.0"; its place, not its identity
  std::optional<int> numa_node;    // the one that it hangs on
};

// An active port of an adapter between nodes; see fabric.h.
struct FabricPort {
  std::string name;      // "mlx5_0:1"
  std::string type;      // "MT4129"
  std::string firmware;  // "28.39.1002"
  std::string link;      // "InfiniBand" or "Ethernet"
  std::string rate;      // "400 Gb/sec (4X NDR)"
  std::string bus_id;    // of PCI
  std::optional<int> numa_node;
};

struct Hardware {
  Cpu cpu;
  std::uint64_t memory_bytes = 0;
  std::vector<Gpu> gpus;
  std::string gpu_driver;    // empty: no driver
  std::string interconnect;  // "nvlink", "pcie" or empty
  // For several GPUs: their numbers in the order of the PCIe tree, with a bar between those that
  // share no port of the host, "0 1 | 2 3". Empty: not known.
  std::string pcie_order;
  std::optional<std::vector<FabricPort>> fabric;  // empty: not looked at
};

struct Environment {
  // Every relevant variable by name: its value, or empty if known to be unset.
  std::map<std::string, std::optional<std::string>> variables;
  std::map<std::string, std::string> software;  // "cuda": "13.0", "glibc": "2.36", "os": ...
  Hardware hardware;
  // By package manager: "python", "conda", "dpkg". A missing one was not captured; an empty list
  // was, and has none. See packages.h.
  std::map<std::string, PackageList> packages;
  // SHA-256 of each by its path, relative to the code's root; see lock_files.h. Empty: none found.
  std::map<std::string, std::string> lock_files;
  // Of a run on the host, if one was seen; see packages.h.
  std::optional<PythonEnvironment> python;
};

// The variables that change arithmetic or randomness: exact names always recorded, set or unset,
// and prefixes ("CUDA_", "NCCL_", ...) recorded only if set.
const std::vector<std::string>& WatchedVariables();
const std::vector<std::string>& WatchedPrefixes();

// A variable of a numeric library or its runtime (OPENBLAS_..., OMP_..., CUDA_..., NCCL_...), which
// can change what a given program on given hardware computes.
bool IsNumericVariable(std::string_view name);

// A secret variable is recorded as a note in place of its value; see environment_secrets.h. True
// for such a note, which must not be passed on as a value.
bool IsWithheld(std::string_view value);

// This process's environment variables, all of them.
std::map<std::string, std::string> ProcessEnvironment();

// Reads this process's environment, /proc, os-release and (dlopened, if present) hwloc and NVML.
// Software, CPU and memory are read by the first call of a process, variables and GPUs by every
// call. `variables`: the environment to record; null: this process's own. `named`: variables
// recorded beside the watched ones, set or unset.
Environment CaptureEnvironment(const std::map<std::string, std::string>* variables = nullptr,
                               const std::set<std::string>& named = {});

// The machine of a rerun. Not compared: two machines of one kind should agree.
struct Machine {
  std::string host;
  std::string boot_id;  // of Linux: new after every boot
  std::string node;     // name by the scheduler of a cluster; empty: none started this
};
Machine ThisMachine();
// Its name by the scheduler, else by itself.
inline const std::string& NodeName(const Machine& machine) {
  return machine.node.empty() ? machine.host : machine.node;
}

Json ToJson(const Environment& environment);
void ReadEnvironment(JsonReader& reader, Environment* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_H_
