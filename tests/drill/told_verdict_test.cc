// What the history keeps of a verdict's reasons: written, read, and read of older versions.
#include "harness/drill/told_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/drill/history_of.h"

namespace rharness {
namespace {

using testing::ElementsAre;

const std::vector<Finding> kFindings = {
    {.code = "bit_equal", .message = "all are equal", .decisive = true},
    {.code = "facts_changed", .message = "the driver is another one"}};

TEST(ToldVerdict, HasTheSentencesThatDecidedAndWhatHoldsAReport) {
  const std::string text =
      WriteReasons(kFindings, ToldVerdict{"it is equal", "0.1.0", std::string(64, 'a')});
  EXPECT_EQ(text, R"(["bit_equal: all are equal",{"headline":"it is equal","version":"0.1.0",)"
                  R"("run_sha256":")" +
                      std::string(64, 'a') + R"("}])");
  const KeptReasons kept = ReadReasons(text);
  ASSERT_TRUE(kept.decisive && kept.told);
  EXPECT_THAT(*kept.decisive, ElementsAre("bit_equal: all are equal"));
  EXPECT_EQ(kept.told->headline, "it is equal");
  EXPECT_EQ(kept.told->version, "0.1.0");
  EXPECT_EQ(kept.told->run_sha256, std::string(64, 'a'));
  EXPECT_THAT(ReasonsIn(text), ElementsAre(Reason{"bit_equal", "all are equal"}));
}

TEST(ToldVerdict, OfOlderVersionsIsReadAsFarAsItGoes) {
  const KeptReasons sentences = ReadReasons(R"(["a: b"])");
  ASSERT_TRUE(sentences.decisive);
  EXPECT_THAT(*sentences.decisive, ElementsAre("a: b"));
  EXPECT_FALSE(sentences.told);
  for (const char* text : {R"([{"message": "because"}])", "because", ""}) {
    const KeptReasons older = ReadReasons(text);
    EXPECT_FALSE(older.decisive || older.told) << text;
  }
}

TEST(ToldVerdict, DigestsAreOfARunsTextWithoutWhiteSpace) {
  const auto json = ParseJson(
      R"({"runs": [{"run_id": "a", "x": 1.5}, {"run_id": "b", "x": [ ] } ]})", "report.json");
  ASSERT_TRUE(json.ok());
  const auto digests = RunDigests(*json);
  ASSERT_EQ(digests.size(), 2U);
  EXPECT_EQ(digests.at("a"), Sha256HexOf(R"({"run_id":"a","x":1.5})"));
  EXPECT_EQ(digests.at("b"), Sha256HexOf(R"({"run_id":"b","x":[]})"));
  EXPECT_TRUE(RunDigests(Json::MakeObject()).empty());
}

}  // namespace
}  // namespace rharness
