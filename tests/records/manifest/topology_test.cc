// hwloc's view of machines that are not this one: synthetic ones, and one described in XML.
#include "harness/records/manifest/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/files.h"

namespace rharness {
namespace {

// A variable of this process, while it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

Topology Synthetic(const std::string& description) {
  const ScopedVariable synthetic("HWLOC_SYNTHETIC", description);
  return LoadTopology();
}

// One PCI device below a port of a host bridge.
std::string Device(const std::string& bus_id, const std::string& kind) {
  return "<object type=\"PCIDev\" pci_busid=\"" + bus_id + "\" pci_type=\"" + kind +
         " [10de:2330] [10de:16c1] a1\" pci_link_speed=\"0\"/>";
}
std::string Bridge(const char* depth, const std::string& bus_id, const std::string& range,
                   const std::string& inside) {
  return std::string("<object type=\"Bridge\" bridge_type=\"1-1\" depth=\"") + depth +
         "\" bridge_pci=\"0000:[" + range + "]\" pci_busid=\"" + bus_id +
         "\" pci_type=\"0604 [1022:1483] [1022:1453] 00\" pci_link_speed=\"0\">" + inside +
         "</object>";
}
std::string HostBridge(const std::string& range, const std::string& inside) {
  return "<object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[" + range +
         "]\">" + inside + "</object>";
}
// A socket with one core and one memory node, and what hangs on it.
std::string Socket(int index, const std::string& inside) {
  const std::string set = index == 0 ? "0x00000001" : "0x00000002";
  const std::string sets = "\" cpuset=\"" + set + "\" complete_cpuset=\"" + set + "\" nodeset=\"" +
                           set + "\" complete_nodeset=\"" + set + "\" ";
  const std::string number = std::to_string(index);
  return "<object type=\"Package\" os_index=\"" + number + sets + "gp_index=\"1" + number +
         "\"><object type=\"NUMANode\" os_index=\"" + number + sets + "gp_index=\"2" + number +
         "\" local_memory=\"1073741824\"/>"
         "<object type=\"L3Cache\"" +
         sets.substr(1) + "gp_index=\"3" + number +
         "\" cache_size=\"33554432\" depth=\"3\" cache_linesize=\"64\" "
         "cache_associativity=\"16\" cache_type=\"0\"><object type=\"Core\" os_index=\"" +
         number + sets + "gp_index=\"4" + number + "\"><object type=\"PU\" os_index=\"" + number +
         sets + "gp_index=\"5" + number + "\"/></object></object>" + inside + "</object>";
}

// GPU 17 and 18 share a switch of socket 0, 65 hangs there alone; 97 is of socket 1.
std::string MachineXml() {
  const std::string first = HostBridge(
      "00-5f", Bridge("1", "0000:00:01.0", "16-18",
                      Bridge("2", "0000:16:00.0", "17-17", Device("0000:17:00.0", "0302")) +
                          Bridge("2", "0000:16:01.0", "18-18", Device("0000:18:00.0", "0302"))) +
                   Bridge("1", "0000:00:02.0", "41-41", Device("0000:41:00.0", "0302")) +
                   Bridge("1", "0000:00:03.0", "42-42", Device("0000:42:00.0", "0200")));
  const std::string second =
      HostBridge("60-7f", Bridge("1", "0000:60:01.0", "61-61", Device("0000:61:00.0", "0302")));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
         "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x00000003\" "
         "complete_cpuset=\"0x00000003\" allowed_cpuset=\"0x00000003\" nodeset=\"0x00000003\" "
         "complete_nodeset=\"0x00000003\" allowed_nodeset=\"0x00000003\" gp_index=\"1\">" +
         Socket(0, first) + Socket(1, second) + "</object></topology>\n";
}

class TopologyTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Synthetic("pack:1 numa:1 core:1 pu:1").sockets == 0) {
      GTEST_SKIP() << "libhwloc.so.15 is not here, or hwloc.h was not when this was built";
    }
  }
};

