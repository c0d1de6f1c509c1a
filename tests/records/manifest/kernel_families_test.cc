// Kernel names as profilers list them, and the families of probes that they tell.
#include "harness/records/manifest/kernel_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> FamiliesOf(std::string_view text) {
  const auto out = FamiliesOfKernels(text, "kernels.txt");
  EXPECT_TRUE(out.ok()) << out.error().ToString();
  if (!out.ok()) return {};
  EXPECT_THAT(out->unknown, IsEmpty());
  return out->families;
}

TEST(KernelFamilies, ReadsTheNamesThatLibrariesGiveTheirKernels) {
  EXPECT_THAT(FamiliesOf("ampere_sgemm_128x64_tn"), ElementsAre("gemm"));
  EXPECT_THAT(FamiliesOf("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT"), ElementsAre("gemm"));
  EXPECT_THAT(FamiliesOf("void splitKreduce_kernel<32, 16, int, float>"), ElementsAre("gemm"));
  EXPECT_THAT(FamiliesOf("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw"),
              ElementsAre("convolution"));
  EXPECT_THAT(FamiliesOf("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)"),
              ElementsAre("collective"));
  EXPECT_THAT(FamiliesOf("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"),
              ElementsAre("reduction"));
  EXPECT_THAT(FamiliesOf("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDA>"),
              ElementsAre("math"));
  EXPECT_THAT(FamiliesOf("flash_fwd_kernel"), ElementsAre("gemm", "math", "reduction"));
  EXPECT_THAT(FamiliesOf("triton_per_fused_add_mean_0"),
              ElementsAre("compiler", "math", "reduction"));
}

TEST(KernelFamilies, ReadsAProfilersCsvBehindItsOwnWords) {
  // The columns of `nsys stats --report cuda_gpu_kern_sum --format csv`.
  const auto out = FamiliesOfKernels(
      "Processing [run.sqlite] with [cuda_gpu_kern_sum.py]...\n\n"
      "Time (%),Total Time (ns),Instances,Name\n"
      "61.0,1000,10,\"void gemm_kernel<float, 4>(int, float)\"\n"
      "30.0,500,5,\"void at::native::\"\"scan\"\"_kernel\"\n"
      "9.0,100,2,[CUDA memcpy HtoD]\n",
      "kernels.csv");
  ASSERT_TRUE(out.ok()) << out.error().ToString();
  EXPECT_THAT(out->families, ElementsAre("gemm", "reduction"));
  EXPECT_THAT(out->unknown, IsEmpty());
  EXPECT_EQ(out->kernels, 2);
}

TEST(KernelFamilies, NamesEachKernelOnceThatTellsNothing) {
  const auto out = FamiliesOfKernels("my_secret_op\nsgemm\nmy_secret_op\n", "kernels.txt");
  ASSERT_TRUE(out.ok());
  EXPECT_THAT(out->families, ElementsAre("gemm"));
  EXPECT_THAT(out->unknown, ElementsAre("my_secret_op"));
  EXPECT_EQ(out->kernels, 2);
}

TEST(KernelFamilies, TakesAPartOfAWordForNoWord) {
  for (const char* name :
       {"indexing_backward_kernel", "catalog_thing", "fill_and_go", "my_single_pass_thing",
        "using_something", "at::native::indexFuncLargeIndex<float>(add)"}) {
    const auto out = FamiliesOfKernels(name, "kernels.txt");
    ASSERT_TRUE(out.ok());
    EXPECT_THAT(out->unknown, ElementsAre(name));
  }
  EXPECT_THAT(FamiliesOf("void gelu_forward<float>"), ElementsAre("math"));
  EXPECT_THAT(FamiliesOf("SinFunctor<double>"), ElementsAre("math"));
}

TEST(KernelFamilies, KernelsThatOnlyMoveDataTellNoFamily) {
  const auto out = FamiliesOfKernels("CatArrayBatchedCopy\nnchwToNhwcKernel\n", "kernels.txt");
  ASSERT_TRUE(out.ok());
  EXPECT_THAT(out->families, IsEmpty());
  EXPECT_THAT(out->unknown, IsEmpty());
}

TEST(KernelFamilies, TakesNoMemoryForALineOfCommas) {
  const std::string commas(100'000, ',');
  const auto found = FamiliesOfKernels("Calls,Name\n1,a\n" + commas + "\n", "k");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().where, "k:3");
  EXPECT_THAT(found.error().message, testing::HasSubstr("more than 1000 fields"));
}

TEST(KernelFamilies, RefusesListsThatAreNone) {
  for (const std::string& text :
       {std::string(), std::string(" \n\n"), std::string("[CUDA memset]\n"),
        std::string("Time (%),Name\n50,\"open\n"), std::string(70'000, 'x')}) {
    const auto out = FamiliesOfKernels(text, "kernels.txt");
    ASSERT_FALSE(out.ok()) << text.substr(0, 40);
    EXPECT_EQ(out.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(out.error().ToString().find("kernels.txt"), std::string::npos);
  }
}

}  // namespace
}  // namespace rharness
