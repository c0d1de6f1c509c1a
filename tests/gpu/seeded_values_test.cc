// Seeded data must round, or a changed order of addition would leave the bits as they were.
#include <gtest/gtest.h>

#include <cmath>

#include "probes/gpu/number_type.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::size_t kRows = 64, kTerms = 256;

// How many of the rows' dot products in fp32 change when the terms are added backwards.
int RowsThatMove(NumberType type, std::vector<float> (*make)(std::size_t, std::uint64_t)) {
  const auto a = EncodeAll(type, make(kRows * kTerms, 1));
  const auto b = EncodeAll(type, make(kRows * kTerms, 2));
  int moved = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    float forwards = 0.0F, backwards = 0.0F;
    for (std::size_t i = 0; i < kTerms; ++i) {
      const auto product = [&](std::size_t term) {
        const std::size_t at = row * kTerms + term;
        return static_cast<float>(ElementAt(type, a, at) * ElementAt(type, b, at));
      };
      forwards += product(i);
      backwards += product(kTerms - 1 - i);
    }
    moved += forwards != backwards ? 1 : 0;
  }
  return moved;
}

TEST(RoundingValues, ShowAnotherOrderOfAdditionInEveryType) {
  for (const NumberType type :
       {NumberType::kFp32, NumberType::kBf16, NumberType::kFp16, NumberType::kE4m3}) {
    EXPECT_GT(RowsThatMove(type, RoundingValues), static_cast<int>(kRows) / 2)
        << NumberTypeName(type);
  }
}

TEST(SeededValues, AreExactSoThatTheyWouldNot) {
  EXPECT_EQ(RowsThatMove(NumberType::kFp32, SeededValues), 0);
}

TEST(RoundingValues, AreTheSameForASeedAndOthersForAnother) {
  EXPECT_EQ(RoundingValues(100, 7), RoundingValues(100, 7));
  EXPECT_NE(RoundingValues(100, 7), RoundingValues(100, 8));
  for (const float value : RoundingValues(1000, 1)) {
    EXPECT_GE(std::abs(value), 0x1p-7F);
    EXPECT_LT(std::abs(value), 32.0F);
  }
}

// One case that fails leaves the others' results; when nothing is left, the probe has failed.
TEST(RecordFailure, IsTheCasesOwnResultUntilItIsTheOnlyOne) {
  ProbeResult result;
  RecordFailure("a", InternalError("cublasGemmEx: refused"), &result);
  const ProbeResult alone = Finish(result);
  EXPECT_EQ(alone.status, ProbeStatus::kFailed);
  EXPECT_NE(alone.message.find("every case failed: a: "), std::string::npos) << alone.message;
  EXPECT_NE(alone.message.find("refused"), std::string::npos) << alone.message;
  result.bits["b"] = "1";
  const ProbeResult beside = Finish(result);
  EXPECT_EQ(beside.status, ProbeStatus::kOk);
  EXPECT_EQ(beside.counts.at("failed cases"), 1U);
  EXPECT_NE(beside.choices.at("a").Find("failed")->AsString().find("refused"), std::string::npos);
}

}  // namespace
}  // namespace rharness
