// Faults in copies of data, of checkpoints and of numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/experiments/gameday/planted_evidence.h"
#include "harness/experiments/gameday/planted_files.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PlantedFiles : public testing::Test {
 protected:
  PlantedFiles() : folder_(*ScopedTempDir::Make("rharness-planted-")) {}

  fs::path At(const std::string& name) const { return folder_.path() / name; }
  fs::path Write(const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(At("from"), text).ok());
    return At("from");
  }
  std::string Planted() const {
    const auto text = ReadFile(At("to"));
    return text.ok() ? *text : "";
  }
  Status Rows(FaultKind kind, const std::string& text, const std::string& key = "k") const {
    return PlantInRows(kind, Write(text), At("to"), key);
  }
  Status Tensors(FaultKind kind, const std::string& text, const std::string& key = "k") const {
    return PlantInTensors(kind, Write(text), At("to"), key);
  }

 private:
  ScopedTempDir folder_;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Two tensors, four values and two, of fp32.
std::string Safetensors(const std::vector<float>& values) {
  std::string header =
      R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
  while (header.size() % 8 != 0) header += ' ';
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  return file;
}

int BitsApart(const std::string& a, const std::string& b) {
  int bits = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    bits += std::popcount(static_cast<unsigned>(static_cast<unsigned char>(a[i] ^ b[i])));
  }
  return bits;
}

TEST_F(PlantedFiles, OneRowIsACopyOfAnotherAndTheHeadStays) {
  const std::string text = "x,y\n1,2\n3,4\n5,6\n7,8\n";
  ASSERT_TRUE(Rows(FaultKind::kDataRow, text).ok());
  const auto before = Lines(text);
  const auto after = Lines(Planted());
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0], "x,y");
  int changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    changed += before[i] != after[i];
    EXPECT_NE(std::find(before.begin() + (i > 0), before.end(), after[i]), before.end());
  }
  EXPECT_EQ(changed, 1);
  const std::string first = Planted();
  ASSERT_TRUE(Rows(FaultKind::kDataRow, text).ok());
  EXPECT_EQ(Planted(), first) << "the same again: a game day may be resumed";
}

TEST_F(PlantedFiles, AllRowsAreThereInAnotherOrder) {
  std::string text = "head\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "\n";
  text.pop_back();  // the last line has no end
  ASSERT_TRUE(Rows(FaultKind::kDataOrder, text).ok());
  auto before = Lines(text + "\n");
  auto after = Lines(Planted());
  EXPECT_EQ(after[0], "head");
  EXPECT_NE(after, before);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(after, before);
}

TEST_F(PlantedFiles, WhatHasNoRowsIsNamed) {
  const auto why = [&](const std::string& text) {
    const Status status = Rows(FaultKind::kDataRow, text);
    EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
    return status.error().message;
  };
  EXPECT_THAT(why(std::string("a\0b\nc\nd\ne\nf\n", 11)), HasSubstr("no text"));
  EXPECT_THAT(why("head\n1\n2\n"), HasSubstr("fewer than 4 rows"));
  EXPECT_THAT(why("head\n1\n1\n1\n1\n"), HasSubstr("all alike"));
}

TEST_F(PlantedFiles, OneBitOfOneTensorIsFlipped) {
  const std::string file = Safetensors({1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Tensors(FaultKind::kTensorBit, file, std::to_string(i)).ok());
    EXPECT_EQ(BitsApart(file, Planted()), 1);
    EXPECT_EQ(Planted().substr(0, file.size() - 24), file.substr(0, file.size() - 24));
  }
}

TEST_F(PlantedFiles, OneTensorIsZeroAndOneThatIsZeroAlreadyIsPassedBy) {
  const std::string file = Safetensors({1, 2, 3, 4, 0, 0});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(Tensors(FaultKind::kTensorZero, file, std::to_string(i)).ok());
    EXPECT_EQ(Planted(), Safetensors({0, 0, 0, 0, 0, 0}));
  }
  EXPECT_FALSE(Tensors(FaultKind::kTensorZero, Safetensors({0, 0, 0, 0, 0, 0})).ok());
}

