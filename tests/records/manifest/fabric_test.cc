// Adapters of a network as sysfs lists them.
#include "harness/records/manifest/fabric.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class Fabric : public testing::Test {
 protected:
  void Adapter(const std::string& name, const std::string& type) const {
    Write(name + "/hca_type", type + "\n");
    Write(name + "/fw_ver", "28.39.1002\n");
    Write("pci/0000:1a:00.0/numa_node", "1\n");
    fs::create_symlink("../pci/0000:1a:00.0", folder_.path() / name / "device");
  }
  void Port(const std::string& adapter, int port, const std::string& link, const std::string& rate,
            const std::string& state = "4: ACTIVE") const {
    const std::string at = fmt::format("{}/ports/{}/", adapter, port);
    Write(at + "state", state + "\n");
    Write(at + "link_layer", link + "\n");
    Write(at + "rate", rate + "\n");
  }
  std::vector<FabricPort> Read() const { return ReadFabric(folder_.path()).value(); }

  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_.path() / path).parent_path());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / path, text).ok());
  }

  const ScopedTempDir folder_ = *ScopedTempDir::Make();
};

TEST_F(Fabric, AreThePortsThatAreActive) {
  Adapter("mlx5_1", "MT4129");
  Adapter("mlx5_0", "MT4129");
  Port("mlx5_0", 1, "InfiniBand", "400 Gb/sec (4X NDR)");
  Port("mlx5_1", 1, "InfiniBand", "400 Gb/sec (4X NDR)");
  Port("mlx5_1", 2, "InfiniBand", "10 Gb/sec (4X SDR)", "1: DOWN");
  const auto ports = Read();
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].name, "mlx5_0:1");
  EXPECT_EQ(ports[0].bus_id, "0000:1a:00.0");
  EXPECT_EQ(ports[0].numa_node, 1);
  EXPECT_EQ(DescribeFabric(ports), "2 x MT4129 InfiniBand 400 Gb/sec (4X NDR)");
  EXPECT_EQ(FabricFirmware(ports), "28.39.1002");
}

TEST_F(Fabric, OfSeveralKindsAreCountedByKind) {
  Adapter("mlx5_0", "MT4129");
  Adapter("mlx5_bond_0", "MT4125");
  Port("mlx5_0", 1, "InfiniBand", "400 Gb/sec (4X NDR)");
  Port("mlx5_bond_0", 1, "Ethernet", "100 Gb/sec (4X EDR)");
  EXPECT_EQ(DescribeFabric(Read()),
            "1 x MT4125 Ethernet 100 Gb/sec (4X EDR), 1 x MT4129 InfiniBand 400 Gb/sec (4X NDR)");
}

TEST_F(Fabric, WhatAFileDoesNotSayIsEmpty) {
  Write("rxe0/ports/1/state", "4: ACTIVE\n");
  const auto ports = Read();
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].type, "");
  EXPECT_FALSE(ports[0].numa_node);
  EXPECT_EQ(DescribeFabric(ports), "1 x adapter");
  EXPECT_EQ(FabricFirmware(ports), "");
}

TEST_F(Fabric, OfAMachineWithoutOneIsNone) {
  const auto ports = ReadFabric(folder_.path() / "infiniband");
  ASSERT_TRUE(ports) << "its kernel knows no such adapter";
  EXPECT_TRUE(ports->empty());
  EXPECT_EQ(DescribeFabric(*ports), "none");
}

TEST_F(Fabric, IsNotKnownWhereNobodyCanAsk) {
  EXPECT_FALSE(ReadFabric(folder_.path() / "class" / "infiniband")) << "a container without sysfs";
  Write("infiniband", "");
  EXPECT_FALSE(ReadFabric(folder_.path() / "infiniband")) << "no folder";
  Write("mlx5_0/ports", "");
  EXPECT_FALSE(ReadFabric(folder_.path())) << "an adapter that does not list its ports";
}

TEST_F(Fabric, OfARecordKeepsNoneApartFromNotLookedAt) {
  Environment environment;
  EXPECT_FALSE(ToJson(environment).Find("hardware")->Find("fabric"));
  environment.hardware.fabric.emplace();
  const Json json = ToJson(environment);
  ASSERT_TRUE(json.Find("hardware")->Find("fabric"));
  Environment again;
  JsonReader reader(json, "test");
  ReadEnvironment(reader, &again);
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(again.hardware.fabric);
  EXPECT_TRUE(again.hardware.fabric->empty());
}

}  // namespace
}  // namespace rharness