TEST_F(TopologyTest, CountsNodesSocketsCoresAndTheirCache) {
  const Topology one = Synthetic("package:2 numa:2 l3:1(size=33554432) core:8 pu:2");
  EXPECT_EQ(one.sockets, 2);
  EXPECT_EQ(one.numa_nodes, 4);
  EXPECT_EQ(one.cores_per_socket, 16) << "threads are no cores";
  EXPECT_EQ(one.l3_bytes, 33554432u);
  EXPECT_TRUE(one.devices.empty());
  const Topology other = Synthetic("package:1 numa:1 core:3 pu:1");
  EXPECT_EQ(other.sockets, 1);
  EXPECT_EQ(other.numa_nodes, 1);
  EXPECT_EQ(other.cores_per_socket, 3);
  EXPECT_EQ(other.l3_bytes, 0u) << "there is none";
}

TEST_F(TopologyTest, FindsWhereEachGpuHangs) {
  const auto folder = ScopedTempDir::Make().value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "machine.xml", MachineXml()).ok());
  const ScopedVariable xml("HWLOC_XMLFILE", (folder.path() / "machine.xml").string());
  const Topology topology = LoadTopology();
  EXPECT_EQ(topology.sockets, 2);
  ASSERT_EQ(topology.devices.size(), 4u) << "the network card is none";
  EXPECT_EQ(topology.devices[0].bus_id, "0000:17:00.0");
  EXPECT_EQ(topology.devices[3].bus_id, "0000:61:00.0");
  EXPECT_EQ(topology.devices[0].numa_node, 0);
  EXPECT_EQ(topology.devices[3].numa_node, 1);
  EXPECT_EQ(topology.devices[0].root, topology.devices[1].root) << "behind one switch";
  EXPECT_NE(topology.devices[1].root, topology.devices[2].root);
  EXPECT_NE(topology.devices[2].root, topology.devices[3].root);
  Hardware hardware;
  hardware.gpus.resize(4);  // numbered as somebody asked for: CUDA_DEVICE_ORDER, a container
  hardware.gpus[0].bus_id = "0000:61:00.0";
  hardware.gpus[1].bus_id = "0000:17:00.0";
  hardware.gpus[2].bus_id = "0000:18:00.0";
  hardware.gpus[3].bus_id = "0000:41:00.0";
  Place(topology, &hardware);
  EXPECT_EQ(hardware.pcie_order, "1 2 | 3 | 0");
  EXPECT_EQ(hardware.gpus[0].numa_node, 1);
  EXPECT_EQ(hardware.gpus[2].numa_node, 0);
}

TEST(Place, SaysNothingOfWhatItDoesNotKnow) {
  Topology topology{.numa_nodes = 1, .sockets = 1, .devices = {{.bus_id = "0000:17:00.0"}}};
  Hardware hardware;
  hardware.gpus.resize(2);
  hardware.gpus[0].bus_id = "0000:17:00.0";
  Place(topology, &hardware);
  EXPECT_EQ(hardware.pcie_order, "") << "of one GPU of two nothing is known";
  EXPECT_FALSE(hardware.gpus[0].numa_node.has_value());
  hardware.gpus.resize(1);
  Place(topology, &hardware);
  EXPECT_EQ(hardware.pcie_order, "") << "one has no order";
}

TEST(PciBusId, IsWrittenAsThePciToolsDo) {
  EXPECT_EQ(PciBusId(0, 0x17, 0, 0), "0000:17:00.0");
  EXPECT_EQ(PciBusId(0x10001, 0xe1, 0x1f, 3), "10001:e1:1f.3");
}

TEST(ReplacesTheMachine, IsSaidOfTheVariablesThatNameAnotherOne) {
  ASSERT_EQ(ReplacesTheMachine(), "");
  {
    const ScopedVariable synthetic("HWLOC_SYNTHETIC", "pack:2 core:2 pu:1");
    EXPECT_EQ(ReplacesTheMachine(), "HWLOC_SYNTHETIC");
  }
  const ScopedVariable xml("HWLOC_XMLFILE", "/dev/zero");
  EXPECT_EQ(ReplacesTheMachine(), "HWLOC_XMLFILE");
}

}  // namespace
}  // namespace rharness
