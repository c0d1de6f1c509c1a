// What is kept while files are being deleted.
#include "harness/trust/retention/standing_plan.h"

#include <gmock/gmock.h>

#include "tests/trust/retention/retention_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StandingPlanTest : public RetentionWorld {
 protected:
  StandingPlanTest() {
    AddRun("a", kDay1);
    AddRun("z", kDay2);
    Manifest reads = MakeManifest("ft", kDay2, "ft");
    DataItem item;
    item.name = "init";
    item.location = "latest";
    item.path = "init";
    item.kind = DataKind::kDirectory;
    item.sha256 = std::string(64, '5');
    item.size_bytes = 5;
    reads.data = {item};
    Add(reads);
    auto made = StandingPlan::Make({.root = Root(),
                                    .history = Path().string(),
                                    .policy = (folder_.path() / "policy.yaml").string(),
                                    .never = {}},
                                   &clock_, store_.get());
    if (!made.ok()) Abort(made.error().ToString());
    plan_ = std::make_unique<StandingPlan>(std::move(*made));
  }
  std::string Why() {
    const auto why = plan_->WhyHeld(
        plan_->report().list.items.empty() ? item_ : item_ = plan_->report().list.items.front());
    return why.ok() ? *why : why.error().ToString();
  }

  FakeClock clock_{At("2026-02-01T00:00:00.000Z")};
  std::unique_ptr<StandingPlan> plan_;
  DeletionItem item_;
};

TEST_F(StandingPlanTest, HeedsAHoldThatIsWrittenMeanwhile) {
  EXPECT_EQ(Why(), "");
  Policy(
      "retention:\n  - {families: \"*\", keep_last: 1}\nholds:\n  - {runs: a, reason: case 7}\n");
  EXPECT_EQ(Why(), "run a is kept: hold: case 7 (policy.yaml:5)");
  Policy("retention:\n  - {families: \"*\", keep_last: 1}\n");
  EXPECT_EQ(Why(), "");
}

TEST_F(StandingPlanTest, DeletesNothingByAPolicyThatCannotBeRead) {
  EXPECT_EQ(Why(), "");
  Put("policy.yaml", "version: 1\nretention: 7\n");
  EXPECT_THAT(Why(), HasSubstr("policy.yaml"));
}

TEST_F(StandingPlanTest, KnowsHowMuchOfTheHistoryItSaw) {
  EXPECT_EQ(plan_->mark(), *store_->Mark());
  Judge("a", "drifted", kDay3);
  EXPECT_NE(plan_->mark(), *store_->Mark());
  ASSERT_TRUE(plan_->Renew().ok());
  EXPECT_EQ(plan_->mark(), *store_->Mark());
  item_.path = "a.bin";
  item_.size_bytes = std::string("weights of a").size();
  item_.sha256 = Sha256HexOf("weights of a");
  item_.runs = {"a"};
  EXPECT_EQ(Why(), "run a is kept: open: its last verdict is drifted");
}

TEST_F(StandingPlanTest, LooksAgainAtLinksAfterAWhile) {
  EXPECT_EQ(Why(), "");
  fs::create_symlink("a.bin", Root() / "latest");
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_EQ(Why(), "is data 'init' of run ft");
}

}  // namespace
}  // namespace rharness
