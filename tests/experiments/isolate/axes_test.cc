// Two records as axes, and trials as records.
#include "harness/experiments/isolate/axes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/experiments/isolate/out_of_reach.h"
#include "harness/records/manifest/command_arguments.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kOtherDigest(64, 'b');

Result<Image> NoImage(std::string_view) { return InvalidInput("no image"); }

std::vector<std::string> NamesOf(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    if (axis.cannot_be_set.empty()) names.push_back(axis.name);
  }
  return names;
}

Manifest Small() {
  Manifest manifest;
  manifest.run_id = "run";
  manifest.command = {"train", "--lr", "0.1", "--batch-size=32", "in.csv"};
  manifest.environment.variables = {{"A", "1"}, {"SET", "x"}, {"UNSET", std::nullopt}};
  manifest.data = {
      {.name = "train", .path = "in.csv", .kind = DataKind::kFile, .sha256 = std::string(64, 'a')}};
  manifest.code.commit = std::string(40, '1');
  return manifest;
}

TEST(Axes, EqualRecordsHaveNone) {
  EXPECT_TRUE(AxesBetween(Small(), Small()).empty());
  EXPECT_TRUE(AxesBetween(ExampleManifest(), ExampleManifest()).empty());
  EXPECT_FALSE(SettableAxes({}).ok());
}

TEST(Axes, EverySettingThatDiffersIsOneAndIsSetInATrial) {
  Manifest now = Small();
  now.command[2] = "0.2";
  now.command[3] = "--batch-size=64";
  now.environment.variables = {{"A", "2"}, {"UNSET", "y"}, {"SET", std::nullopt}, {"NEW", "z"}};
  now.data[0].sha256 = kOtherDigest;
  now.code.commit = std::string(40, '2');
  now.resources.cpus = 8;
  now.image = {
      .kind = ImageKind::kOci, .repository = "ml/train", .digest = "sha256:" + kOtherDigest};
  const std::vector<Axis> axes = AxesBetween(Small(), now);
  EXPECT_THAT(NamesOf(axes),
              ElementsAre("data:train", "commit", "argument:--lr", "argument:--batch-size", "env:A",
                          "env:NEW", "env:SET", "env:UNSET", "image", "cpus"));
  const auto settable = *SettableAxes(axes);
  const Positions last = LastOf(settable);
  EXPECT_EQ(last, Positions(10, 1));
  const Manifest all = RunAt(Small(), settable, last).manifest;
  EXPECT_EQ(all.command, now.command);
  EXPECT_EQ(all.environment.variables, now.environment.variables);
  EXPECT_EQ(all.data[0].sha256, kOtherDigest);
  EXPECT_EQ(all.code.commit, now.code.commit);
  EXPECT_EQ(all.resources.cpus, 8);
  EXPECT_EQ(all.image.digest, now.image.digest);
  EXPECT_EQ(ToJson(RunAt(Small(), settable, Positions(10, 0)).manifest).Dump(),
            ToJson(Small()).Dump());
  Positions one(10, 0);
  one[6] = 1;
  const Manifest unset = RunAt(Small(), settable, one).manifest;
  EXPECT_EQ(unset.environment.variables.at("SET"), std::nullopt);
  EXPECT_EQ(unset.environment.variables.at("A"), "1");
}

TEST(Axes, WhatNoSettingReachesSaysWhy) {
  Manifest then = Small();
  Manifest now = Small();
  then.environment.hardware.gpu_driver = "550";
  now.environment.hardware.gpu_driver = "580";
  then.resources.gpus = now.resources.gpus = 1;
  then.environment.software["glibc"] = "2.36";
  now.environment.software["glibc"] = "2.41";
  then.seeds["init"] = 1;
  now.seeds["init"] = 2;
  const std::vector<Axis> axes = AxesBetween(then, now);
  EXPECT_TRUE(NamesOf(axes).empty());
  ASSERT_EQ(axes.size(), 3U);
  for (const Axis& axis : axes) EXPECT_FALSE(axis.cannot_be_set.empty()) << axis.name;
  EXPECT_TRUE(SettableAxes(axes)->empty()) << "what differs is named, though nothing can be set";
}

Manifest Reading(const std::string& path, char digit) {
  Manifest manifest = Small();
  manifest.observation.emplace();
  manifest.observation->inputs.emplace();
  manifest.observation->inputs->push_back({path, std::string(64, digit), 5});
  return manifest;
}

