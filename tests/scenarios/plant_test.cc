// Each planted fault does what it is documented to do, and leaves the rest of the run alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sanitized.h"
#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

namespace fs = std::filesystem;

class PlantedFault : public testing::Test {
 protected:
  static int Train(const RunFolder& folder, const std::string& plant, const Limits& limits = {}) {
    return RunOn(folder, DigitsCsv(), plant, limits);
  }

  static int RunOn(const RunFolder& folder, const std::string& data, const std::string& plant,
                   const Limits& limits = {}) {
    std::vector<std::string> argv = {BuiltProgram("digits_portable"), "--data", data, "--epochs",
                                     "2"};
    if (!plant.empty()) argv.insert(argv.end(), {"--plant", plant});
    return RunProgram(folder, argv, {}, limits);
  }

  void SetUp() override { ASSERT_TRUE(Succeeded(Train(healthy_, ""))); }

  std::string HealthyModel() const { return healthy_.Read("model.safetensors"); }
  std::string HealthyMetrics() const { return healthy_.Read("metrics.json"); }

  RunFolder healthy_;
  RunFolder run_;
};

TEST_F(PlantedFault, SeedNotPropagatedGivesOtherWeightsEachTime) {
  const RunFolder second;
  ASSERT_TRUE(Succeeded(Train(run_, "seed-not-propagated")));
  ASSERT_TRUE(Succeeded(Train(second, "seed-not-propagated")));
  EXPECT_NE(run_.Read("model.safetensors"), HealthyModel());
  EXPECT_NE(run_.Read("model.safetensors"), second.Read("model.safetensors"));
}

TEST_F(PlantedFault, NanMetricLeavesTheWeightsAlone) {
  ASSERT_TRUE(Succeeded(Train(run_, "nan-metric")));
  EXPECT_EQ(run_.Read("model.safetensors"), HealthyModel());
  EXPECT_NE(run_.Read("metrics.json").find("\"test_loss\": \"nan\""), std::string::npos);
  EXPECT_EQ(MetricNamed(run_.Read("metrics.json"), "test_accuracy"),
            MetricNamed(HealthyMetrics(), "test_accuracy"));
}

TEST_F(PlantedFault, FlipBitChangesOneBitOfTheTensors) {
  ASSERT_TRUE(Succeeded(Train(run_, "flip-bit")));
  const std::string expected = TensorBytes(HealthyModel());
  const std::string actual = TensorBytes(run_.Read("model.safetensors"));
  ASSERT_EQ(actual.size(), expected.size());
  int bits = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    bits += std::popcount(static_cast<unsigned char>(actual[i] ^ expected[i]));
  }
  EXPECT_EQ(bits, 1);
  EXPECT_EQ(run_.Read("metrics.json"), HealthyMetrics());
}

TEST_F(PlantedFault, TimestampMetadataChangesTheHeaderOnly) {
  ASSERT_TRUE(Succeeded(Train(run_, "timestamp-metadata")));
  const std::string model = run_.Read("model.safetensors");
  EXPECT_NE(model, HealthyModel());
  EXPECT_NE(model.find("\"__metadata__\":{\"created_unix_nanoseconds\":\""), std::string::npos);
  EXPECT_EQ(TensorBytes(model), TensorBytes(HealthyModel()));
  EXPECT_EQ(run_.Read("metrics.json"), HealthyMetrics());
}

TEST_F(PlantedFault, TruncatedCheckpointIsAPrefixOfTheWholeOne) {
  ASSERT_TRUE(Succeeded(Train(run_, "truncated-checkpoint")));
  const std::string model = run_.Read("model.safetensors");
  EXPECT_GT(model.size(), HealthyModel().size() / 2);
  EXPECT_LT(model.size(), HealthyModel().size());
  EXPECT_TRUE(HealthyModel().starts_with(model));
}

TEST_F(PlantedFault, HangNeverEndsByItself) {
  const int status = Train(run_, "hang", Limits{.seconds = 2});
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGALRM);
  EXPECT_EQ(run_.Read("metrics.json"), "");
}

TEST_F(PlantedFault, CrashIsASegmentationFault) {
  const int status = Train(run_, "crash");
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_EQ(run_.Read("metrics.json"), "");
}

TEST_F(PlantedFault, OomTakesMemoryUntilItIsRefused) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow memory is beyond every limit";
  const int status = Train(run_, "oom", Limits{.memory_bytes = std::uint64_t{256} << 20});
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(run_.Read("stderr"), "out of memory\n");
}

TEST_F(PlantedFault, FillDiskWritesManyFilesAndOneThatGrowsUntilItIsStopped) {
  const int status = Train(run_, "fill-disk", Limits{.file_bytes = std::uint64_t{32} << 20});
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGXFSZ);
  EXPECT_EQ(fs::file_size(run_.path() / "fill" / "big.bin"), std::uint64_t{32} << 20);
  EXPECT_TRUE(fs::exists(run_.path() / "fill" / "000007.bin"));
}

TEST_F(PlantedFault, GrandchildOutlivesARunThatSucceeds) {
  ASSERT_TRUE(Succeeded(Train(run_, "grandchild")));
  EXPECT_EQ(run_.Read("model.safetensors"), HealthyModel());
  const pid_t grandchild = std::atoi(run_.Read("grandchild.pid").c_str());
  ASSERT_GT(grandchild, 1);
  EXPECT_EQ(kill(grandchild, SIGKILL), 0) << "it was no longer there";
}

// The digits in shards of 225 lines. Their creation order is neither ascending nor descending, so
// that few file systems list them by name.
void WriteShards(const fs::path& folder) {
  std::ifstream digits(DigitsCsv());
  std::vector<std::string> shards(8);
  std::size_t number = 0;
  for (std::string line; std::getline(digits, line); ++number) {
    shards[number / 225] += line + "\n";
  }
  fs::create_directories(folder);
  for (const std::size_t shard : {3, 0, 6, 1, 7, 2, 5, 4}) {
    std::ofstream(folder / ("shard-" + std::to_string(shard) + ".csv")) << shards[shard];
  }
}

TEST_F(PlantedFault, ShardsInTheOrderOfTheirNamesAreTheWholeFile) {
  WriteShards(run_.path() / "shards");
  ASSERT_TRUE(Succeeded(RunOn(run_, (run_.path() / "shards").string(), "")));
  EXPECT_EQ(run_.Read("model.safetensors"), HealthyModel());
  EXPECT_EQ(run_.Read("metrics.json"), HealthyMetrics());
}

TEST_F(PlantedFault, DirectoryOrderTrainsOnShardsAsTheyAreListed) {
  const fs::path shards = run_.path() / "shards";
  WriteShards(shards);
  std::vector<fs::path> listed;
  for (const fs::directory_entry& entry : fs::directory_iterator(shards)) {
    listed.push_back(entry.path());
  }
  ASSERT_EQ(listed.size(), 8U);
  if (std::is_sorted(listed.begin(), listed.end())) {
    GTEST_SKIP() << "this file system lists the shards by name";
  }
  ASSERT_TRUE(Succeeded(RunOn(run_, shards.string(), "directory-order")));
  EXPECT_NE(run_.Read("model.safetensors"), HealthyModel());
}

}  // namespace
}  // namespace rharness::scenarios
