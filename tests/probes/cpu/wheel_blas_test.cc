// The BLAS of a Python wheel, whose file and symbols have names of their own.
#include <gtest/gtest.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

TEST(WheelBlas, IsFoundInItsFolderByThePatternOfItsName) {
  ProbeContext context;
  context.library_paths = {RHARNESS_WHEEL_DIR};
  const auto blas = Blas::Open(context);
  ASSERT_TRUE(blas.ok()) << blas.error().ToString();
  EXPECT_EQ(blas->Description().first, "libscipy_openblas64_-*.so");
  EXPECT_EQ(blas->Choice().Dump(), R"({"core":"Wheel"})");
}

TEST(WheelBlas, GetsSizesInItsOwnIntegers) {
  ProbeContext context;
  context.library_paths = {RHARNESS_WHEEL_DIR};
  const auto blas = Blas::Open(context);
  ASSERT_TRUE(blas.ok());
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 2};  // 2 by 3, and 3 by 1
  std::vector<float> c = {10, 20};
  blas->Gemm({2, 1, 3}, a.data(), b.data(), 1, c.data());
  EXPECT_EQ(c, (std::vector<float>{10 + 1 + 10, 20 + 2 + 12}));
  blas->Gemv(false, 2, 3, a.data(), b.data(), c.data());
  EXPECT_EQ(c, (std::vector<float>{11, 14}));
  const std::vector<double> x = {1, 2, 3}, y = {4, 5, 6};
  EXPECT_EQ(blas->Dot(x, y), 32);
}

}  // namespace
}  // namespace rharness
