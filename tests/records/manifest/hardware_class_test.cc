// Which GPUs are as good as the recorded ones.
#include "harness/records/manifest/hardware_class.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

Hardware With(std::vector<std::string> models, std::uint64_t memory_gib = 80) {
  Hardware hardware;
  for (std::string& model : models) {
    hardware.gpus.push_back({.model = std::move(model), .memory_bytes = memory_gib * kGib});
  }
  return hardware;
}

Manifest Recorded(int gpus, Hardware hardware) {
  Manifest run;
  run.run_id = "r";
  run.resources.gpus = gpus;
  run.environment.hardware = std::move(hardware);
  return run;
}

std::vector<std::string> What(const std::vector<ClassDifference>& differences) {
  std::vector<std::string> what;
  for (const ClassDifference& one : differences) what.push_back(one.what);
  return what;
}
using Words = std::vector<std::string>;

TEST(HardwareClass, IsTheModelWithItsMemoryCoresAndMigMode) {
  const Manifest run = Recorded(1, With({"H100"}));
  EXPECT_TRUE(CompareHardwareClass(run, With({"H100"}), {}).empty());
  EXPECT_EQ(What(CompareHardwareClass(run, With({"A100"}), {})), Words{"GPU model"});
  EXPECT_EQ(What(CompareHardwareClass(run, With({"H100"}, 40), {})), Words{"GPU memory"});
  Hardware other = With({"H100"});
  other.gpus[0].cores = 100;
  other.gpus[0].mig = "enabled";
  EXPECT_TRUE(CompareHardwareClass(run, other, {}).empty()) << "not known of the record";
  Manifest known = run;
  known.environment.hardware.gpus[0].cores = 16896;
  known.environment.hardware.gpus[0].mig = "disabled";
  EXPECT_EQ(What(CompareHardwareClass(known, other, {})), (Words{"GPU cores", "MIG mode"}));
}

TEST(HardwareClass, TakesMemoryInWholeGibibytes) {
  const Manifest run = Recorded(1, With({"H100"}));
  Hardware here = With({"H100"});
  here.gpus[0].memory_bytes -= 300 << 20;  // another driver keeps back more
  EXPECT_TRUE(CompareHardwareClass(run, here, {}).empty());
}

TEST(HardwareClass, OfSeveralGpusIsAlsoHowTheyAreConnected) {
  Manifest run = Recorded(2, With({"H100", "H100"}));
  run.environment.hardware.interconnect = "nvlink";
  Hardware here = With({"H100", "H100"});
  here.interconnect = "pcie";
  EXPECT_EQ(What(CompareHardwareClass(run, here, {})), Words{"GPU interconnect"});
  run.resources.gpus = 1;
  EXPECT_TRUE(CompareHardwareClass(run, here, {}).empty());
}

TEST(HardwareClass, LooksAtTheGpusThatTheRunGets) {
  const Manifest run = Recorded(1, With({"H100"}));
  const Hardware mixed = With({"A100", "H100"});
  EXPECT_TRUE(CompareHardwareClass(run, mixed, {1}).empty());
  EXPECT_EQ(What(CompareHardwareClass(run, mixed, {0})), Words{"GPU model"});
}

TEST(HardwareClass, NeedsAsManyGpusAsTheRun) {
  const Manifest run = Recorded(2, With({"H100", "H100"}));
  EXPECT_EQ(What(CompareHardwareClass(run, With({"H100"}), {})), Words{"number of GPUs"});
  EXPECT_EQ(What(CompareHardwareClass(run, Hardware(), {})), Words{"number of GPUs"});
}

TEST(HardwareClass, IsNoMatterWithoutGpusOrARecordOfThem) {
  EXPECT_TRUE(CompareHardwareClass(Recorded(0, With({"H100"})), Hardware(), {}).empty());
  EXPECT_TRUE(CompareHardwareClass(Recorded(1, Hardware()), With({"A100"}), {}).empty());
}

TEST(HardwareClass, FindsTheFirstSubstitutionOfBothModels) {
  const Manifest run = Recorded(1, With({"NVIDIA A100-SXM4-40GB"}, 40));
  const std::vector<Substitution> substitutions = {
      {.recorded = "NVIDIA H100*", .here = "*", .why = "not of these"},
      {.recorded = "NVIDIA A100*", .here = "NVIDIA A100*80GB", .why = "same chip"}};
  const Substitution* found = FindSubstitution(run, With({"NVIDIA A100-SXM4-80GB"}), substitutions);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->why, "same chip");
  EXPECT_EQ(FindSubstitution(run, With({"NVIDIA H200"}), substitutions), nullptr);
  EXPECT_EQ(FindSubstitution(run, Hardware(), substitutions), nullptr);
}

TEST(HardwareClass, IsDescribedByCountAndKind) {
  Hardware hardware = With({"H100", "A100", "H100"});
  hardware.gpus[1].mig = "enabled";
  hardware.interconnect = "pcie";
  EXPECT_EQ(DescribeGpus(hardware), "2 x H100 (80 GiB), 1 x A100 (80 GiB) with MIG, pcie");
  EXPECT_EQ(DescribeGpus({}), "no GPU");
}

}  // namespace
}  // namespace rharness
