// Nodes and ranks of one run as facts: where they ran, and what one of them has alone.
#include "harness/judge/gang_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "harness/judge/facts_of.h"

namespace rharness {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::map<std::string, std::vector<std::string>> SeedOf(const std::string& value) {
  return {{"random.seed", std::vector<std::string>{value}}};
}

Observation Seeded(const std::string& seed) {
  Observation seen;
  seen.means = {std::string(kSeenByPython)};
  seen.seeds = SeedOf(seed);
  return seen;
}

GangParts On(const std::vector<std::string>& hosts) {
  std::vector<SeenNode> nodes;
  std::vector<SeenTask> tasks;
  for (const std::string& host : hosts) {
    nodes.push_back({.host = host, .environment = {}});
    const int node = static_cast<int>(nodes.size()) - 1;
    tasks.push_back(
        {.node = node, .outcome = {}, .observation = Seeded(std::to_string(100 + node))});
  }
  return PartsOf(nodes, tasks);
}

Manifest RecordedOn(const std::vector<std::string>& hosts) {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.observation = Seeded("100");
  manifest.gang = Gang{.nodes = static_cast<int>(hosts.size()),
                       .tasks_per_node = 1,
                       .start = GangStart::kPerTask,
                       .workspace = GangWorkspace::kShared,
                       .rendezvous = {},
                       .parts = On(hosts)};
  return manifest;
}

Evidence RerunOn(const std::vector<std::string>& hosts) {
  Evidence evidence;
  evidence.observation = Seeded("100");
  evidence.gang = On(hosts);
  return evidence;
}

std::array<LayerComparison, 5> OfGang(const Manifest& manifest, const Evidence& evidence) {
  return CompareFacts(FactsAsRerun(manifest, evidence), FactsOf(evidence, manifest));
}

const FactDifference* FindIn(const std::array<LayerComparison, 5>& layers, std::string_view key) {
  for (const LayerComparison& layer : layers) {
    const auto found = std::ranges::find(layer.differences, key, &FactDifference::key);
    if (found != layer.differences.end()) return &*found;
  }
  return nullptr;
}

TEST(GangFacts, TheSameNodesInAnotherOrderAreNamedAndComparable) {
  const auto layers = OfGang(RecordedOn({"n1", "n2", "n3"}), RerunOn({"n2", "n1", "n3"}));
  const FactDifference* order = FindIn(layers, kGangNodeOrder);
  ASSERT_NE(order, nullptr);
  EXPECT_EQ(order->recorded, "node 0 n1, node 1 n2");
  EXPECT_EQ(order->observed, "node 0 n2, node 1 n1, the same nodes in another order");
  EXPECT_EQ(order->weight, FactWeight::kContext) << "it is comparable";
  EXPECT_EQ(order->layer, Layer::kHardware);
  EXPECT_EQ(FindIn(layers, kGangNodeSet), nullptr);
}

TEST(GangFacts, OtherNodesAreNamedByNumber) {
  const auto layers = OfGang(RecordedOn({"n1", "n2"}), RerunOn({"n1", "n4"}));
  const FactDifference* other = FindIn(layers, kGangNodeSet);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->recorded, "node 1 n2");
  EXPECT_EQ(other->observed, "node 1 n4, other nodes of the class");
  EXPECT_EQ(other->weight, FactWeight::kContext);
  EXPECT_EQ(FindIn(layers, kGangNodeOrder), nullptr);
}

TEST(GangFacts, TheRecordedNodesAndUnknownOnesAreNoDifference) {
  for (const std::string& host : {std::string("n2"), std::string()}) {
    const auto layers = OfGang(RecordedOn({"n1", "n2"}), RerunOn({"n1", host}));
    for (const LayerComparison& layer : layers) EXPECT_THAT(layer.differences, IsEmpty());
  }
}

