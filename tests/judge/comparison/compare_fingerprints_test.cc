// Fingerprints in `rharness compare`: their stacks as facts, their probes as what decides.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/judge/comparison/compare_subjects.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

Subject SubjectOf(const FingerprintBuilder& build, const std::string& path) {
  Subject subject;
  subject.side = {path, SideKind::kFingerprint, ""};
  subject.fingerprint = build.Parse(path);
  subject.facts = FactsOfFingerprint(*subject.fingerprint);
  return subject;
}

Comparison Compare(const FingerprintBuilder& a, const FingerprintBuilder& b) {
  return *CompareSubjects(SubjectOf(a, "a.json"), SubjectOf(b, "b.json"), {}, {});
}

FingerprintBuilder Rounded() {
  return SampleStack().Probe("math_bits", "math").Bits("expf", "other");
}

TEST(CompareFingerprints, OtherThreadsAreNoDriftAndAnotherProcessorsNameIsIdentical) {
  const auto blas = [](const std::string& choice, const std::string& bits) {
    FingerprintBuilder build;
    build.Probe("gemm_bits")
        .Choice("blas", choice)
        .Bits("100x100x100", bits)
        .Bits("100x100x100 threads 1", "one");
    return build;
  };
  const auto two = blas(R"({"core": "Haswell", "threads": 2})", "a");
  const Comparison threads = Compare(two, blas(R"({"core": "Haswell", "threads": 4})", "b"));
  EXPECT_EQ(threads.verdict, Verdict::kInconclusive);
  EXPECT_EQ(threads.headline, "1 of 1 probes ran with different parameters, and so show nothing");
  EXPECT_EQ(Compare(two, blas(R"({"core": "Zen", "threads": 2})", "a")).verdict,
            Verdict::kIdentical);
  EXPECT_EQ(Compare(two, blas(R"({"core": "Zen", "threads": 2})", "b")).verdict, Verdict::kDrifted);
}

TEST(FactsOfFingerprint, HaveTheKeysThatManifestsUse) {
  Fingerprint fingerprint;
  fingerprint.stack = {{"libraries.cublas.version", "13.1"}, {"environment.TZ", "UTC"}};
  const std::vector<Fact> facts = FactsOfFingerprint(fingerprint);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].key, "variable.TZ");
  EXPECT_EQ(facts[1].key, "software.cublas.version");
}

TEST(FactsOfFingerprint, CompareNoSecretsOfTwoKeys) {
  const auto of = [](const std::string& value) {
    Fingerprint fingerprint;
    fingerprint.stack = {{"environment.JAX_URL", value}, {"environment.TZ", "UTC"}};
    return FactsOfFingerprint(fingerprint);
  };
  const auto state = [&](const std::string& a, const std::string& b) {
    return CompareFacts(of(a), of(b))[2].state;
  };
  EXPECT_EQ(state("withheld:hmac-sha256:1:aa", "withheld:hmac-sha256:1:aa"), LayerState::kSame);
  EXPECT_EQ(state("withheld:hmac-sha256:1:aa", "withheld:hmac-sha256:2:bb"),
            LayerState::kPartlyKnown);
  EXPECT_EQ(state("withheld:redacted", "withheld:redacted"), LayerState::kPartlyKnown);
}

TEST(CompareFingerprints, AreIdenticalWhateverElseTheStackIs) {
  const Comparison same = Compare(SampleStack(), SampleStack().Stack("driver", "590"));
  EXPECT_EQ(same.verdict, Verdict::kIdentical) << same.headline;
  EXPECT_NE(same.headline.find("nothing changed"), std::string::npos) << same.headline;
  ASSERT_EQ(same.findings.size(), 2U);
  EXPECT_TRUE(same.findings[0].decisive);
  EXPECT_FALSE(same.findings[1].decisive);
  EXPECT_EQ(same.findings[1].message.find("Identical, although the driver went from"), 0U)
      << same.findings[1].message;
  const auto differs = [](const LayerComparison& layer) { return !layer.differences.empty(); };
  EXPECT_EQ(std::ranges::count_if(same.layers, differs), 1) << "and the driver is still named";
}

TEST(CompareFingerprints, DriftByEveryProbeThatChanged) {
  const Comparison drifted =
      Compare(SampleStack(), Rounded().Probe("gemm_tree_fp16", "gemm").Unstable("64x64x32"));
  EXPECT_EQ(drifted.verdict, Verdict::kDrifted);
  ASSERT_EQ(drifted.findings.size(), 2U);
  EXPECT_EQ(drifted.findings[0].code, "non_determinism_gained");
  EXPECT_EQ(drifted.findings[0].layer, Layer::kRandomness);
  EXPECT_EQ(drifted.findings[1].code, "rounding");
  EXPECT_EQ(drifted.findings[1].subject, "probe math_bits");
}

TEST(CompareFingerprints, SayWhereTheTreesAreDrawn) {
  EXPECT_TRUE(Compare(SampleStack(), Rounded()).notes.empty());
  const FingerprintBuilder reordered =
      SampleStack().Probe("gemm_tree_fp16", "gemm").Tree("64x64x32", FusedTree(32, 16));
  ASSERT_EQ(Compare(SampleStack(), reordered).notes.size(), 1U);
}

TEST(CompareFingerprints, AreNotComparableWhereNothingWorkedOnBothSides) {
  const Comparison none = Compare(SampleStack(), FingerprintBuilder());
  EXPECT_EQ(none.verdict, Verdict::kNotComparable);
  EXPECT_FALSE(none.headline.empty());
  ASSERT_EQ(none.findings.size(), 1U);
  EXPECT_TRUE(none.findings[0].decisive);
}

}  // namespace
}  // namespace rharness
