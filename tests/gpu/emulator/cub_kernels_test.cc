// CUB's kernels, as nvcc compiles them for the probes, run by the emulator below CUB's own
// dispatch: sums and prefix sums against closed forms, the order of one tile against what CUB's
// sources say, and the same bits in every order of blocks and warps.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "probes/gpu/cub_launch.h"
#include "probes/gpu/probe_tools.h"
#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {
namespace {

class EmulatedCub : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto device = Device::Open(Context());
    ASSERT_TRUE(device.ok()) << device.error().ToString();
    device_ = *device;
    const Status started = StartCub(0, device_->driver().version());
    ASSERT_TRUE(started.ok()) << started.error().ToString();
  }
  void TearDown() override { ::unsetenv("EMULATED_ORDER"); }

  static ProbeContext Context() {
    ProbeContext context{.device = "cuda:0", .repeats = 1};
    context.library_paths = {EMULATOR_DIR};
    return context;
  }
  // Sums of rows `n` long, as their bits are.
  template <class T>
  static std::vector<T> Sums(const std::vector<T>& values, int n, std::size_t stride, int rows) {
    const DeviceBuffer in = *device_->Upload(values);
    const DeviceBuffer out = *device_->Allocate(sizeof(T) * static_cast<std::size_t>(rows));
    const Status summed = CubSum(CubOrder::kRunToRun,
                                 CubRows<T>{static_cast<const T*>(in.pointer()), stride, n, rows},
                                 static_cast<T*>(out.pointer()));
    EXPECT_TRUE(summed.ok()) << summed.error().ToString();
    if (!summed.ok()) return {};
    return Read<T>(out, static_cast<std::size_t>(rows));
  }
  template <class T>
  static std::vector<T> Read(const DeviceBuffer& from, std::size_t count) {
    const auto bytes = *device_->Read(from, count * sizeof(T));
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  static std::shared_ptr<Device> device_;
};
std::shared_ptr<Device> EmulatedCub::device_;

// Part of a tile, a whole one, several with a ragged end, and more than one round of blocks.
TEST_F(EmulatedCub, AddsSmallIntegersExactly) {
  for (const int n : {1, 31, 1000, 4096, 10000, 300'000}) {
    std::vector<float> values(static_cast<std::size_t>(n));
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] = static_cast<float>(i % 13);
    EXPECT_EQ(Sums(values, n, 0, 1), std::vector<float>{static_cast<float>(sum)}) << n;
    const std::vector<double> doubles(values.begin(), values.end());
    EXPECT_EQ(Sums(doubles, n, 0, 1), std::vector<double>{sum}) << n;
  }
}

// CUB promises the same bits on one device, whatever runs first.
TEST_F(EmulatedCub, RoundsAlikeInEveryOrderOfBlocksAndWarps) {
  for (const int n : {1000, 4096, 10000, 100'000}) {
    const auto values = RoundingValues(static_cast<std::size_t>(n), 7);
    std::set<std::vector<float>> seen;
    for (const char* order : {"0", "1", "2", "5"}) {
      ::setenv("EMULATED_ORDER", order, 1);
      seen.insert(Sums(values, n, 0, 1));
    }
    EXPECT_EQ(seen.size(), 1U) << n;
  }
}

class MaskedCub : public MaskedSum {
 public:
  using Sum = std::vector<float>(const std::vector<float>&, int, std::size_t, int);
  MaskedCub(int n, Sum* sum) : n_(n), sum_(sum) {}
  int size() const override { return n_; }
  int max_batch() const override { return 64; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const auto n = static_cast<std::size_t>(n_);
    std::vector<float> rows(pairs.size() * n);
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(q * n) + units.begin,
                  units.end - units.begin, 1.0F);
      rows[q * n + static_cast<std::size_t>(pairs[q].plus)] = std::ldexp(1.0F, 120);
      rows[q * n + static_cast<std::size_t>(pairs[q].minus)] = -std::ldexp(1.0F, 120);
    }
    const auto sums = sum_(rows, n_, n, static_cast<int>(pairs.size()));
    if (sums.size() != counts.size()) return InternalError("no sums");
    std::copy(sums.begin(), sums.end(), counts.begin());
    return {};
  }

 private:
  int n_;
  Sum* sum_;
};

// Source: CCCL 3.0, cub/agent/agent_reduce.cuh (a part of a tile: each of 256 threads adds every
// 256th value), cub/warp/specializations/warp_reduce_shfl.cuh (distances 1, 2, 4, 8, 16) and
// cub/block/specializations/block_reduce_warp_reductions.cuh (then the warps, one after the other).
TEST_F(EmulatedCub, AddsAPartOfATileInTheOrderOfItsSources) {
  constexpr int kSize = 600, kThreads = 256;
  PlantedTree planted(kSize);
  int sum = -1;
  for (int warp = 0; warp < kThreads; warp += 32) {
    std::vector<int> sums;
    for (int lane = 0; lane < 32; ++lane)
      sums.push_back(planted.Chain(warp + lane, kSize, kThreads));
    while (sums.size() > 1) {
      for (std::size_t i = 0; i + 1 < sums.size(); i += 2) {
        sums[i / 2] = planted.Add({sums[i], sums[i + 1]});
      }
      sums.resize(sums.size() / 2);
    }
    sum = sum < 0 ? sums[0] : planted.Add({sum, sums[0]});
  }
  ProbeResult result;
  MaskedCub cub(kSize, Sums<float>);
  const Status recorded = RecordTree(Context(), "sum", cub, &result);
  ASSERT_TRUE(recorded.ok()) << recorded.error().ToString();
  ExpectTree(result, "sum", planted);
}

// A block waits for those before it: only in their rising order, one after the other, do all end.
TEST_F(EmulatedCub, MakesPrefixSumsThatAreExact) {
  ::setenv("EMULATED_ORDER", "0", 1);
  for (const int n : {1, 1000, 20'000}) {
    std::vector<float> values(static_cast<std::size_t>(n)), expected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
    std::partial_sum(values.begin(), values.end(), expected.begin());
    const DeviceBuffer in = *device_->Upload(values);
    const DeviceBuffer out = *device_->Allocate(in.bytes());
    const Status scanned = CubInclusiveSum(static_cast<const float*>(in.pointer()),
                                           static_cast<float*>(out.pointer()), n);
    ASSERT_TRUE(scanned.ok()) << scanned.error().ToString();
    EXPECT_TRUE(Read<float>(out, values.size()) == expected) << n;
  }
}

// Whole: ten million values, by blocks that take what those before them have.
TEST(CubProbes, MakePrefixSumsInTheOrderOfTheBlocks) {
  const ProbeResult result = ExpectOk("scan_bits_cuda", {{"EMULATED_ORDER", "0"}});
  EXPECT_EQ(result.bits.size(), 3U);
  EXPECT_TRUE(result.unstable.empty());
}

// About ten minutes of CPU: trees of 10,000 values and sums of 2^25.
TEST(CubProbes, FindTheOrderOfEverySumWithRequest) {
  if (!IsWholeTest()) GTEST_SKIP() << "takes minutes; set RHARNESS_FAULTS";
  const ProbeResult result = ExpectOk("cub_reduce_tree_cuda");
  EXPECT_EQ(result.trees.size(), 6U);
  EXPECT_TRUE(result.unstable.empty());
}

}  // namespace
}  // namespace rharness