TEST(GangFacts, WhatNcclChoseIsComparedRankByRank) {
  Manifest manifest = RecordedOn({"n1", "n2"});
  Evidence evidence = RerunOn({"n1", "n2"});
  manifest.observation->nccl["network"] = evidence.observation->nccl["network"] = "IB";
  EXPECT_EQ(FindIn(OfGang(manifest, evidence), "nccl.network"), nullptr);
  evidence.gang->ranks[1].nccl.emplace()["network"] = "Socket";
  const auto layers = OfGang(manifest, evidence);
  const FactDifference* other = FindIn(layers, "nccl.network on rank 1");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->recorded, "IB");
  EXPECT_EQ(other->observed, "Socket on n2");
  EXPECT_EQ(other->weight, FactWeight::kContext);
  EXPECT_EQ(other->layer, Layer::kEnvironment);
  EXPECT_EQ(FindIn(layers, "nccl.network"), nullptr) << "rank 0 has the recorded one";
}

TEST(GangFacts, KernelsAreComparedRankByRank) {
  Manifest manifest = RecordedOn({"n1", "n2"});
  Evidence evidence = RerunOn({"n1", "n2"});
  SeenKernels kernels{.launched = {{.name = "sgemm", .launches = 3}}, .is_all = true};
  manifest.observation->kernels = evidence.observation->kernels = kernels;
  EXPECT_EQ(FindIn(OfGang(manifest, evidence), "gpu_kernel.sgemm"), nullptr);
  kernels.launched[0].launches = 4;
  evidence.gang->ranks[1].kernels = kernels;
  const auto layers = OfGang(manifest, evidence);
  const FactDifference* other = FindIn(layers, "gpu_kernel.sgemm on rank 1");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->recorded, "3 launches");
  EXPECT_EQ(other->observed, "4 launches on n2");
  EXPECT_EQ(FindIn(layers, "gpu_kernel.sgemm"), nullptr) << "rank 0 has the recorded ones";
}

TEST(GangFacts, OfAThousandNodesEightAreTold) {
  std::vector<std::string> then, now;
  for (int i = 0; i < 1000; ++i) {
    then.push_back("a" + std::to_string(i));
    now.push_back("b" + std::to_string(i));
  }
  const auto layers = OfGang(RecordedOn(then), RerunOn(now));
  ASSERT_NE(FindIn(layers, kGangNodeSet), nullptr);
  EXPECT_LT(FindIn(layers, kGangNodeSet)->observed->size(), 160U);
}

TEST(GangFacts, ASeedOfOneRankIsNamedWithTheHostsItWasSeenOn) {
  Evidence evidence = RerunOn({"n1", "n4"});
  evidence.gang->ranks[1].seeds = SeedOf("7");
  const auto layers = OfGang(RecordedOn({"n1", "n2"}), evidence);
  const FactDifference* seed = FindIn(layers, "seed_set.random.seed on rank 1");
  ASSERT_NE(seed, nullptr);
  EXPECT_EQ(seed->recorded, "101 on n2");
  EXPECT_EQ(seed->observed, "7 on n4");
  Evidence same = RerunOn({"n1", "n2"});
  same.gang->ranks[1].seeds = SeedOf("7");
  const auto there = OfGang(RecordedOn({"n1", "n2"}), same);
  seed = FindIn(there, "seed_set.random.seed on rank 1");
  ASSERT_NE(seed, nullptr);
  EXPECT_EQ(seed->recorded, "101");
  EXPECT_EQ(seed->observed, "7 on n2");
}

TEST(GangFacts, TwoRecordsAreComparedAsARerunIs) {
  EXPECT_THAT(FactsOfGang(RecordedOn({"n1", "n2"}), RecordedOn({"n2", "n1"})).observed, SizeIs(2))
      << "the order, and the seed of rank 1, which is not rank 0's";
  Manifest alone = RecordedOn({"n1", "n2"});
  alone.gang.reset();
  EXPECT_THAT(FactsOfGang(RecordedOn({"n1", "n2"}), alone).observed, IsEmpty());
}

}  // namespace
}  // namespace rharness
