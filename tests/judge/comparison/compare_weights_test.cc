// Recorded checkpoints whose bytes are gone: what digests alone may show.
#include <gtest/gtest.h>

#include "harness/judge/comparison/compare_subjects.h"

namespace rharness {
namespace {

Subject Recorded(const std::string& root, std::vector<TensorDigest> tensors = {}) {
  Subject subject;
  subject.side = {"m.json", SideKind::kManifest, ""};
  subject.weights.push_back({.path = "model.safetensors",
                             .role = "weights",
                             .checkpoint = nullptr,
                             .recorded = std::move(tensors),
                             .recorded_digest = root});
  return subject;
}

Verdict VerdictOf(const Subject& a, const Subject& b) {
  const auto comparison = CompareSubjects(a, b, {}, {.expect_bitwise = true});
  EXPECT_TRUE(comparison.ok()) << comparison.error().ToString();
  return comparison->verdict;
}

TEST(RecordedWeights, AreIdenticalByTheirTensors) {
  const std::vector<TensorDigest> tensors = {{"w", DType::kF32, {2}, std::string(64, 'a')}};
  const Subject a = Recorded(CombineDigests(tensors), tensors);
  EXPECT_EQ(VerdictOf(a, a), Verdict::kIdentical);
  std::vector<TensorDigest> other = tensors;
  other[0].sha256 = std::string(64, 'b');
  EXPECT_EQ(VerdictOf(a, Recorded(CombineDigests(other), other)), Verdict::kDrifted);
}

TEST(RecordedWeights, ThatAreNotFiniteShowNothingHoweverEqual) {
  std::vector<TensorDigest> tensors = {{"w", DType::kF32, {2}, std::string(64, 'a')}};
  const Subject older = Recorded(CombineDigests(tensors), tensors);  // of before they were counted
  tensors[0].non_finite = 2;
  const Subject a = Recorded(CombineDigests(tensors), tensors);
  EXPECT_EQ(VerdictOf(a, a), Verdict::kInconclusive);
  EXPECT_EQ(VerdictOf(older, a), Verdict::kInconclusive);
  const auto comparison = CompareSubjects(a, a, {}, {.expect_bitwise = false});
  EXPECT_EQ(comparison->verdict, Verdict::kInconclusive);
  EXPECT_NE(comparison->headline.find("first w (2 of 2)"), std::string::npos);
}

TEST(RecordedWeights, ThatOneSideStoredTwiceAreLikelyTied) {
  const TensorDigest embed = {"embed", DType::kF32, {2, 2}, std::string(64, 'a')};
  const TensorDigest bias = {"bias", DType::kF32, {2}, std::string(64, 'b')};
  std::vector<TensorDigest> once = {bias, embed}, twice = once;
  twice.push_back({"head", DType::kF32, {2, 2}, embed.sha256});
  twice.push_back({"head_bias", DType::kF32, {2}, bias.sha256});  // may be zeros, like many
  const auto parts = CompareCheckpoints(Recorded(CombineDigests(once), once).weights,
                                        Recorded(CombineDigests(twice), twice).weights, {});
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->front().tied.size(), 1U);
  EXPECT_EQ(parts->front().tied[0].name, "head");
  EXPECT_EQ(parts->front().tied[0].same_as, "embed");
  EXPECT_FALSE(parts->front().tied[0].in_a);
  EXPECT_FALSE(parts->front().difference.bit_equal);
}

TEST(RecordedWeights, WithoutAListOfTensorsAreJudgedByTheirRoots) {
  const Subject a = Recorded(std::string(64, 'a'));
  EXPECT_EQ(VerdictOf(a, a), Verdict::kIdentical);
  EXPECT_EQ(VerdictOf(a, Recorded(std::string(64, 'b'))), Verdict::kDrifted);
}

TEST(RecordedWeights, OfNoTensorShowNothing) {
  const Subject empty = Recorded(CombineDigests({}));
  const auto parts = CompareCheckpoints(empty.weights, empty.weights, {});
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_TRUE(parts->front().difference.vacuous);
  EXPECT_FALSE(parts->front().difference.bit_equal);
  EXPECT_NE(VerdictOf(empty, empty), Verdict::kIdentical);
}

TEST(RecordedWeights, WithoutADigestShowNothing) {
  EXPECT_NE(VerdictOf(Recorded(""), Recorded("")), Verdict::kIdentical);
}

}  // namespace
}  // namespace rharness
