// The wrapper of NCCL, with false libraries and with the one of this machine.
#include <gtest/gtest.h>

#include "probes/library/nccl.h"
#include "probes/library/version_text.h"

namespace rharness {
namespace {

TEST(Nccl, NamesTheFunctionThatTheLibraryLacks) {
  const auto nccl = Nccl::Open({std::string(FAKE_CUDA_DIR) + "/incomplete"});
  ASSERT_FALSE(nccl.ok());
  EXPECT_EQ(nccl.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(nccl.error().ToString(), "libnccl.so.2: the library lacks ncclAllReduce");
}

TEST(Nccl, SaysAnErrorInTheLibrarysWords) {
  const auto nccl = Nccl::Open({std::string(FAKE_CUDA_DIR) + "/working"});
  ASSERT_TRUE(nccl.ok()) << nccl.error().ToString();
  EXPECT_TRUE((*nccl)->Check(ncclSuccess, "ncclAllReduce").ok());
  const Status failed = (*nccl)->Check(ncclUnhandledCudaError, "ncclAllReduce");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kInternal);
  EXPECT_EQ(failed.error().message, "ncclAllReduce: unhandled cuda error: planted by the test");
}

TEST(Nccl, TellsItsVersionWithoutADevice) {
  const auto nccl = Nccl::Open({});
  if (!nccl.ok()) GTEST_SKIP() << nccl.error().ToString();
  EXPECT_GE((*nccl)->version(), 20000);
  EXPECT_EQ((*nccl)->VersionText().substr(0, 2), "2.");
  EXPECT_NE((*nccl)->f.ncclCommSplit, nullptr);
}

TEST(VersionText, UnpacksTheVendorsNumbers) {
  EXPECT_EQ(NcclVersionText(22809), "2.28.9");
  EXPECT_EQ(NcclVersionText(23007), "2.30.7");
  EXPECT_EQ(NcclVersionText(20906), "2.9.6");
  EXPECT_EQ(NcclVersionText(2708), "2.7.8");
  EXPECT_EQ(CudaVersionText(13000), "13.0");
  EXPECT_EQ(CudaVersionText(12080), "12.8");
}

}  // namespace
}  // namespace rharness
