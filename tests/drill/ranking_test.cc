// Who comes first of a whole history, in each kind of database.
#include "harness/drill/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/drill/surroundings.h"
#include "harness/records/manifest/packages.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::ElementsAre;

constexpr char kToday[] = "2026-01-11T00:00:00.000Z";

class RankingTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
  }
  void Add(const std::string& run_id, const std::string& started,
           const std::string& family = "mlp") {
    ASSERT_TRUE(store_->Add(MakeManifest(run_id, started, family), At(started)).ok());
  }
  void Judge(const std::string& run_id, const std::string& verdict, const std::string& day,
             const Environment& environment, std::int64_t seed = 1) {
    Evidence evidence;
    evidence.run_id = run_id;
    evidence.rerun = 1;
    evidence.seeds = {{"init", seed}};
    evidence.environment = environment;
    const std::string drill_id = "drill-" + std::to_string(++drills_);
    const Status added = store_->AddDrill(drill_id, At(day),
                                          {{drill_id, run_id, 1, "exited with 0", 1.0, "e",
                                            [=] { return SurroundingsOf(evidence); }}},
                                          {MakeVerdict(drill_id, run_id, verdict, day)});
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  }
  std::vector<std::string> Order(const DrillOptions& options) {
    const auto entries = store_->List(false).value();
    const auto ranking = Ranking::Make(entries, options, At(kToday), store_.get());
    EXPECT_TRUE(ranking.ok()) << ranking.error().ToString();
    if (!ranking.ok()) return {};
    risks_ = ranking->Explain(ranking->order());
    return ranking->order();
  }
  static DrillOptions ByRisk() {
    DrillOptions options;
    options.order = kOrderRisk;
    return options;
  }
  static Environment Here() {
    Environment here = CaptureEnvironment();
    here.packages = CapturePackages({});
    return here;
  }
  static Environment WithKernel(const std::string& kernel) {
    Environment environment = Here();
    environment.software["kernel"] = kernel;
    return environment;
  }

  std::unique_ptr<HistoryStore> store_;
  std::vector<RunRisk> risks_;
  int drills_ = 0;
};

TEST_P(RankingTest, TakesTheOldestTheStakedAndTheChangedFirst) {
  for (const char* id : {"old", "new", "changed"}) Add(id, kDay1);
  Add("staked", kDay1, "llama");
  Judge("old", "identical", "2026-01-08T00:00:00.000Z", Here());               // 3 days x 1 x 1
  Judge("new", "identical", "2026-01-10T00:00:00.000Z", Here());               // 1 x 1 x 1
  Judge("changed", "drifted", "2026-01-09T00:00:00.000Z", WithKernel("1.0"));  // 2 x 1 x 2
  Judge("staked", "equivalent", "2026-01-10T00:00:00.000Z", Here());           // 1 x 5 x 1
  DrillOptions options = ByRisk();
  options.stakes = {{"family = llama", 5, "p.yaml:3"}};
  EXPECT_THAT(Order(options), ElementsAre("staked", "changed", "old", "new"));
  std::vector<double> days;
  for (const RunRisk& risk : risks_) days.push_back(risk.risk_days);
  EXPECT_THAT(days, ElementsAre(5.0, 4.0, 3.0, 1.0));
  EXPECT_THAT(risks_[1].change.changed, ElementsAre(testing::StartsWith("kernel 1.0 -> ")));
}

TEST_P(RankingTest, OrdersEqualRisksByWaitAndThenByTheSeed) {
  for (const char* id : {"a", "b", "c", "d", "e"}) Add(id, kDay1);
  const auto first = Order(ByRisk());
  EXPECT_EQ(Order(ByRisk()), first);
  DrillOptions waiting;
  waiting.sample = 5;
  EXPECT_EQ(Order(waiting), first);
  EXPECT_TRUE(risks_.empty());
  DrillOptions other = ByRisk();
  other.seed = 7;
  EXPECT_NE(Order(other), first);
}

TEST_P(RankingTest, ComparesWithTheLastDecisionAndNotWithWhatCameToNone) {
  Add("a", kDay1);
  Judge("a", "identical", kDay1, WithKernel("1.0"));
  Judge("a", "inconclusive", kDay2, Here());
  Order(ByRisk());
  EXPECT_EQ(risks_[0].change.changed.size(), 1u);
  Judge("a", "identical", kDay3, Here());
  Order(ByRisk());
  EXPECT_EQ(risks_[0].change.changed.size(), 0u);
}

TEST_P(RankingTest, KnowsAnEnvironmentOfManyRunsOnce) {
  for (int i = 0; i < 20; ++i) {
    Add("run-" + std::to_string(i), kDay1);
    Judge("run-" + std::to_string(i), "identical", kDay2, WithKernel(i < 10 ? "1" : "2"), i);
  }
  const auto entries = store_->List(false).value();
  const auto environments = store_->EnvironmentsOf(entries).value();
  EXPECT_EQ(environments.digests.size(), 2u);
  EXPECT_EQ(environments.which.size(), 2u) << "seeds are no part of it";
  EXPECT_EQ(environments.which.at(entries[0].environment_sha256),
            environments.which.at(entries[1].environment_sha256));
}

TEST_P(RankingTest, HoldsAClusterToWhatItsNodesWereLately) {
  for (const char* id : {"long-ago", "lately", "other-node"}) Add(id, kDay1);
  Environment node = WithKernel("6.8");
  node.hardware.cpu.model = "Node A";
  Environment other = WithKernel("6.8");
  other.hardware.cpu.model = "Node B";
  Environment before = WithKernel("6.1");
  before.hardware.cpu.model = "Node B";
  Judge("long-ago", "identical", kDay1, before);
  Judge("lately", "identical", "2026-01-10T00:00:00.000Z", node);
  Judge("other-node", "identical", "2026-01-10T12:00:00.000Z", other);
  DrillOptions options = ByRisk();
  options.dispatch = "slurm";
  EXPECT_THAT(Order(options), ElementsAre("long-ago", "lately", "other-node"));
  EXPECT_THAT(risks_[0].change.changed, ElementsAre("kernel 6.1 -> 6.8"));
  EXPECT_EQ(risks_[1].doubt, 1.0);
  EXPECT_EQ(risks_[2].doubt, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Both, RankingTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
