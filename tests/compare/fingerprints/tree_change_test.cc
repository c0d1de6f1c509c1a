// What changed of orders, their arithmetic and their regions, by fingerprints written by hand.
#include "compare/fingerprints/tree_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/fingerprints/fingerprint_diff.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kMap[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
constexpr char kOtherMap[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

std::string Detail(const std::string& products, int predicted, const std::string& map = kMap,
                   int outputs = 40, const std::string& regions = "[]") {
  return R"({"arithmetic": {"name": ")" + products + R"(; sums rounded", "products": ")" +
         products.substr(9) + R"(", "sums": "31t"}, "replayed": {"inputs": 200, "predicted": )" +
         std::to_string(predicted) + R"(}, "outputs": )" + std::to_string(outputs) +
         R"(, "all_outputs": 60, "regions_sha256": ")" + map + R"(", "regions": )" + regions + "}";
}

std::string Region(const SumTree& tree, const std::string& products) {
  return R"([{"row": 8, "column": 0, "name": ")" + NameOf(tree) +
         R"(", "leaves": 32, "sha256": ")" + tree.Sha256() + R"(", "canonical": ")" +
         tree.Canonical() + R"(", "outputs": 20, "arithmetic": {"name": ")" + products +
         R"(", "products": ")" + products +
         R"(", "sums": "31t"}, "replayed": {"inputs": 200, "predicted": 200}}])";
}

FingerprintBuilder Revealed(const std::string& detail) {
  FingerprintBuilder build;
  build.Probe("gemm_tree_fp32").Tree("10x6x32", PairwiseTree(32)).Bits("10x6x32", "bits");
  if (!detail.empty()) build.TreeDetail("10x6x32", detail);
  return build;
}

FingerprintDifference Diff(const std::string& before, const std::string& after) {
  return DiffFingerprints(Revealed(before).Parse("a.json"), Revealed(after).Parse("b.json"));
}

void ExpectChange(const std::string& before, const std::string& after, BehaviourChange change,
                  const std::string& words) {
  const FingerprintDifference difference = Diff(before, after);
  ASSERT_EQ(difference.probes.size(), 1U) << words;
  EXPECT_EQ(BehaviourChangeName(difference.probes[0].change), BehaviourChangeName(change));
  EXPECT_THAT(difference.probes[0].sentence, HasSubstr(words));
  EXPECT_EQ(difference.revealed_anew, 0);
}

TEST(TreeChange, SeesNothingWhereNothingChanged) {
  const std::string detail =
      Detail("products fused", 200, kMap, 40, Region(SequentialTree(32), "r"));
  EXPECT_EQ(Diff(detail, detail).summary, "nothing changed in what 1 probe saw");
}

TEST(TreeChange, TellsOtherArithmeticOfTheSameOrder) {
  ExpectChange(Detail("products fused", 200), Detail("products rounded", 200),
               BehaviourChange::kRounding,
               "the same order with other arithmetic: was products fused; sums rounded, is "
               "products rounded; sums rounded in 1 of 1 case");
}

TEST(TreeChange, TellsInputsThatAreNoLongerPredicted) {
  ExpectChange(Detail("products fused", 200), Detail("products fused", 60),
               BehaviourChange::kRounding,
               "the same order predicts the bits of 60 of 200 inputs, was 200");
}

TEST(TreeChange, TellsABorderThatMoved) {
  ExpectChange(Detail("products fused", 200), Detail("products fused", 200, kOtherMap, 30),
               BehaviourChange::kKernelRewritten,
               "which is that of 30 of 60 outputs, was 40 of 60");
}

TEST(TreeChange, TellsTheRegionThatChanged) {
  const auto with = [](const SumTree& tree, const std::string& products) {
    return Detail("products fused", 200, kMap, 40, Region(tree, products));
  };
  ExpectChange(with(SequentialTree(32), "r"), with(PairwiseTree(32), "r"),
               BehaviourChange::kKernelRewritten,
               "from row 8 column 0 on: was sequential, is pairwise");
  ExpectChange(with(SequentialTree(32), "32r"), with(SequentialTree(32), "32f"),
               BehaviourChange::kRounding,
               "from row 8 column 0 on: the same order with other arithmetic: was 32r, is 32f");
}

// Files of older programs say the order alone.
TEST(TreeChange, AlarmsOfNothingThatOneSideDoesNotSay) {
  const std::string detail = Detail("products rounded", 60);
  for (const auto& [before, after] : {std::pair(std::string(), detail), {detail, std::string()}}) {
    const FingerprintDifference difference = Diff(before, after);
    EXPECT_TRUE(difference.probes.empty()) << difference.probes.front().sentence;
    EXPECT_EQ(difference.revealed_anew, 1);
    EXPECT_THAT(difference.summary,
                EndsWith("; arithmetic and regions of 1 tree are newly revealed, not compared"));
  }
}

TEST(TreeChange, IsReadStrictly) {
  for (const char* detail :
       {R"({"arithmetic": {"name": "a"}})", R"({"replayed": {"inputs": 0, "predicted": 0}})",
        R"({"replayed": {"inputs": 5, "predicted": 6}})", R"({"regions_sha256": "12"})",
        R"({"regions": [{"row": 1}]})", R"({"regions": [1]})", R"({"row": "x"})",
        R"({"arithmetic": {"name": "a", "sums": "1t", "more": 1}})", R"({"covers": 1})"}) {
    EXPECT_FALSE(ParseFingerprint(Revealed(detail).ToJson(), "f.json").ok()) << detail;
  }
}

TEST(TreeChange, NamesAProbeThatMustBeAskedForByName) {
  FingerprintBuilder before = Revealed("");
  before.Probe("nvrtc_ptx", "compiler").Bits("axpy", "ptx");
  const Json after =
      Revealed("").ToJson().Set("context", *ParseJson(R"({"by_name": ["nvrtc_ptx"]})", "context"));
  const FingerprintDifference difference =
      DiffFingerprints(before.Parse(), ParseFingerprint(after, "b.json").value());
  ASSERT_EQ(difference.probes.size(), 1U);
  EXPECT_THAT(difference.probes[0].sentence,
              EndsWith("is not probed; it runs by name alone: --probe nvrtc_ptx"));
}

// A choice that changed in one of two cases is not one of both.
TEST(TreeChange, CountsTheCasesOfTheVeryChoiceThatChanged) {
  const auto build = [](const char* core, const char* classes) {
    FingerprintBuilder made;
    made.Probe("batch_invariance")
        .Choice("blas", std::string(R"({"core": ")") + core + R"("})")
        .Choice("rows of equal bits", std::string(R"({"classes": ")") + classes + R"("})");
    return made.Parse();
  };
  const FingerprintDifference difference =
      DiffFingerprints(build("Haswell", "1-64"), build("Nehalem", "1-4"));
  ASSERT_EQ(difference.probes.size(), 1U);
  EXPECT_EQ(difference.probes[0].sentence,
            "batch_invariance: another algorithm is chosen: core Haswell → Nehalem in 1 of 2 cases "
            "(first: blas), and another choice in 1 more (first: rows of equal bits: classes 1-64 "
            "→ 1-4)");
}

}  // namespace
}  // namespace rharness