TEST(Axes, AFileThatNothingDeclaresIsNamedAndCannotBeSet) {
  const std::vector<Axis> axes =
      AxesBetween(Reading("/site/kernel.py", 'a'), Reading("/site/kernel.py", 'b'));
  ASSERT_EQ(axes.size(), 1U);
  EXPECT_EQ(axes[0].name, "input /site/kernel.py");
  EXPECT_THAT(axes[0].cannot_be_set, HasSubstr("nothing declares it"));
  EXPECT_EQ(OutOfReachWords(axes), "input /site/kernel.py aaaaaaaaaaaa… -> bbbbbbbbbbbb…");
}

TEST(Axes, AFileThatARerunDoesNotReadAnyMoreIsNamed) {
  Manifest now = Reading("/site/kernel.py", 'a');
  now.observation->inputs = {{"/site/other.py", std::string(64, 'c'), 5}};
  const std::vector<Axis> axes = AxesBetween(Reading("/site/kernel.py", 'a'), now);
  ASSERT_EQ(axes.size(), 1U);
  EXPECT_EQ(OutOfReachWords(axes), "input /site/kernel.py aaaaaaaaaaaa… -> (absent)");
  now.run_id = "another";  // of which nobody knows what else it would have read
  EXPECT_TRUE(AxesBetween(Reading("/site/kernel.py", 'a'), now).empty());
}

TEST(Axes, AFlagThatAloneDiffersIsNamedAndBesideASettingFollowsFromIt) {
  Manifest then = Small();
  then.observation.emplace();
  then.observation->flags["torch.deterministic"] = "true";
  Manifest now = then;
  now.observation->flags["torch.deterministic"] = "false";
  ASSERT_EQ(AxesBetween(then, now).size(), 1U);
  EXPECT_EQ(OutOfReachWords(AxesBetween(then, now)), "flag.torch.deterministic true -> false");
  now.environment.variables["A"] = "2";
  EXPECT_EQ(AxesBetween(then, now).size(), 1U);
  EXPECT_THAT(NamesOf(AxesBetween(then, now)), ElementsAre("env:A"));
}

// Runs of one family, of which each has its seed in the command, by place, and in a variable.
Manifest OfSeed(int seed) {
  Manifest manifest = Small();
  const std::string text = std::to_string(seed);
  manifest.run_id = "run-" + text;
  manifest.family = "mlp";
  manifest.command = {"train", text, "--seed", text, "model.seed=" + text, "--lr=0.1"};
  manifest.environment.variables["LOADER_SEED"] = text;
  manifest.seeds["init"] = seed;
  return manifest;
}

TEST(Axes, SeedsOfAnotherRunOfTheFamilyAreNoCause) {
  Manifest now = OfSeed(7);
  now.command.back() = "--lr=0.2";
  const std::vector<Axis> axes = AxesBetween(OfSeed(6), now);
  EXPECT_THAT(NamesOf(axes), ElementsAre("argument:--lr"));
  ASSERT_EQ(axes.size(), 5U);
  for (const Axis& axis : axes) EXPECT_NE(axis.of_family, axis.name == "argument:--lr");
  EXPECT_THAT(axes.front().cannot_be_set, HasSubstr("runs of the family differ in their seeds"));
  // A run that was rerun with another seed drifted by it.
  now = OfSeed(7);
  now.run_id = OfSeed(6).run_id;
  EXPECT_EQ(NamesOf(AxesBetween(OfSeed(6), now)).size(), 4U);
  now = OfSeed(7);
  now.family = "another";
  EXPECT_EQ(NamesOf(AxesBetween(OfSeed(6), now)).size(), 4U);
  // A number that is no seed is none because of its name.
  now = OfSeed(6);
  now.run_id = "run-7";
  now.command[1] = "8";
  EXPECT_EQ(NamesOf(AxesBetween(OfSeed(6), now)).size(), 1U);
}

TEST(Axes, ASeedThatIsAskedForIsSet) {
  std::vector<Axis> axes = AxesBetween(OfSeed(6), OfSeed(7));
  ASSERT_TRUE(NamesOf(axes).empty());
  const auto given = ParseGivenAxis("seed:seed=7", NoImage);
  ASSERT_TRUE(given.ok());
  ASSERT_TRUE(AddGivenAxis(OfSeed(6), *given, &axes).ok());
  EXPECT_THAT(NamesOf(axes), ElementsAre("argument:--seed"));
}

