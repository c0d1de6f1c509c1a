// Which runs a part of a policy may be about.
#include "harness/records/policy/known_probes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rharness {
namespace {

TEST(KnownProbes, MayConcernRunsThatDependOnTheirFamily) {
  EXPECT_TRUE(MayConcern("nccl_tree", {"gemm", "collective"}));
  EXPECT_FALSE(MayConcern("nccl_tree", {"gemm"}));
  EXPECT_TRUE(MayConcern("family:col*", {"collective"}));
  EXPECT_FALSE(MayConcern("family:col*", {"gemm"}));
}

TEST(KnownProbes, MayConcernEveryRunWhereTheyAreUnknownOrScalarOrTheRunDeclaresNone) {
  EXPECT_TRUE(MayConcern("no_such_probe", {"gemm"}));
  EXPECT_TRUE(MayConcern("fp_scalar", {"gemm"}));
  EXPECT_TRUE(MayConcern("family:scalar", {"gemm"}));
  EXPECT_TRUE(MayConcern("nccl_tree", {}));
}

TEST(KnownProbes, AreInTheOrderOfTheirNames) {
  EXPECT_TRUE(std::ranges::is_sorted(KnownProbes(), {}, &KnownProbe::name));
}

}  // namespace
}  // namespace rharness
