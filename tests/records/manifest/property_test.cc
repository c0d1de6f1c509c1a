// Properties: what is read and refused, and the ways of running that they mean.
#include "harness/records/manifest/property.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/manifest/command_arguments.h"
#include "harness/records/manifest/property_legs.h"
#include "harness/records/manifest/record_schemas.h"
#include "tests/records/manifest/example.h"
#include "tests/records/manifest/schema_check.h"

namespace rharness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kResumed[] = R"({"name": "resumed", "at": [4, 7], "stop": ["--steps={step}"],
  "resume": ["--resume", "{checkpoint}"], "checkpoint": "out/state-{step}.pt",
  "laid_at": "in/state.pt", "within": {"metrics": {"loss": 0.5}, "tensors": 0.25}})";
constexpr char kResharded[] = R"({"name": "resharded", "checkpoint": "out/state.pt", "steps": [
  {"command": ["python3", "split.py", "{checkpoint}"], "saved": "out/shards"},
  {"command": ["python3", "join.py", "{checkpoint}"], "saved": "out/joined.pt"}]})";
constexpr char kEvaluated[] = R"({"name": "evaluated_twice", "checkpoint": "out/state.pt",
  "command": ["python3", "eval.py", "--batch=8", "{checkpoint}"], "again": ["--batch=7"]})";
constexpr char kWorkers[] = R"({"name": "loader_workers", "arguments": ["--workers=4"],
  "environment": {"A": "1", "HOME": null}})";

constexpr char kBatches[] = R"({"name": "batch_invariant", "sizes": [1, 4],
  "arguments": ["--batch={size}"], "environment": {"SLOTS": "{size}"},
  "ways": [{"label": "reversed", "arguments": ["--order=reversed"]},
           {"label": "cold", "environment": {"PREFIX_CACHE": null}}]})";

Result<std::vector<Property>> Parse(const std::string& properties) {
  ASSIGN_OR_RETURN(const Json json,
                   ParseJson("{\"properties\": [" + properties + "]}", "declared.json"));
  return ParseProperties(json, "declared.json");
}

Property One(const std::string& text) {
  const auto properties = Parse(text);
  if (!properties.ok()) Abort(properties.error().ToString());
  return properties->front();
}

LeftCheckpoint Left() {
  return {.location = "/drill/left/state.pt",
          .kind = DataKind::kFile,
          .sha256 = std::string(64, 'a'),
          .size_bytes = 12};
}

TEST(Properties, ComeBackAsTheyWereWritten) {
  for (const char* text :
       {kResumed, kResharded, kEvaluated, kWorkers, kBatches, R"({"name": "repeated"})"}) {
    const Property property = One(text);
    EXPECT_EQ(ToJson(One(ToJson(property).Dump())).Dump(), ToJson(property).Dump());
    const Json source = *ParseJson(text, "source");
    for (const auto& [name, value] : source.AsObject()) {
      ASSERT_NE(ToJson(property).Find(name), nullptr) << name;
      EXPECT_EQ(ToJson(property).Find(name)->Dump(), value.Dump()) << name;
    }
  }
}

TEST(Properties, AreDescribedByTheSchema) {
  const Json schema = ManifestSchema();
  Manifest manifest = ExampleManifest();
  manifest.properties.clear();
  for (const char* text : {kResumed, kResharded, kEvaluated, kWorkers, kBatches}) {
    manifest.properties.push_back(One(text));
  }
  ExpectDescribed(schema, ToJson(manifest));
  const int valid = ValidateBy(schema, ToJson(manifest));
  if (valid == 77) GTEST_SKIP() << "python3 has no jsonschema here";
  EXPECT_EQ(valid, 0);
  manifest.properties.front().at.clear();  // what its name requires
  EXPECT_EQ(ValidateBy(schema, ToJson(manifest)), 1);
}

TEST(Properties, AreNoPartOfTheConfiguration) {
  Manifest with = ExampleManifest();
  Manifest without = with;
  without.properties.clear();
  ASSERT_FALSE(with.properties.empty());
  EXPECT_EQ(ConfigurationKey(with), ConfigurationKey(without));
}

struct WrongMember {
  const char* from;
  const char* to;
  const char* path;
  const char* expected;
};

void ExpectRefusals(const char* whole, const std::vector<WrongMember>& refusals) {
  ASSERT_TRUE(Parse(whole).ok());
  for (const WrongMember& refusal : refusals) {
    const auto parsed = Parse(Replaced(whole, refusal.from, refusal.to));
    ASSERT_FALSE(parsed.ok()) << refusal.to;
    EXPECT_EQ(parsed.error().where, std::string("declared.json: ") + refusal.path) << refusal.to;
    EXPECT_THAT(parsed.error().message, HasSubstr(refusal.expected)) << refusal.to;
  }
}

