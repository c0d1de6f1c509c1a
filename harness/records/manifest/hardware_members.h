// The members of the machine that a run ran on: processor, GPUs, ports between nodes.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

template <class Io, Is<Cpu> T>
void Members(Io& io, T& cpu) {
  io.May(kPlainText, "architecture", cpu.architecture,
         About("As uname names it.").Examples("x86_64"));
  io.May(kPlainText, "model", cpu.model,
         About("As the system names it.").Examples("AMD EPYC 9654 96-Core Processor"));
  io.May(kCountNumber, "logical_cores", cpu.logical_cores,
         About("Cores online, hardware threads counted.").Examples("192"));
  io.May(kCountNumber, "numa_nodes", cpu.numa_nodes, About("Memory nodes.").Examples("2"));
  io.May(kPlainText, "microcode", cpu.microcode, About("Its version.").Examples("0xa101144"));
  io.May("isa", cpu.isa,
         About("The flags that numeric libraries dispatch on, sorted.")
             .Examples(R"(["avx2", "avx512f", "fma"])"));
  io.UnlessEmpty(
      kCountNumber, "sockets", cpu.sockets,
      About("Processors; here and below, left out where hwloc is not there to say.").Examples("2"));
  io.UnlessEmpty(kCountNumber, "cores_per_socket", cpu.cores_per_socket,
                 About("Cores of each, hardware threads not counted.").Examples("96"));
  io.UnlessEmpty("l3_bytes", cpu.l3_bytes,
                 About("Of one cache of the third level.").Examples("33554432"));
}

template <class Io, Is<Gpu> T>
void Members(Io& io, T& gpu) {
  io.Noun("A GPU.");
  io.May(kPlainText, "model", gpu.model, About("As the driver names it.").Examples("NVIDIA H200"));
  io.May("memory_bytes", gpu.memory_bytes, About("Its memory in bytes.").Examples("150754820096"));
  io.May(kPlainText, "uuid", gpu.uuid,
         About("Names the board, for the question whether it is the same machine.")
             .Examples("GPU-5d3e"));
  io.UnlessEmpty(
      kCountNumber, "cores", gpu.cores,
      About("Its arithmetic cores; left out where the driver does not say.").Examples("16896"));
  io.UnlessEmpty(kPlainText, "compute_capability", gpu.compute_capability,
                 About("Its architecture.").Examples("\"9.0\""));
  io.UnlessEmpty(
      kPlainText, "mig", gpu.mig,
      About("Whether it is shared out in instances: enabled or disabled.").Examples("disabled"));
  io.UnlessEmpty(kPlainText, "compute_mode", gpu.compute_mode,
                 About("Which processes it serves.").Examples("default"));
  io.UnlessEmpty(kPlainText, "bus_id", gpu.bus_id,
                 About("Where it is on PCI; left out where the driver does not say.")
                     .Examples("0000:17:00.0"));
  io.UnlessEmpty(kCountNumber, "numa_node", gpu.numa_node,
                 About("The memory node that it hangs on.").Examples("0"));
}

template <class Io, Is<FabricPort> T>
void Members(Io& io, T& port) {
  io.Noun("A port by which nodes talk (InfiniBand, RoCE).");
  io.May(kPlainText, "name", port.name, About("Adapter and port.").Examples("mlx5_0:1"));
  io.UnlessEmpty(kPlainText, "type", port.type, About("Of the adapter.").Examples("MT4129"));
  io.UnlessEmpty(kPlainText, "firmware", port.firmware,
                 About("Of the adapter.").Examples("28.39.1002"));
  io.UnlessEmpty(kPlainText, "link", port.link, About("Its link layer.").Examples("InfiniBand"));
  io.UnlessEmpty(kPlainText, "rate", port.rate,
                 About("As the driver names it.").Examples("400 Gb/sec (4X NDR)"));
  io.UnlessEmpty(kPlainText, "bus_id", port.bus_id,
                 About("Where it is on PCI.").Examples("0000:1a:00.0"));
  io.UnlessEmpty(kCountNumber, "numa_node", port.numa_node,
                 About("The memory node that it hangs on.").Examples("1"));
}

Json DescribeInterconnect(SchemaNoun&);
inline constexpr TextKind<ReadAlone<ReadText>, DescribeInterconnect> kInterconnect;

template <class Io, Is<Hardware> T>
void Members(Io& io, T& hardware) {
  io.MayObject("cpu", hardware.cpu, "The processor.");
  io.May("memory_bytes", hardware.memory_bytes,
         About("Main memory in bytes.").Examples("1622722691072"));
  io.List("gpus", hardware.gpus, "One an accelerator.");
  io.May(kPlainText, "gpu_driver", hardware.gpu_driver,
         About("Version of the driver; empty: none.").Examples("580.65.06"));
  io.May(kInterconnect, "interconnect", hardware.interconnect, "Between the GPUs.");
  io.UnlessEmpty(
      kPlainText, "pcie_order", hardware.pcie_order,
      About("Of several GPUs: their numbers in the order of the PCIe tree, a bar between "
            "those that share no port of the host.")
          .Examples("0 1 | 2 3"));
  io.ListUnlessEmpty("fabric", hardware.fabric,
                     "Active ports between nodes; empty: there are none. Absent: not looked at.");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_HARDWARE_MEMBERS_H_
