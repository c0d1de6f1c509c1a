// Which legs a run's properties take.
#include "harness/experiments/properties/legs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Manifest RunWith(const char* properties) {
  Manifest run = ExampleManifest();
  const Json json = *ParseJson(properties, "test");
  run.properties = *ParseProperties(json, "test");
  return run;
}

constexpr char kAll[] = R"({"properties": [
  {"name": "repeated"},
  {"name": "resumed", "at": [4, 7], "stop": ["--stop={step}"], "checkpoint": "s-{step}.pt"},
  {"name": "processes", "arguments": ["--processes=2"]},
  {"name": "resharded", "checkpoint": "s.pt", "steps": [
    {"command": ["split", "{checkpoint}"], "saved": "shards"},
    {"command": ["join", "{checkpoint}"], "saved": "joined.pt"}]},
  {"name": "evaluated_twice", "checkpoint": "s.pt", "command": ["eval", "{checkpoint}"]}]})";

TEST(PropertyLegPlan, NumbersTheLegsOfEveryPropertyOnce) {
  const LegPlan plan = PlanLegs(RunWith(kAll), 1);
  // Straight; two cuts of two legs; one other way; two steps; two evaluations.
  ASSERT_EQ(plan.legs.size(), 1u + 4 + 1 + 2 + 2);
  for (std::size_t i = 0; i < plan.legs.size(); ++i) {
    EXPECT_EQ(plan.legs[i].number, static_cast<int>(i) + 1);
    EXPECT_LT(plan.legs[i].from, plan.legs[i].number) << "a leg goes on from one before it";
  }
  EXPECT_THAT(plan.legs[0].leaves, ElementsAre("s.pt"));
  EXPECT_EQ(plan.legs[2].from, 2);
  EXPECT_EQ(plan.legs[2].given, "s-4.pt");
  EXPECT_EQ(plan.legs[7].given, "shards");
  std::vector<std::string> names;
  for (const PropertyClaim& claim : plan.claims) names.push_back(claim.name);
  EXPECT_THAT(names, ElementsAre("repeated", "resumed@4", "resumed@7", "processes", "resharded",
                                 "evaluated_twice"));
}

TEST(PropertyLegPlan, RepeatsOnlyWhatIsHeldToStraightRuns) {
  const LegPlan plan = PlanLegs(RunWith(kAll), 3);
  const LegPlan once = PlanLegs(RunWith(kAll), 1);
  std::set<int> numbers;
  for (const Leg& leg : plan.legs) numbers.insert(leg.number);
  EXPECT_EQ(numbers.size(), plan.legs.size());
  EXPECT_EQ(plan.legs.size(), 10u + 2 * 6);
  for (std::size_t i = 0; i < once.legs.size(); ++i) {
    EXPECT_EQ(plan.legs[i].number, once.legs[i].number);
  }
  EXPECT_THAT(plan.claims[0].straight, ElementsAre(1, 11, 21));
  EXPECT_THAT(plan.claims[0].legs, IsEmpty());
  EXPECT_THAT(plan.claims[1].legs, ElementsAre(3, 13, 23));
  EXPECT_EQ(LegOf(plan, 13).from, 12);
  EXPECT_THAT(plan.claims[4].legs, ElementsAre(7, 8));
}

TEST(PropertyLegPlan, TakesEveryOtherBatchForALegAndTheirAnswersWithIt) {
  Manifest run = RunWith(R"({"properties": [{"name": "batch_invariant", "sizes": [1, 4],
    "arguments": ["--batch={size}"], "ways": [{"label": "reversed", "arguments": ["--reversed"]}]},
    {"name": "evaluated_twice", "checkpoint": "s.pt", "command": ["eval", "{checkpoint}"]}]})");
  run.command = {"score", "--batch", "4"};
  run.artifacts = {{.role = "other", .path = "answers.jsonl"}, {.role = "log", .path = "log"}};
  const LegPlan plan = PlanLegs(run, 2);
  ASSERT_EQ(plan.claims.size(), 3U) << "the recorded size is no leg";
  EXPECT_EQ(plan.claims[0].name, "batch_invariant@1");
  EXPECT_EQ(plan.claims[1].name, "batch_invariant@reversed");
  EXPECT_THAT(plan.claims[1].straight, ElementsAre(1, 6));
  EXPECT_THAT(plan.claims[1].legs, ElementsAre(3, 8));
  EXPECT_THAT(LegOf(plan, 1).leaves, ElementsAre("answers.jsonl", "s.pt"));
  EXPECT_THAT(LegOf(plan, 6).leaves, ElementsAre("answers.jsonl"));
  EXPECT_THAT(LegOf(plan, 8).leaves, ElementsAre("answers.jsonl"));
  EXPECT_EQ(ManifestOf(run, LegOf(plan, 2), {}).command[2], "1");
  EXPECT_EQ(ManifestOf(run, LegOf(plan, 8), {}).command.back(), "--reversed");
  EXPECT_EQ(LegOf(plan, 2).words, "alone");
  EXPECT_EQ(ClaimWords(run.properties[0], 3),
            "answers as recorded, and reversed: the same to the bit");
}

TEST(PropertyLegPlan, SaysWhatIsClaimed) {
  const Manifest run = RunWith(R"({"properties": [{"name": "accumulated", "arguments": ["a"],
    "within": {"metrics": {"loss": 0.001}, "tensors": 1e-6}}, {"name": "repeated"}]})");
  EXPECT_THAT(ClaimWords(run.properties[0], 0),
              HasSubstr("loss within 0.001, tensors within 1e-06 (relative), the rest to the bit"));
  EXPECT_EQ(ClaimWords(run.properties[1], 0), "the run twice: the same to the bit");
}

}  // namespace
}  // namespace rharness
