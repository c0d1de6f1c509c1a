// Which statements contradict each other, and which do not.
#include "harness/records/lint/contradictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::HasSubstr;

Statement Of(Witness witness, std::string subject, std::string value) {
  return {std::move(subject), std::move(value), witness, "there"};
}

std::size_t Found(std::vector<Statement> statements) {
  return FindContradictions(statements).contradictions.size();
}

TEST(Agree, OnNumbersTextsTruthsAndVersions) {
  EXPECT_TRUE(Agree("lr", "0.1", "1e-1"));
  EXPECT_TRUE(Agree("lr", "0.333", "0.33333333"));
  EXPECT_FALSE(Agree("lr", "0.1", "0.2"));
  EXPECT_FALSE(Agree("lr", "0.0001", "0.0"));
  EXPECT_FALSE(Agree("batch_size", "64", "65"));
  EXPECT_TRUE(Agree("amp", "True", "1"));
  EXPECT_FALSE(Agree("amp", "true", "no"));
  EXPECT_TRUE(Agree("optimizer", "AdamW", "adamw"));
  EXPECT_TRUE(Agree("version of torch", "2.1", "2.1.0+cu121"));
  EXPECT_FALSE(Agree("version of torch", "2.1", "2.10"));
  EXPECT_FALSE(Agree("version of torch", "2.1.0", "2.1.1"));
}

TEST(FindContradictions, NamesBothPlaces) {
  const auto outcome =
      FindContradictions({{"batch_size", "64", Witness::kManifest, "$.hyperparameters.batch_size"},
                          {"batch_size", "32", Witness::kLog, "run.log: line 3"}});
  ASSERT_EQ(outcome.contradictions.size(), 1u);
  EXPECT_EQ(outcome.contradictions[0].sentence,
            "batch_size is 64 ($.hyperparameters.batch_size), but 32 (run.log: line 3)");
}

TEST(FindContradictions, ComparesNothingThatOnePlaceSaysAlone) {
  const auto outcome =
      FindContradictions({Of(Witness::kManifest, "seed", "1"), Of(Witness::kManifest, "seed", "2"),
                          Of(Witness::kLog, "dropout", "0.1")});
  EXPECT_EQ(outcome.compared, 0u);
  EXPECT_TRUE(outcome.contradictions.empty());
}

TEST(FindContradictions, HoldsASeedAgainstAllOfTheManifest) {
  EXPECT_EQ(Found({Of(Witness::kManifest, "seed", "1"), Of(Witness::kManifest, "seed", "2"),
                   Of(Witness::kScript, "seed", "2")}),
            0u);
  EXPECT_EQ(Found({Of(Witness::kManifest, "seed", "1"), Of(Witness::kManifest, "seed", "2"),
                   Of(Witness::kScript, "seed", "3")}),
            1u);
}

TEST(FindContradictions, HoldsStepsAgainstWhereCurvesEnd) {
  const Statement declared = Of(Witness::kManifest, "steps", "1000");
  const auto ends = [](const char* value) { return Of(Witness::kManifest, "steps done", value); };
  EXPECT_EQ(Found({declared, ends("1000 by 100")}), 0u);
  EXPECT_EQ(Found({declared, ends("999 by 1")}), 0u);
  EXPECT_EQ(Found({declared, ends("950 by 100")}), 0u);
  EXPECT_EQ(Found({declared, ends("800 by 100")}), 1u);
  EXPECT_EQ(Found({declared, ends("1100 by 100")}), 1u);
  const Statement bound = Of(Witness::kManifest, SubjectOf("max_steps"), "1000");
  EXPECT_EQ(Found({bound, ends("800 by 100")}), 0u);
  EXPECT_EQ(Found({bound, ends("1100 by 100")}), 1u);
  EXPECT_EQ(Found({Of(Witness::kManifest, SubjectOf("max_steps"), "-1"), ends("800 by 100")}), 0u);
}

TEST(FindContradictions, HoldsTheGlobalBatchAgainstItsParts) {
  const std::vector<Statement> good = {Of(Witness::kManifest, "global_batch_size", "512"),
                                       Of(Witness::kManifest, "batch_size", "32"),
                                       Of(Witness::kLog, "devices", "8"),
                                       Of(Witness::kCommand, "accumulation", "2")};
  EXPECT_EQ(Found(good), 0u);
  std::vector<Statement> bad = good;
  bad[2].value = "4";
  const auto outcome = FindContradictions(bad);
  ASSERT_EQ(outcome.contradictions.size(), 1u);
  EXPECT_THAT(outcome.contradictions[0].sentence, HasSubstr("is 256"));
}

TEST(FindContradictions, TellsEachSubjectOnceAWitness) {
  EXPECT_EQ(Found({Of(Witness::kManifest, "lr", "0.1"), Of(Witness::kLog, "lr", "0.2"),
                   Of(Witness::kLog, "lr", "0.2"), Of(Witness::kScript, "lr", "0.3")}),
            2u);
}

}  // namespace
}  // namespace rharness
