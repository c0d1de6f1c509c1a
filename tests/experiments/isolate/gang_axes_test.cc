// The axes of a run over several nodes: single ranks, single nodes, and which nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/experiments/isolate/axes.h"
#include "harness/experiments/isolate/out_of_reach.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Manifest OfTwoByTwo() {
  Manifest run;
  run.run_id = "run";
  run.command = {"train", "--seed", "7", "--lr", "0.1"};
  run.environment.variables = {{"A", "1"}};
  run.gang = Gang{.nodes = 2,
                  .tasks_per_node = 2,
                  .start = GangStart::kPerTask,
                  .workspace = GangWorkspace::kShared,
                  .rendezvous = {},
                  .parts = {}};
  run.gang->parts.nodes = {{.host = "n1", .environment = {}}, {.host = "n2", .environment = {}}};
  for (const int node : {0, 0, 1, 1}) {
    run.gang->parts.ranks.push_back(GangRank{.node = node});
  }
  return run;
}

Result<GivenAxis> Parsed(const std::string& text) {
  return ParseGivenAxis(text,
                        [](std::string_view) -> Result<Image> { return InvalidInput("none"); });
}

Result<std::vector<Axis>> AxesOfGang(const std::vector<std::string>& texts,
                                     const Manifest& run = OfTwoByTwo()) {
  std::vector<Axis> axes;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const GivenAxis given, Parsed(text));
    RETURN_IF_ERROR(AddGivenAxis(run, given, &axes));
  }
  return axes;
}

std::string WhyNot(const std::string& text, const Manifest& run = OfTwoByTwo()) {
  const auto axes = AxesOfGang({text}, run);
  return axes.ok() ? "" : axes.error().ToString();
}

TEST(GangAxes, AValueOfOneRankOrNodeIsSetThereAlone) {
  const auto axes = AxesOfGang(
      {"seed:seed=8 on rank 3", "env:A=2 on node 1", "argument:lr=0.2", "env:A on rank 0"});
  ASSERT_TRUE(axes.ok()) << axes.error().ToString();
  EXPECT_EQ((*axes)[0].name, "argument:--seed on rank 3");
  EXPECT_EQ((*axes)[1].name, "env:A on node 1");
  const TrialRun run = RunAt(OfTwoByTwo(), *axes, {1, 1, 1, 1});
  EXPECT_THAT(run.manifest.command, ElementsAre("train", "--seed", "7", "--lr", "0.2"));
  EXPECT_EQ(run.manifest.environment.variables.at("A"), "1");
  ASSERT_EQ(run.ranks.size(), 3U);
  EXPECT_EQ(run.ranks[0].rank, 3);
  EXPECT_THAT(run.ranks[0].command, ElementsAre("train", "--seed", "8", "--lr", "0.2"))
      << "with what all ranks get";
  EXPECT_EQ(run.ranks[0].environment.at("A"), "2");
  EXPECT_EQ(run.ranks[1].rank, 2);
  EXPECT_EQ(run.ranks[1].environment.at("A"), "2");
  EXPECT_EQ(run.ranks[2].rank, 0);
  EXPECT_EQ(run.ranks[2].environment.at("A"), std::nullopt);
  EXPECT_TRUE(RunAt(OfTwoByTwo(), *axes, {0, 0, 0, 0}).ranks.empty());
}

TEST(GangAxes, APartThatTheRunDoesNotHaveIsRefused) {
  EXPECT_THAT(WhyNot("env:A=2 on rank 4"), HasSubstr("expected a rank from 0 to 3"));
  EXPECT_THAT(WhyNot("env:A=2 on node 2"), HasSubstr("expected a node from 0 to 1"));
  EXPECT_THAT(WhyNot("env:A=2 on rank x"), HasSubstr("expected a rank"));
  Manifest once = OfTwoByTwo();
  once.gang->start = GangStart::kOnce;
  EXPECT_THAT(WhyNot("env:A=2 on rank 1", once), HasSubstr("starts its ranks itself"));
  once.gang.reset();
  EXPECT_THAT(WhyNot("env:A=2 on rank 1", once), HasSubstr("recorded as one process"));
}

TEST(GangAxes, NodesAreSetTogetherAndAsManyAsThereAre) {
  const auto axes = AxesOfGang({"node:n3,n4"});
  ASSERT_TRUE(axes.ok()) << axes.error().ToString();
  EXPECT_EQ(RunAt(OfTwoByTwo(), *axes, {1}).node, "n3,n4");
  EXPECT_THAT(WhyNot("node:n3"), HasSubstr("the names of 2 nodes"));
  EXPECT_THAT(WhyNot("node:n3,n3"), HasSubstr("the names of 2 nodes"));
  EXPECT_THAT(WhyNot("node:n3,-x"), HasSubstr("the names of 2 nodes"));
  EXPECT_THAT(WhyNot("node:n1,n2"), HasSubstr("is what was recorded"));
  EXPECT_EQ(WhyNot("node:n2,n1"), "") << "in another order";
  Manifest once = OfTwoByTwo();
  once.gang->start = GangStart::kOnce;
  EXPECT_THAT(WhyNot("node:n2,n1", once), HasSubstr("so numbers their nodes"));
  EXPECT_EQ(WhyNot("node:n3,n1", once), "");
  Manifest alone = OfTwoByTwo();
  alone.gang.reset();
  EXPECT_THAT(WhyNot("node:n3,n4", alone), HasSubstr("expected the name of a node"));
}

TEST(GangAxes, OtherNodesAndAnotherOrderAreNamedWithTheReasonWhyTheyAreNotSet) {
  Manifest now = OfTwoByTwo();
  std::swap(now.gang->parts.nodes[0].host, now.gang->parts.nodes[1].host);
  const auto order = AxesBetween(OfTwoByTwo(), now);
  ASSERT_EQ(order.size(), 1U);
  EXPECT_EQ(order[0].name, "gang.node_order");
  EXPECT_THAT(order[0].cannot_be_set, HasSubstr("on this machine all nodes are one"));
  now.gang->parts.nodes[0].host = "n7";
  const auto set = AxesBetween(OfTwoByTwo(), now);
  ASSERT_EQ(set.size(), 1U);
  EXPECT_EQ(set[0].name, "gang.node_set");
  EXPECT_THAT(set[0].cannot_be_set, HasSubstr("--axis node:NAME,NAME"));
}

TEST(GangAxes, FactsOfOneNodeAreNamedByItsNumber) {
  Manifest now = OfTwoByTwo();
  now.gang->parts.nodes[1].environment = now.environment;
  now.gang->parts.nodes[1].environment->variables["A"] = "2";
  now.gang->parts.nodes[1].environment->software["glibc"] = "2.99";
  const auto axes = AxesBetween(OfTwoByTwo(), now);
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    names.push_back(axis.name);
    EXPECT_FALSE(axis.cannot_be_set.empty()) << axis.name;
  }
  EXPECT_THAT(names, testing::Contains("variable.A on node 1"));
}

TEST(GangAxes, ARerunIsSeenWithItsOwnNodes) {
  Evidence evidence;
  evidence.gang = OfTwoByTwo().gang->parts;
  evidence.gang->nodes[1].host = "n9";
  EXPECT_EQ(AsSeen(OfTwoByTwo(), evidence).gang->parts.nodes[1].host, "n9");
}

}  // namespace
}  // namespace rharness
