// What sinfo of Slurm 22.05 printed, and which nodes that makes.
#include "harness/execution/dispatch/slurm_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A drained node whose reason has a bar and two lines, and a node in two partitions.
constexpr std::string_view kPrinted =
    "n1|p*|drained|a100,big|bad | DIMM, see \n"
    "ticket\n"
    "n2|p*|idle|a100|none\n"
    "n3|p*|unknown*|(null)|none\n"
    "n3|q|unknown*|(null)|none\n"
    "n4|q|mixed-|a100|none\n";

std::vector<std::string> NamesOf(const std::vector<SlurmNode>& nodes) {
  std::vector<std::string> names;
  for (const SlurmNode& node : nodes) names.push_back(node.name);
  return names;
}

TEST(SlurmNodes, HaveNoReasonThatFillsAScreen) {
  const auto nodes = ParseSinfo("n1|p*|down|(null)|" + std::string(1'000'000, 'x') + "\n", false);
  ASSERT_TRUE(nodes.ok()) << nodes.error().ToString();
  EXPECT_LT(nodes->front().reason.size(), 1000u);
}

TEST(SlurmNodes, AreReadFromWhatSinfoPrints) {
  const auto nodes = ParseSinfo(kPrinted, false);
  ASSERT_TRUE(nodes.ok()) << nodes.error().ToString();
  EXPECT_THAT(NamesOf(*nodes), ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_EQ(nodes->at(0).state, "drained");
  EXPECT_THAT(nodes->at(0).features, ElementsAre("a100", "big"));
  EXPECT_EQ(DescribeState(nodes->at(0)), "drained: bad | DIMM, see ");
  EXPECT_EQ(nodes->at(1).reason, "");
  EXPECT_TRUE(nodes->at(2).silent);
  EXPECT_TRUE(nodes->at(2).features.empty());
  EXPECT_EQ(nodes->at(3).state, "mixed");
  EXPECT_TRUE(ParseSinfo("", false)->empty());
}

TEST(SlurmNodes, AreThoseOfTheDefaultPartitionUnlessOneIsNamed) {
  EXPECT_THAT(NamesOf(*ParseSinfo(kPrinted, true)), ElementsAre("n1", "n2", "n3"));
}

TEST(SlurmNodes, AreRefusedWhereALineIsNone) {
  const auto bad = ParseSinfo("slurm_load_node error\nn1|p*|idle|a|none\n", true);
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().ToString(), HasSubstr("slurm_load_node error"));
  for (const char* name : {"", "..", ".hidden", "a/b", "-n", "n 1", "n\x1b[1m"}) {
    EXPECT_FALSE(ParseSinfo(std::string(name) + "|p*|idle|a|none\n", true).ok()) << name;
  }
}

TEST(SlurmNodes, AreFreeBusyOrUnusable) {
  const auto room = [](const std::string& state, bool reserved = false) {
    return RoomOf(ParseSinfo("n|p*|" + state + "|x|none\n", true)->front(), reserved);
  };
  for (const char* state : {"idle", "idle~", "idle%"}) {
    EXPECT_EQ(room(state), NodeRoom::kFree) << state;
  }
  for (const char* state : {"mixed", "allocated", "allocated+", "completing", "planned", "reserved",
                            "maint", "something_new"}) {
    EXPECT_EQ(room(state), NodeRoom::kBusy) << state;
  }
  for (const char* state : {"down", "down*", "idle*", "drained", "draining", "drained*", "fail",
                            "failing", "future", "inval", "unknown*"}) {
    EXPECT_EQ(room(state), NodeRoom::kUnusable) << state;
  }
  EXPECT_EQ(room("maint$", true), NodeRoom::kFree);
  EXPECT_EQ(room("drained", true), NodeRoom::kUnusable);
}

TEST(SlurmNodes, AreMeantByOptionsOfSbatch) {
  const auto choice = ChooseNodes({"--partition=gpu", "--nodelist=n[1-8]", "--account=ml",
                                   "--exclude=n3", "--constraint=a100&nvme", "--reservation=r"});
  ASSERT_TRUE(choice.ok()) << choice.error().ToString();
  EXPECT_EQ(choice->partition, "gpu");
  EXPECT_EQ(choice->nodelist, "n[1-8]");
  EXPECT_EQ(choice->exclude, "n3");
  EXPECT_TRUE(choice->reserved);
  EXPECT_THAT(choice->others, ElementsAre("--partition=gpu", "--account=ml",
                                          "--constraint=a100&nvme", "--reservation=r"));
  for (const char* option : {"--nodes=4", "--ntasks=2", "--nodefile=f", "--spread-job"}) {
    const auto refused = ChooseNodes({option});
    ASSERT_FALSE(refused.ok()) << option;
    EXPECT_THAT(refused.error().ToString(), HasSubstr("--distribute"));
  }
  EXPECT_FALSE(ChooseNodes({"--constraint=a100*4"}).ok());
}

TEST(SlurmNodes, AreNamedTogetherAsSlurmDoes) {
  EXPECT_EQ(FoldNames({}), "");
  EXPECT_EQ(FoldNames({"n1"}), "n1");
  EXPECT_EQ(FoldNames({"n2", "n10", "n1", "n9", "n11", "n1"}), "n[1-2,9,10-11]");
  EXPECT_EQ(FoldNames({"gpu-001", "gpu-002", "gpu-1", "login", "cpu7"}),
            "cpu7,gpu-[1,001-002],login");
  EXPECT_EQ(FoldNames({"n", "n1", "n2"}), "n,n[1-2]");
  EXPECT_EQ(FoldNames({"12", "13"}), "12,13") << "not every Slurm reads \"[12-13]\"";
  const std::string many(30, '9');
  EXPECT_EQ(FoldNames({"n" + many, "n" + many + "8"}), "n" + many + ",n" + many + "8");
  std::vector<std::string> fleet;
  for (int i = 1; i <= 5000; ++i) fleet.push_back("n" + std::to_string(10000 + i).substr(1));
  EXPECT_EQ(FoldNames(fleet), "n[0001-5000]");
}

TEST(SlurmNodes, HaveTheFeaturesThatAConstraintAsksFor) {
  const std::set<std::string> features = {"a100", "nvme"};
  for (const char* text : {"a100", "a100&nvme", "a100,nvme", "h100|a100", "a100&(ssd|nvme)",
                           "[h100|a100]", "((a100))", "h100&ssd|nvme"}) {
    const auto holds = HasFeatures(text, features);
    ASSERT_TRUE(holds.ok()) << holds.error().ToString();
    EXPECT_TRUE(*holds) << text;
  }
  // From left to right: (nvme|a100)&h100.
  for (const char* text : {"h100", "a10", "a100&h100", "nvme|a100&h100", "(h100|ssd)&nvme"}) {
    EXPECT_FALSE(*HasFeatures(text, features)) << text;
  }
  for (const char* text : {"", "&", "a100&", "a100*4", "(a100", "a100)", "[a100)", "a100||nvme"}) {
    EXPECT_FALSE(HasFeatures(text, features).ok()) << text;
  }
  EXPECT_FALSE(HasFeatures(std::string(1000, '('), features).ok());
}

}  // namespace
}  // namespace rharness
