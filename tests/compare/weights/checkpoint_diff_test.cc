// Checkpoints paired, streamed by threads and grouped; vacuity seen; digests compared.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <random>

#include "compare/weights/tensor_diff.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

constexpr std::size_t kRangeElements = 64 * kReadBlockBytes / 4;  // of fp32

class CheckpointDiff : public CheckpointFiles {
 protected:
  CheckpointDifference Diff(const std::vector<TestTensor>& a, const std::vector<TestTensor>& b,
                            int threads = 0) {
    const auto difference = DiffCheckpoints(*MustOpen(FileOf(a), "a.safetensors"),
                                            *MustOpen(FileOf(b), "b.safetensors"), threads);
    EXPECT_TRUE(difference.ok());
    return *difference;
  }
};

TestTensor Floats(const std::string& name, const std::vector<float>& values) {
  return {name, "F32", "[" + std::to_string(values.size()) + "]", BytesOf(values)};
}

TEST_F(CheckpointDiff, IsBitEqualWhateverTheOrderOfTensors) {
  const TestTensor a = Floats("a", {1, 2}), b = Floats("b", {3, std::nanf("")});
  const CheckpointDifference difference = Diff({a, b}, {b, a});
  EXPECT_TRUE(difference.bit_equal);
  EXPECT_FALSE(difference.vacuous);
  EXPECT_EQ(difference.compared, 2u);
}

TEST_F(CheckpointDiff, ReportsEveryKindOfDifference) {
  const CheckpointDifference difference = Diff({Floats("a", {1, 2}),
                                                Floats("only a", {1}),
                                                Floats("s", {1, 2}),
                                                Floats("z", {5, 5}),
                                                {"d", "U8", "[4]", "1234"}},
                                               {Floats("a", {1, 2}),
                                                Floats("only b", {1}),
                                                Floats("s", {1, 2, 3}),
                                                Floats("z", {5, 6}),
                                                {"d", "I8", "[4]", "1234"}});
  EXPECT_FALSE(difference.bit_equal);
  EXPECT_EQ(difference.only_a, std::vector<std::string>{"only a"});
  EXPECT_EQ(difference.only_b, std::vector<std::string>{"only b"});
  EXPECT_EQ(difference.shape_or_dtype, (std::vector<std::string>{"d", "s"}));
  EXPECT_EQ(difference.compared, 2u);
  ASSERT_EQ(difference.differing.size(), 1u);
  EXPECT_EQ(difference.differing[0].name, "z");
  EXPECT_EQ(difference.differing[0].elements, 2u);
  EXPECT_EQ(difference.differing[0].first_index, 1u);
  EXPECT_EQ(difference.differing[0].max_abs, 1.0);
}

TEST_F(CheckpointDiff, IsNotEqualWhenOnlyOneSideHasATensor) {
  const TestTensor a = Floats("a", {1}), b = Floats("b", {1});
  EXPECT_FALSE(Diff({a, b}, {a}).bit_equal);
  EXPECT_FALSE(Diff({a}, {a, b}).bit_equal);
  EXPECT_FALSE(Diff({a}, {b}).bit_equal);
  EXPECT_EQ(Diff({a}, {b}).compared, 0u);
}

TEST_F(CheckpointDiff, IsVacuousWithoutElements) {
  const TestTensor empty = {"e", "F32", "[0,7]", ""};
  const std::vector<std::vector<TestTensor>> nothing = {{}, {empty}};
  for (const auto& a : nothing) {
    for (const auto& b : nothing) {
      EXPECT_TRUE(Diff(a, b).vacuous);
      EXPECT_FALSE(Diff(a, b).bit_equal);
    }
    EXPECT_TRUE(Diff(a, {Floats("a", {1})}).vacuous);
    EXPECT_TRUE(Diff({Floats("a", {1})}, a).vacuous);
  }
  EXPECT_TRUE(Diff({empty, Floats("a", {1})}, {empty, Floats("a", {1})}).bit_equal);
}