TEST(Properties, NameTheMemberThatAResumedRunLacksOrHasWrong) {
  ExpectRefusals(
      kResumed,
      {{"resumed", "resume", "$.properties[0].name", "found \"resume\""},
       {"\"at\"", "\"att\"", "$.properties[0]", "did you mean \"at\"?"},
       {"\"at\"", "\"x-at\"", "$.properties[0].at", "missing; the property resumed needs it"},
       {"[4, 7]", "[]", "$.properties[0].at", "has 0 numbers; expected 1 to 20"},
       {"[4, 7]", "[7, 7]", "$.properties[0].at", "strictly increasing"},
       {"[4, 7]", "[0]", "$.properties[0].at", "1 or more"},
       {"[4, 7]", "\"4\"", "$.properties[0].at", "expected an array"},
       {"{step}\"],", "4\"],", "$.properties[0].stop", "expected {step}"},
       {"{step}\"],", "{stop}\"],", "$.properties[0].stop", "has {stop} in it"},
       {"{step}\"],", "{step}{checkpoint}\"],", "$.properties[0].stop", "expected {step} here"},
       {"{checkpoint}\"]", "{chekpoint}\"]", "$.properties[0].resume", "has {chekpoint} in it"},
       {"out/state-{step}.pt", "../state.pt", "$.properties[0].checkpoint", ".."},
       {"out/state-{step}.pt", "/state.pt", "$.properties[0].checkpoint", "absolute"},
       {"out/state-{step}.pt", "", "$.properties[0].checkpoint", "is empty"},
       {"in/state.pt", "in/../../a", "$.properties[0].laid_at", ".."},
       {"\"laid_at\"", "\"again\": [\"a\"], \"laid_at\"", "$.properties[0].again",
        "is no member of the property resumed"},
       {"0.5", "-0.5", "$.properties[0].within.metrics.loss", "at least 0"},
       {"0.5", "\"nan\"", "$.properties[0].within.metrics.loss", "finite"},
       {"0.25", "1", "$.properties[0].within.tensors", "less than 1"}});
}

TEST(Properties, NameTheMemberThatOthersLackOrHaveWrong) {
  ExpectRefusals(
      kResharded,
      {{"out/shards", "/shards", "$.properties[0].steps[0].saved", "absolute"},
       {"\"saved\": \"out/joined.pt\"", "\"x-a\": 1", "$.properties[0].steps[1].saved", "missing"},
       {"[\"python3\", \"join.py\"", "[\"\", \"join.py\"", "$.properties[0].steps[1].command",
        "the program's name is empty"}});
  ExpectRefusals(kEvaluated, {{"\"again\"", "\"within\": {\"tensors\": 0.1}, \"again\"",
                               "$.properties[0].within", "leaves no tensors"}});
  ExpectRefusals(
      kWorkers,
      {{"[\"--workers=4\"]", "[]", "$.properties[0].arguments", "is empty"},
       {"\"arguments\"", "\"command\": [\"a\"], \"arguments\"", "$.properties[0].command",
        "not both"},
       {"--workers=4", "--at={step}", "$.properties[0].arguments", "expected no placeholder"},
       {"HOME", "MY HOME", "$.properties[0].environment.MY HOME", "letters, digits and '_'"}});
  EXPECT_THAT(Parse(R"({"name": "processes"})").error().message, HasSubstr("what is otherwise"));
  EXPECT_THAT(Parse("").error().message, HasSubstr("declares nothing"));
  const std::string twice = R"({"name": "repeated"}, {"name": "repeated")";
  EXPECT_THAT(Parse(twice + "}").error().message, HasSubstr("repeated is there twice"));
  EXPECT_TRUE(Parse(twice + R"(, "label": "b"})").ok());
}

TEST(Properties, NameTheMemberThatBatchesLackOrHaveWrong) {
  const char* at = "$.properties[0]";
  ExpectRefusals(
      kBatches,
      {{"[1, 4]", "[4, 1]", "$.properties[0].sizes", "strictly increasing"},
       {"[1, 4]", "[0]", "$.properties[0].sizes", "1 or more"},
       {"[\"--batch={size}\"], \"environment\": {\"SLOTS\": \"{size}\"}", "[\"--batch=4\"]",
        "$.properties[0].sizes", "expected {size}"},
       {"{size}\"]", "{step}\"]", "$.properties[0].arguments", "expected {size} here"},
       {"\"sizes\"", "\"x-a\"", "$.properties[0].arguments", "is for sizes"},
       {"--order=reversed", "--order={size}", "$.properties[0].ways[0].arguments",
        "expected no placeholder"},
       {"\"label\": \"cold\", ", "", "$.properties[0].ways[1].label", "missing"},
       {"\"cold\"", "\"4\"", "$.properties[0].ways", "two legs are named 4"},
       {"{\"PREFIX_CACHE\": null}", "{}", "$.properties[0].ways[1].environment", "is empty"},
       {", \"environment\": {\"PREFIX_CACHE\": null}", "", "$.properties[0].ways[1]",
        "what is otherwise"},
       {"\"label\": \"cold\", ", "\"label\": \"cold\", \"again\": [\"a\"], ",
        "$.properties[0].ways[1]", "again"}});
  const auto none = Parse(R"({"name": "batch_invariant"})");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().where, std::string("declared.json: ") + at);
  EXPECT_THAT(none.error().message, HasSubstr("expected sizes of batches, or ways"));
}

