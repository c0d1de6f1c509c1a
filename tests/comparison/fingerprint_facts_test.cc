// Fingerprints as facts, for `rharness compare`.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/comparison/subject.h"

namespace rharness {
namespace {

FingerprintProbe Probe(const std::string& status) {
  return {.name = "gemm_bits",
          .status = status,
          .bits = {{"64x64", std::string(64, 'a')}, {"8x8", std::string(64, 'b')}},
          .unstable = {"8x8"}};
}

bool Holds(const std::vector<Fact>& facts, const std::string& key) {
  return std::ranges::find(facts, key, &Fact::key) != facts.end();
}

TEST(FactsOfFingerprint, LeaveOutTheBitsOfWhatDoesNotRepeat) {
  Fingerprint fingerprint;
  fingerprint.stack["libraries.cublas.version"] = "13.1";
  fingerprint.probes = {Probe("ok")};
  const auto facts = FactsOfFingerprint(fingerprint);
  ASSERT_TRUE(facts.ok());
  EXPECT_TRUE(Holds(*facts, "software.cublas.version"));
  EXPECT_TRUE(Holds(*facts, "probe.gemm_bits.bits.64x64"));
  EXPECT_FALSE(Holds(*facts, "probe.gemm_bits.bits.8x8"));
}

TEST(FactsOfFingerprint, NameTheChangedVariableBeforeWhatProbesSaw) {
  Fingerprint a, b;
  a.probes = b.probes = {Probe("ok")};
  a.stack["environment.OPENBLAS_CORETYPE"] = "Haswell";
  b.stack["environment.OPENBLAS_CORETYPE"] = "Nehalem";
  b.probes[0].bits["64x64"] = std::string(64, 'c');
  const auto layers = CompareFacts(*FactsOfFingerprint(a), *FactsOfFingerprint(b));
  const auto& differences = layers[static_cast<std::size_t>(Layer::kEnvironment)].differences;
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].key, "variable.OPENBLAS_CORETYPE");
  EXPECT_EQ(differences[1].key, "probe.gemm_bits.bits.64x64");
}

TEST(FactsOfFingerprint, AreNoneWhereNoProbeIsOk) {
  Fingerprint fingerprint;
  EXPECT_FALSE(FactsOfFingerprint(fingerprint).ok());
  fingerprint.probes = {Probe("failed"), Probe("absent")};
  EXPECT_FALSE(FactsOfFingerprint(fingerprint).ok());
}

}  // namespace
}  // namespace rharness