TEST(Axes, AVariableThatTheDriftedSideDoesNotSpeakOfIsNoAxis) {
  Manifest now = Small();
  now.environment.variables.erase("A");
  EXPECT_TRUE(AxesBetween(Small(), now).empty());
}

TEST(Axes, ACommandOfAnotherLengthIsOneAxis) {
  Manifest now = Small();
  now.command.push_back("--fast");
  const auto settable = *SettableAxes(AxesBetween(Small(), now));
  EXPECT_THAT(NamesOf(settable), ElementsAre("command"));
  EXPECT_EQ(RunAt(Small(), settable, {1}).manifest.command, now.command);
}

TEST(Axes, OneThatIsHeldIsInEveryTrial) {
  Manifest now = Small();
  now.data[0].sha256 = kOtherDigest;
  std::vector<Axis> axes = AxesBetween(Small(), now);
  EXPECT_EQ(BaseOf(Small(), axes).data[0].sha256, Small().data[0].sha256);
  axes[0].held_drifted = true;
  EXPECT_EQ(BaseOf(Small(), axes).data[0].sha256, kOtherDigest);
}

std::vector<Axis> Given(const std::vector<std::string>& texts, std::string* error = nullptr) {
  std::vector<Axis> axes;
  for (const std::string& text : texts) {
    const auto given = ParseGivenAxis(text, NoImage);
    const Status added = given.ok() ? AddGivenAxis(Small(), *given, &axes) : given.error();
    if (!added.ok() && error != nullptr) *error = added.error().message;
  }
  return axes;
}

TEST(GivenAxis, IsSetInATrial) {
  const auto axes = Given({"env:NEW=a=b", "env:SET", "hyperparameter:lr=0.2,0.4",
                           "hyperparameter:batch_size=64", "argument:4=out.csv", "cpus:2,4"});
  ASSERT_EQ(axes.size(), 6U);
  const Manifest run = RunAt(Small(), axes, {1, 1, 2, 1, 1, 2}).manifest;
  EXPECT_EQ(run.environment.variables.at("NEW"), "a=b");
  EXPECT_EQ(run.environment.variables.at("SET"), std::nullopt);
  EXPECT_THAT(run.command, ElementsAre("train", "--lr", "0.4", "--batch-size=64", "out.csv"));
  EXPECT_EQ(run.resources.cpus, 4);
  EXPECT_EQ(RunAt(Small(), axes, {0, 0, 1, 0, 0, 0}).manifest.command[2], "0.2");
  EXPECT_EQ(DescribeStep(axes, {2, 2}), "argument:--lr: 0.2 -> 0.4");
}

TEST(GivenAxis, AChainOfCommitsClearsWhatPinsTheRecordedFiles) {
  auto axes = Given({"commit:" + std::string(40, '9')});
  ASSERT_EQ(axes.size(), 1U);
  EXPECT_TRUE(axes[0].chain_may_be_found);
  SetChain({std::string(40, '5'), std::string(40, '7'), std::string(40, '9')}, &axes[0]);
  ASSERT_EQ(axes[0].values.size(), 4U);
  EXPECT_EQ(RunAt(Small(), axes, {2}).manifest.code.commit, std::string(40, '7'));
  EXPECT_TRUE(RunAt(Small(), axes, {2}).manifest.code.files.empty());
  EXPECT_EQ(RunAt(Small(), axes, {3}).manifest.code.commit, std::string(40, '9'));
}

TEST(GivenAxis, ReplacesOneThatWasFoundAndContradictsNoOther) {
  Manifest now = Small();
  now.environment.variables["A"] = "2";
  std::vector<Axis> axes = AxesBetween(Small(), now);
  ASSERT_TRUE(AddGivenAxis(Small(), *ParseGivenAxis("env:A=3", NoImage), &axes).ok());
  ASSERT_EQ(axes.size(), 1U);
  EXPECT_EQ(axes[0].values.back().text, "3");
  EXPECT_TRUE(AddGivenAxis(Small(), *ParseGivenAxis("env:A=3", NoImage), &axes).ok());
  EXPECT_FALSE(AddGivenAxis(Small(), *ParseGivenAxis("env:A=4", NoImage), &axes).ok());
}