TEST(PropertyLegs, PutTheSizeWhereItIsPassedOn) {
  const std::vector<OtherWay> ways = WaysOf(One(kBatches));
  ASSERT_EQ(ways.size(), 4U);
  EXPECT_EQ(ways[1].label, "4");
  EXPECT_THAT(ways[1].arguments, ElementsAre("--batch=4"));
  EXPECT_EQ(ways[1].environment.at("SLOTS"), "4");
  EXPECT_EQ(ways[2].label, "reversed");
  Manifest run = ExampleManifest();
  const Manifest leg = OtherLeg(run, ways[1]);
  EXPECT_EQ(leg.command.back(), "--batch=4");
  EXPECT_EQ(leg.environment.variables.at("SLOTS"), "4");
  EXPECT_FALSE(IsAsRecorded(run, ways[1]));
  EXPECT_TRUE(IsAsRecorded(run, ways[3])) << "the variable is not set";
  run.command = leg.command;
  EXPECT_FALSE(IsAsRecorded(run, ways[1])) << "the variable is another";
  run.environment.variables["SLOTS"] = "4";
  EXPECT_TRUE(IsAsRecorded(run, ways[1]));
}

TEST(PropertyLegs, StopAndGoOnFromWhatWasLeft) {
  const Manifest run = ExampleManifest();
  const Property property = One(kResumed);
  EXPECT_EQ(CheckpointOf(property, 7), "out/state-7.pt");
  const Manifest stopped = StoppedLeg(run, property, 7);
  EXPECT_THAT(stopped.command,
              ElementsAre("python3", "train.py", "--seed", "7", "--lr=0.1", "--steps=7"));
  EXPECT_THAT(stopped.artifacts, IsEmpty());
  EXPECT_THAT(stopped.properties, IsEmpty());
  const Manifest resumed = ResumedLeg(run, property, 7, Left());
  EXPECT_THAT(resumed.command, ElementsAre("python3", "train.py", "--seed", "7", "--lr=0.1",
                                           "--resume", "in/state.pt"));
  ASSERT_EQ(resumed.data.size(), run.data.size() + 1);
  EXPECT_EQ(resumed.data.back().path, "in/state.pt");
  EXPECT_EQ(resumed.data.back().location, "/drill/left/state.pt");
  EXPECT_EQ(resumed.artifacts.size(), run.artifacts.size());
}

TEST(PropertyLegs, ChainWhatIsSavedAgain) {
  const Manifest run = ExampleManifest();
  const Property property = One(kResharded);
  const Manifest first = ReshardLeg(run, property, 0, Left());
  EXPECT_THAT(first.command, ElementsAre("python3", "split.py", "out/state.pt"));
  const Manifest second = ReshardLeg(run, property, 1, Left());
  EXPECT_THAT(second.command, ElementsAre("python3", "join.py", "out/shards"));
  EXPECT_EQ(second.data.back().path, "out/shards");
  EXPECT_TRUE(second.metrics_path.empty());
}

TEST(PropertyLegs, SetWhatIsOtherwise) {
  const Manifest run = ExampleManifest();
  const Manifest workers = OtherLeg(run, WaysOf(One(kWorkers)).front());
  EXPECT_EQ(workers.command.back(), "--workers=4");
  EXPECT_EQ(workers.environment.variables.at("A"), "1");
  EXPECT_EQ(workers.environment.variables.at("HOME"), std::nullopt);
  const Property evaluated = One(kEvaluated);
  EXPECT_THAT(EvaluationLeg(run, evaluated, false, Left()).command,
              ElementsAre("python3", "eval.py", "--batch=8", "out/state.pt"));
  EXPECT_THAT(EvaluationLeg(run, evaluated, true, Left()).command,
              ElementsAre("python3", "eval.py", "--batch=7", "out/state.pt"));
}

TEST(CommandArguments, AreSetInThePlaceOfTheirOwnKindElseAppended) {
  const std::vector<std::string> command = {"python3",  "train.py",       "--steps", "9",
                                            "--lr=0.1", "optimizer.lr=3", "--fast",  "--steps=8"};
  EXPECT_THAT(SetArguments(command, {"--steps=4"}),
              ElementsAre("python3", "train.py", "--steps", "4", "--lr=0.1", "optimizer.lr=3",
                          "--fast", "--steps=4"));
  EXPECT_THAT(SetArguments(command, {"--lr", "-0.2", "optimizer.lr=5", "--fast", "--new", "-3"}),
              ElementsAre("python3", "train.py", "--steps", "9", "--lr=-0.2", "optimizer.lr=5",
                          "--fast", "--steps=8", "--new", "-3"));
  EXPECT_THAT(SetArguments({"a"}, {"--on", "--name=b=c", "word"}),
              ElementsAre("a", "--on", "--name=b=c", "word"));
  // An option without a value has none to lose.
  EXPECT_THAT(SetArguments({"a", "--fast", "--lr=1"}, {"--fast=2"}),
              ElementsAre("a", "--fast", "--lr=1", "--fast=2"));
}

}  // namespace
}  // namespace rharness