TEST_F(CheckpointDiff, GivesTheSameResultForAnyNumberOfThreads) {
  // One tensor of several ranges and one of sub-byte elements across blocks, each with differences.
  constexpr std::size_t kSize = 130 * kReadBlockBytes + 12;
  std::string large(kSize, 'a'), packed(3 * kReadBlockBytes, '\0');
  std::vector<TestTensor> a = {
      {"large", "U8", "[" + std::to_string(kSize) + "]", large},
      {"packed", "F6_E2M3", "[" + std::to_string(packed.size() / 3 * 4) + "]", packed}};
  std::vector<TestTensor> b = a;
  b[0].bytes[70 * kReadBlockBytes + 5] = 'c';
  b[0].bytes[kSize - 1] = 'q';
  b[1].bytes[2 * kReadBlockBytes + 1] = '\x10';  // bit 12 of a group: its third element
  for (const int threads : {1, 2, 5}) {
    const CheckpointDifference difference = Diff(a, b, threads);
    ASSERT_EQ(difference.differing.size(), 2u);
    EXPECT_EQ(difference.differing[0].differing, 2u);
    EXPECT_EQ(difference.differing[0].first_index, 70 * kReadBlockBytes + 5);
    EXPECT_EQ(difference.differing[0].max_abs, 16.0);
    EXPECT_EQ(difference.differing[1].differing, 1u);
    EXPECT_EQ(difference.differing[1].first_index, 2 * kReadBlockBytes / 3 * 4 + 2);
  }
}

// All numbers of a difference as bits, so that NaN equals itself.
std::vector<std::uint64_t> BitsOf(const TensorDifference& difference) {
  std::vector<std::uint64_t> bits = {difference.differing,   difference.first_index,
                                     difference.max_ulp,     difference.non_finite_changes,
                                     difference.nan_changes, difference.zero_sign_changes};
  bits.insert(bits.end(), difference.ulp_histogram.begin(), difference.ulp_histogram.end());
  for (const double number : {difference.max_abs, difference.max_rel, difference.norm_a,
                              difference.norm_b, difference.norm_difference, difference.cosine}) {
    bits.push_back(std::bit_cast<std::uint64_t>(number));
  }
  return bits;
}

TEST_F(CheckpointDiff, AddsInOneOrderWhateverTheThreads) {
  // Four ranges and a rest of fp32, and smaller tensors around it; sums that round at every step.
  std::mt19937 random(21);
  std::vector<TestTensor> a, b;
  for (const std::size_t elements : {7u, 13u * 1000u * 1000u + 5u, 100003u}) {
    std::vector<float> x(elements), y;
    for (float& value : x) value = static_cast<float>(random()) * 0x1p-32f - 0.5f;
    for (const float value : x) y.push_back(value * (1.0f + 0x1p-20f));
    a.push_back(Floats("w" + std::to_string(elements), x));
    b.push_back(Floats("w" + std::to_string(elements), y));
  }
  const auto file_a = MustOpen(FileOf(a), "a.safetensors");
  const auto file_b = MustOpen(FileOf(b), "b.safetensors");
  const CheckpointDifference one = DiffCheckpoints(*file_a, *file_b, 1).value();
  ASSERT_EQ(one.differing.size(), 3u);
  EXPECT_NEAR(one.differing[1].norm_a, std::sqrt(13e6 / 12), 1.0) << "uniform: variance 1/12";
  for (int threads = 2; threads <= 8; ++threads) {
    const CheckpointDifference several = DiffCheckpoints(*file_a, *file_b, threads).value();
    ASSERT_EQ(several.differing.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(BitsOf(several.differing[i]), BitsOf(one.differing[i])) << threads;
    }
  }
}

TEST_F(CheckpointDiff, MeasuresLikeDiffTensors) {
  std::mt19937 random(22);
  std::vector<float> x(kRangeElements + 1001), y;
  for (float& value : x) value = static_cast<float>(random()) * 0x1p-32f;
  for (const float value : x) y.push_back(value + 0x1p-24f * static_cast<float>(random() % 3));
  const CheckpointDifference difference = Diff({Floats("w", x)}, {Floats("w", y)}, 2);
  ASSERT_EQ(difference.differing.size(), 1u);
  TensorInfo info;
  info.elements = x.size();
  info.size_bytes = 4 * x.size();
  EXPECT_EQ(BitsOf(difference.differing[0]),
            BitsOf(DiffTensors(info, std::as_bytes(std::span(x)), std::as_bytes(std::span(y)))));
}

