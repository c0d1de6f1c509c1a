// Plans are values: what comes first, what is left out, what it costs.
#include "harness/drill/plan.h"

#include <gtest/gtest.h>

#include <set>

namespace rharness {
namespace {

Manifest Recorded(std::string run_id, double duration_seconds, int cpus = 1) {
  Manifest manifest;
  manifest.run_id = std::move(run_id);
  manifest.duration_seconds = duration_seconds;
  manifest.resources.cpus = cpus;
  return manifest;
}

PlanOptions Options(int cpus) {
  PlanOptions options;
  options.slots.cpus = cpus;
  return options;
}

std::vector<std::string> Jobs(const Plan& plan) {
  std::vector<std::string> jobs;
  for (const PlannedRerun& rerun : plan.reruns) jobs.push_back(rerun.job);
  return jobs;
}

TEST(Plan, PutsTheLongestRerunFirst) {
  const Plan plan = BuildPlan({Recorded("a", 1), Recorded("b", 9), Recorded("c", 5)}, Options(2));
  EXPECT_EQ(Jobs(plan), (std::vector<std::string>{"b.1", "c.1", "a.1"}));
  EXPECT_DOUBLE_EQ(plan.run_seconds, 15.0);
  EXPECT_DOUBLE_EQ(plan.wall_seconds, 9.0);
}

TEST(Plan, SpendsTheBudgetOnFirstRerunsBeforeSecondOnes) {
  PlanOptions options = Options(1);
  options.reruns = 2;
  options.budget_seconds = 35;
  const Plan plan = BuildPlan({Recorded("a", 10), Recorded("b", 10), Recorded("c", 10)}, options);
  EXPECT_EQ(Jobs(plan), (std::vector<std::string>{"a.1", "b.1", "c.1"}));
  EXPECT_TRUE(plan.left_out.empty());
  EXPECT_EQ(plan.notes.size(), 3U) << "three second reruns are beyond the budget";
}

TEST(Plan, NamesTheRunsThatTheBudgetLeavesOut) {
  PlanOptions options = Options(1);
  options.budget_seconds = 15;
  const Plan plan = BuildPlan({Recorded("a", 10), Recorded("b", 10)}, options);
  EXPECT_EQ(plan.left_out, (std::vector<std::string>{"b"}));
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_NE(plan.notes[0].find("budget"), std::string::npos);
}

TEST(Plan, LeavesOutWhatNoSlotCanHoldAndSaysWhatItNeeds) {
  const Plan plan = BuildPlan({Recorded("wide", 1, 64)}, Options(2));
  EXPECT_TRUE(plan.reruns.empty());
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_EQ(plan.notes[0], "wide: needs 64 CPUs, 2 are offered");
}

TEST(Plan, FillsInLimitsWhereTheManifestStatesNone) {
  PlanOptions options = Options(1);
  options.timeout_factor = 3;
  options.timeout_floor_seconds = 20;
  options.disk_bytes = 77;
  EXPECT_DOUBLE_EQ(PlanRerun(Recorded("a", 1), 1, options).resources.timeout_seconds, 20.0);
  EXPECT_DOUBLE_EQ(PlanRerun(Recorded("a", 100), 1, options).resources.timeout_seconds, 300.0);
  EXPECT_EQ(PlanRerun(Recorded("a", 1), 1, options).resources.disk_bytes, 77U);
  Manifest stated = Recorded("a", 100);
  stated.resources.timeout_seconds = 5;
  EXPECT_DOUBLE_EQ(PlanRerun(stated, 1, options).resources.timeout_seconds, 5.0);
}

TEST(Plan, AManifestMayAskForLessThanTheLimitsAndNeverForMore) {
  PlanOptions options = Options(1);
  options.memory_bytes = 1000;
  options.disk_bytes = 2000;
  options.longest_seconds = 3600;
  Manifest greedy = Recorded("greedy", 1e9);
  greedy.resources.memory_bytes = std::uint64_t{1} << 50;
  greedy.resources.disk_bytes = 2001;
  greedy.resources.timeout_seconds = 1e9;
  const Resources capped = PlanRerun(greedy, 1, options).resources;
  EXPECT_EQ(capped.memory_bytes, 1000U);
  EXPECT_EQ(capped.disk_bytes, 2000U);
  EXPECT_DOUBLE_EQ(capped.timeout_seconds, 3600.0);
  greedy.resources.timeout_seconds = 0;  // ten times a duration that is the manifest's, too
  EXPECT_DOUBLE_EQ(PlanRerun(greedy, 1, options).resources.timeout_seconds, 3600.0);
  Manifest modest = Recorded("modest", 1);
  modest.resources.memory_bytes = 10;
  modest.resources.disk_bytes = 20;
  EXPECT_EQ(PlanRerun(modest, 1, options).resources.memory_bytes, 10U);
  EXPECT_EQ(PlanRerun(modest, 1, options).resources.disk_bytes, 20U);
  const Plan plan = BuildPlan({greedy, modest}, options);
  EXPECT_EQ(plan.reruns.size(), 2U);
  ASSERT_EQ(plan.capped.size(), 2U);
  EXPECT_EQ(plan.capped[1], "greedy: requests 2001 bytes of disk, and gets 2000 (--rerun-disk)");
}

TEST(Plan, OfNothingIsEmptyAndCostsNothing) {
  const Plan plan = BuildPlan({}, Options(2));
  EXPECT_TRUE(plan.reruns.empty());
  EXPECT_DOUBLE_EQ(plan.wall_seconds, 0.0);
  EXPECT_NE(DescribePlan(plan).find("0 reruns"), std::string::npos);
}

TEST(Plan, PrintsNoControlCharactersOfAStrangersRunId) {
  const Plan plan = BuildPlan({Recorded("a\x1b[31m", 1)}, Options(2));
  EXPECT_EQ(DescribePlan(plan).find('\x1b'), std::string::npos);
}

TEST(Plan, GivesEveryNodeARerunOfEachRun) {
  PlanOptions options = Options(3);
  options.reruns = 3;
  options.nodes = {"n1", "n2", "n3"};
  const Plan plan = BuildPlan({Recorded("a", 1), Recorded("b", 1)}, options);
  std::set<std::string> seen;
  for (const PlannedRerun& rerun : plan.reruns) seen.insert(rerun.job + " " + rerun.node);
  EXPECT_EQ(seen,
            (std::set<std::string>{"a.1 n1", "a.2 n2", "a.3 n3", "b.1 n1", "b.2 n2", "b.3 n3"}));
  EXPECT_EQ(PlanRerun(Recorded("a", 1), 4, options).node, "n1") << "one more, to confirm";
  EXPECT_EQ(PlanReplicate(Recorded("a", 1), 1, options).node, "") << "wherever there is room";
}

}  // namespace
}  // namespace rharness