// Expected by hand: bfloat16 keeps 8 bits of the significand.
TEST_F(PlantedFiles, ValuesAreRoundedToTheNearestBfloat16) {
  const float tie_down = 1.0F + 1.0F / 256;       // between 1 and 1 + 1/128: to even, 1
  const float tie_up = 1.0F + 3.0F / 256;         // between 1 + 1/128 and 1 + 2/128: to even, up
  const float above = 1.0F + 1.0F / 256 + 1e-6F;  // nearer to 1 + 1/128
  const float infinite = INFINITY;
  ASSERT_TRUE(
      Tensors(FaultKind::kTensorBf16, Safetensors({1, tie_down, tie_up, above, -0.0F, infinite}))
          .ok());
  EXPECT_EQ(Planted(), Safetensors({1, 1, 1.0F + 2.0F / 128, 1.0F + 1.0F / 128, -0.0F, infinite}));
  const Status status = Tensors(FaultKind::kTensorBf16, Safetensors({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
}

TEST_F(PlantedFiles, OtherFormatsAreNamed) {
  for (const std::string& text : {std::string("PK"), std::string(64, '\xff'), std::string()}) {
    const Status status = Tensors(FaultKind::kTensorBit, text);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(status.error().message, HasSubstr("no safetensors"));
  }
}

Manifest WithLoss(const std::string& run_id, double value,
                  MetricDirection direction = MetricDirection::kLower) {
  Manifest run;
  run.run_id = run_id;
  run.metrics = {{.name = "loss", .value = value, .direction = direction}};
  run.curves = {{.name = "train_loss", .steps = {1, 2}, .values = {4.0, 2.0}}};
  return run;
}

Fault FaultOf(FaultKind kind, const std::string& subject, double size) {
  return {.kind = kind, .name = "f", .subject = subject, .size = size};
}

TEST(PlantedNumbers, AMetricIsWorseByTheSpreadOfTheOthers) {
  // Standard deviation of 1, 2, 3: exactly 1.
  const std::vector<Manifest> others = {WithLoss("a", 1), WithLoss("b", 2), WithLoss("c", 3)};
  Evidence evidence;
  evidence.metrics.metrics = {{"loss", 10.0}};
  const Fault fault = FaultOf(FaultKind::kMetric, "loss", 2.0);
  ASSERT_TRUE(PlantInNumbers(fault, WithLoss("own", 10), others, &evidence).ok());
  EXPECT_EQ(evidence.metrics.metrics.at("loss"), 12.0);
  ASSERT_TRUE(
      PlantInNumbers(fault, WithLoss("own", 10, MetricDirection::kHigher), others, &evidence).ok());
  EXPECT_EQ(evidence.metrics.metrics.at("loss"), 10.0);
  const auto why = PlantInNumbers(fault, WithLoss("own", 10), {others[0], others[1]}, &evidence);
  EXPECT_EQ(why.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(why.error().message, HasSubstr("2 other runs"));
  EXPECT_FALSE(
      PlantInNumbers(FaultOf(FaultKind::kMetric, "none", 1), WithLoss("own", 1), others, &evidence)
          .ok());
}

TEST(PlantedNumbers, ACurveIsScaledAsAWhole) {
  Evidence evidence;
  evidence.metrics.curves = {{.name = "train_loss", .steps = {1, 2}, .values = {4.0, 2.0}}};
  ASSERT_TRUE(PlantInNumbers(FaultOf(FaultKind::kCurve, "train_loss", 1.5), WithLoss("own", 1), {},
                             &evidence)
                  .ok());
  EXPECT_EQ(evidence.metrics.curves[0].values, (std::vector<double>{6.0, 3.0}));
  EXPECT_FALSE(
      PlantInNumbers(FaultOf(FaultKind::kCurve, "other", 2), WithLoss("own", 1), {}, &evidence)
          .ok());
}

TEST(PlantedNumbers, ARerunStandsInForTheRecord) {
  const Manifest run = ExampleManifest();
  Evidence rerun = ExampleEvidence();
  const Manifest recorded = AsRecorded(run, rerun, "/day");
  int metrics = 0;
  for (const Metric& metric : recorded.metrics) {
    const auto seen = rerun.metrics.metrics.find(metric.name);
    if (seen == rerun.metrics.metrics.end() || std::isnan(seen->second)) continue;
    EXPECT_EQ(metric.value, seen->second);
    ++metrics;
  }
  EXPECT_GT(metrics, 0);
  for (const Artifact& seen : rerun.artifacts) {
    const auto as = std::ranges::find(recorded.artifacts, seen.path, &Artifact::path);
    if (as == recorded.artifacts.end()) continue;
    EXPECT_EQ(as->tensor_digest, seen.tensor_digest);
    EXPECT_EQ(as->location, seen.location.empty() ? "" : "/day/" + seen.location);
  }
  EXPECT_TRUE(SameOutputs(rerun, rerun));
  Evidence other = rerun;
  other.metrics.metrics.begin()->second += 1.0;
  EXPECT_FALSE(SameOutputs(rerun, other));
}

}  // namespace
}  // namespace rharness