TEST_F(CheckpointDiff, GroupsAllComparedTensorsByLayer) {
  const CheckpointDifference difference =
      Diff({Floats("l.2.w", {3, 4}), Floats("l.10.w", {3, 4}), Floats("l.10.b", {1, 1, 1}),
            Floats("l.2.only", {1})},
           {Floats("l.2.w", {3, 4}), Floats("l.10.w", {3, 4.5}), Floats("l.10.b", {1, 1, 1})});
  EXPECT_EQ(difference.elements, 7u);
  ASSERT_EQ(difference.groups.size(), 2u);
  EXPECT_EQ(difference.groups[0].group, "l.2");
  EXPECT_EQ(difference.groups[0].tensors, 1u);
  EXPECT_EQ(difference.groups[0].differing, 0u);
  EXPECT_EQ(difference.groups[1].group, "l.10");
  EXPECT_EQ(difference.groups[1].tensors, 2u);
  EXPECT_EQ(difference.groups[1].differing_tensors, 1u);
  EXPECT_EQ(difference.groups[1].elements, 5u);
  EXPECT_EQ(difference.groups[1].differing, 1u);
  EXPECT_EQ(difference.groups[1].max_abs, 0.5);
  EXPECT_EQ(difference.groups[1].relative_norm, 0.1);
}

// One tensor of one byte, which is 1 when it is read for the first time and 0 afterwards.
class FickleCheckpoint : public Checkpoint {
 public:
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  Status Read(std::size_t, std::uint64_t, std::span<std::byte> out) const override {
    out[0] = std::byte{reads_++ == 0};
    return {};
  }
  Status CheckUnchanged() const override { return {}; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return metadata_;
  }
  const std::vector<UnreadPart>& unread() const override { return NothingUnread(); }

 private:
  std::vector<TensorInfo> tensors_ = {{"w", DType::kU8, {1}, 1, 1}};
  std::vector<std::pair<std::string, std::string>> metadata_;
  mutable int reads_ = 0;
};

