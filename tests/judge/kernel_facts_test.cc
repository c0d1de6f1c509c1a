// The kernels that a run and its rerun launched, compared by name, shape and order.
#include "harness/judge/kernel_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/facts.h"
#include "harness/judge/facts_of.h"

namespace rharness {
namespace {

using testing::IsEmpty;

SeenKernels Launched(const std::string& sum) {
  return {.launched = {{.name = "gemm", .launches = 2, .shapes = {"4x1x1 of 256x1x1"}},
                       {.name = sum, .launches = 8}},
          .orders = {"aa of 10 launches"},
          .is_all = true};
}

std::vector<FactDifference> Compared(const std::optional<SeenKernels>& then,
                                     const std::optional<SeenKernels>& now) {
  Manifest manifest;
  manifest.observation.emplace().kernels = then;
  Evidence evidence;
  evidence.observation.emplace().kernels = now;
  return CompareFacts(FactsAsRerun(manifest, evidence), FactsOf(evidence, manifest))[2].differences;
}

std::string Words(const FactDifference& difference) {
  return difference.key + ": " + difference.recorded.value_or("absent") + " -> " +
         difference.observed.value_or("absent");
}

TEST(KernelFacts, AgreeWhereTheSameWasLaunched) {
  EXPECT_THAT(Compared(Launched("sum"), Launched("sum")), IsEmpty());
}

TEST(KernelFacts, AnotherAlgorithmIsAnotherName) {
  const auto differences = Compared(Launched("sum_rows"), Launched("sum_serial"));
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(Words(differences[0]), "gpu_kernel.sum_rows: 8 launches -> absent");
  EXPECT_EQ(Words(differences[1]), "gpu_kernel.sum_serial: absent -> 8 launches");
  for (const FactDifference& difference : differences) {
    EXPECT_EQ(difference.layer, Layer::kEnvironment);
    EXPECT_EQ(difference.weight, FactWeight::kContext);
  }
}

TEST(KernelFacts, AnotherShapeOrOrderIsADifference) {
  SeenKernels other = Launched("sum");
  other.launched[0].shapes = {"8x1x1 of 128x1x1"};
  other.orders = {"bb of 10 launches"};
  const auto differences = Compared(Launched("sum"), other);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(Words(differences[0]),
            "gpu_kernel.gemm: 2 launches, 4x1x1 of 256x1x1 -> 2 launches, 8x1x1 of 128x1x1");
  EXPECT_EQ(Words(differences[1]), "gpu_kernels.order: aa of 10 launches -> bb of 10 launches");
}

// What was missed on one side proves nothing.
TEST(KernelFacts, WhatWasNotSeenIsNoDifference) {
  EXPECT_THAT(Compared(Launched("sum"), std::nullopt), IsEmpty());
  EXPECT_THAT(Compared(std::nullopt, Launched("sum")), IsEmpty());
  SeenKernels part = Launched("sum");
  part.launched.pop_back();
  part.orders = {"cc of 2 launches"};
  part.is_all = false;
  EXPECT_THAT(Compared(Launched("sum"), part), IsEmpty());
}

}  // namespace
}  // namespace rharness