TEST(GivenAxis, TextsThatAreNoneAreRefused) {
  const std::vector<std::string> texts = {"",
                                          ":",
                                          "env",
                                          "env:",
                                          "env:=x",
                                          "env:1A=x",
                                          "env:A B",
                                          "env:A=x\ny",
                                          "lr=0.1",
                                          "cpus:",
                                          "cpus:two",
                                          "cpus:1",
                                          "cpus:99999999999999999999",
                                          "argument:--lr",
                                          "argument:=1",
                                          "argument:--lr=",
                                          "hyperparameter:none=1",
                                          "data:train=xyz",
                                          "data:none=" + kOtherDigest,
                                          "data:train=" + std::string(64, 'a'),
                                          "commit:",
                                          "commit:main",
                                          "commit:abcdef1..main",
                                          "commit:" + std::string(40, '1'),
                                          "node:",
                                          "node:a b",
                                          "node:--help",
                                          "image:x"};
  for (const std::string& text : texts) {
    std::string error;
    EXPECT_TRUE(Given({text}, &error).empty()) << text;
    EXPECT_FALSE(error.empty()) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
}

// Of `then`, drifted to `now`: each axis as "NAME: BEFORE -> AFTER".
std::vector<std::string> ArgumentAxes(const std::vector<std::string>& then,
                                      const std::vector<std::string>& now) {
  Manifest recorded = Small();
  Manifest drifted = recorded;
  recorded.command = then;
  drifted.command = now;
  std::vector<std::string> told;
  for (const Axis& axis : AxesBetween(recorded, drifted)) {
    told.push_back(
        fmt::format("{}: {} -> {}", axis.name, axis.values[0].text, axis.values[1].text));
  }
  return told;
}

TEST(Axes, TellArgumentsOfAnotherSpellingApartByTheirNames) {
  EXPECT_THAT(ArgumentAxes({"t", "--lr", "0.1", "--steps=5", "in.csv"},
                           {"t", "--lr=0.2", "--steps", "6", "in.csv"}),
              ElementsAre("argument:--lr: 0.1 -> 0.2", "argument:--steps: --steps=5 -> --steps=6"));
  EXPECT_THAT(ArgumentAxes({"t", "--a", "1", "--b", "2"}, {"t", "--b", "3", "--a", "1"}),
              ElementsAre("argument:--b: 2 -> 3"))
      << "in another order";
  EXPECT_THAT(ArgumentAxes({"t", "model.lr=1", "seed=2"}, {"t", "seed=2", "model.lr=3"}),
              ElementsAre("argument:1: model.lr=1 -> model.lr=3"));
  EXPECT_THAT(ArgumentAxes({"t", "--lr", "0.1"}, {"t", "--lr=0.1"}),
              ElementsAre("command: t --lr 0.1 -> t --lr=0.1"))
      << "the program alone knows that these are one";
}

TEST(Axes, TakeCommandsWithOtherOptionsAsAWhole) {
  EXPECT_THAT(ArgumentAxes({"t", "--lr", "0.1"}, {"t", "--lr", "0.2", "--fast"}),
              ElementsAre("command: t --lr 0.1 -> t --lr 0.2 --fast"));
  EXPECT_THAT(ArgumentAxes({"t", "--set", "a", "--set", "b"}, {"t", "--set", "c", "--set", "b"}),
              ElementsAre("argument:--set: a -> c"))
      << "one twice: by place";
}

TEST(AxisNames, ArgumentsAreCalledByTheOptionBefore) {
  const std::vector<std::string> command = {"python", "train.py", "--lr", "-0.5", "-v", "--seed=3"};
  EXPECT_EQ(ArgumentName(command, 1), "1");
  EXPECT_EQ(ArgumentName(command, 3), "--lr");
  EXPECT_EQ(ArgumentName(command, 5), "--seed");
  EXPECT_EQ(FindArgument(command, "lr")->value, "-0.5");
  EXPECT_EQ(FindArgument(command, "SEED")->prefix, "--seed=");
  EXPECT_FALSE(FindArgument(command, "").has_value());
  EXPECT_FALSE(FindArgument(command, "python").has_value());
}

}  // namespace
}  // namespace rharness