TEST_F(CheckpointDiff, FailsWhenADifferenceGoesAwayMeanwhile) {
  const auto zero = MustOpen(FileOf({{"w", "U8", "[1]", std::string(1, '\0')}}));
  const auto difference = DiffCheckpoints(FickleCheckpoint(), *zero, 1);
  ASSERT_FALSE(difference.ok());
  EXPECT_EQ(difference.error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(difference.error().where, "w");
}

TEST_F(CheckpointDiff, FailsWhenAFileShrinksMeanwhile) {
  const std::string content = FileOf({{"w", "U8", "[1000]", std::string(1000, 'x')}});
  const auto path = Write(content, "a.safetensors");
  const auto a = OpenCheckpoint(path);
  const auto b = MustOpen(content, "b.safetensors");
  ASSERT_TRUE(a.ok());
  ASSERT_EQ(::truncate(path.c_str(), 500), 0);
  const auto difference = DiffCheckpoints(**a, *b);
  ASSERT_FALSE(difference.ok());
  EXPECT_EQ(difference.error().code, ErrorCode::kIntegrity);
  EXPECT_TRUE(difference.error().where.ends_with("a.safetensors: byte 500"));
}

TEST(DigestDiff, NamesTheTensorsWhoseLeavesDiffer) {
  const std::vector<TensorDigest> a = {{"w", DType::kF32, {2}, "11"},
                                       {"b", DType::kF32, {2}, "22"},
                                       {"s", DType::kF32, {2}, "33"},
                                       {"x", DType::kF32, {2}, "44"}};
  const std::vector<TensorDigest> b = {{"b", DType::kF32, {2}, "22"},
                                       {"w", DType::kF32, {2}, "99"},
                                       {"s", DType::kF32, {1, 2}, "33"},
                                       {"y", DType::kF32, {2}, "44"}};
  const CheckpointDifference difference = DiffDigests(a, b);
  EXPECT_FALSE(difference.bit_equal);
  EXPECT_EQ(difference.compared, 2u);
  EXPECT_EQ(difference.only_a, std::vector<std::string>{"x"});
  EXPECT_EQ(difference.only_b, std::vector<std::string>{"y"});
  EXPECT_EQ(difference.shape_or_dtype, std::vector<std::string>{"s"});
  ASSERT_EQ(difference.differing.size(), 1u);
  EXPECT_EQ(difference.differing[0].name, "w");
  EXPECT_EQ(difference.differing[0].shape, std::vector<std::uint64_t>{2});
  EXPECT_EQ(difference.differing[0].elements, 0u);
  EXPECT_TRUE(std::isnan(difference.differing[0].max_abs));
  EXPECT_TRUE(std::isnan(difference.differing[0].max_rel));
  EXPECT_TRUE(std::isnan(difference.differing[0].norm_a));
  EXPECT_TRUE(std::isnan(difference.differing[0].cosine));
  ASSERT_EQ(difference.groups.size(), 2u);
  EXPECT_EQ(difference.groups[0].differing_tensors, 0u);
  EXPECT_EQ(difference.groups[1].group, "w");
  EXPECT_EQ(difference.groups[1].differing_tensors, 1u);
  EXPECT_TRUE(std::isnan(difference.groups[1].relative_norm));
  EXPECT_TRUE(DiffDigests(a, a).bit_equal);
}

// Lightning names the scores of its best checkpoints by their paths, which hold the run's folder.
TEST(DigestDiff, PairsWhatIsNamedByThePathOfACheckpoint) {
  const std::string member = "callbacks.ModelCheckpoint{'monitor': 'val_loss'}.best_k_models.";
  const std::vector<TensorDigest> a = {
      {member + "/one/logs/version_1/epoch=1.ckpt", DType::kF32, {}, "11"},
      {member + "/one/logs/version_1/epoch=2.ckpt", DType::kF32, {}, "22"},
      {"w", DType::kF32, {2}, "33"}};
  std::vector<TensorDigest> b = {{member + "logs/version_0/epoch=1.ckpt", DType::kF32, {}, "11"},
                                 {member + "logs/version_0/epoch=2.ckpt", DType::kF32, {}, "22"},
                                 {"w", DType::kF32, {2}, "33"}};
  EXPECT_TRUE(DiffDigests(a, b).bit_equal);
  EXPECT_EQ(DiffDigests(a, b).compared, 3u);
  b[1].sha256 = "23";
  EXPECT_EQ(DiffDigests(a, b).differing.at(0).name, a[1].name);
  b[1].name = member + "logs/version_0/epoch=3.ckpt";
  EXPECT_EQ(DiffDigests(a, b).only_b, std::vector<std::string>{b[1].name});
  // Two of one side by one file's name are not told apart.
  b[1].name = member + "other/epoch=1.ckpt";
  EXPECT_EQ(DiffDigests(a, b).only_a.size(), 2u);
  // Other names with folders are names.
  EXPECT_FALSE(
      DiffDigests({{"a/w", DType::kF32, {2}, "11"}}, {{"b/w", DType::kF32, {2}, "11"}}).bit_equal);
}

TEST(DigestDiff, IsVacuousWithoutElements) {
  const std::vector<TensorDigest> some = {{"w", DType::kF32, {}, "11"}};
  const std::vector<TensorDigest> empty = {{"w", DType::kF32, {0}, "11"}};
  EXPECT_TRUE(DiffDigests({}, {}).vacuous);
  EXPECT_FALSE(DiffDigests({}, {}).bit_equal);
  EXPECT_TRUE(DiffDigests(some, {}).vacuous);
  EXPECT_TRUE(DiffDigests(empty, empty).vacuous);
  EXPECT_FALSE(DiffDigests(empty, empty).bit_equal);
  EXPECT_FALSE(DiffDigests(some, some).vacuous);
}

}  // namespace
}  // namespace rharness
