// What rules would delete, and what is kept whatever they say.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/trust/retention/needed_files.h"
#include "tests/trust/retention/retention_world.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RetentionPlan : public RetentionWorld {};

TEST_F(RetentionPlan, ListsWhatIsNeitherAmongTheLastNorYoung) {
  AddRun("a", kDay1);
  AddRun("b", kDay2);
  AddRun("c", kDay3);
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("a.bin", "b.bin"));
  Policy("retention:\n  - {families: \"*\", keep_last: 2}\n");
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("a.bin"));
  Policy("retention:\n  - {families: \"*\", keep_days: 30}\n");
  // b is 30 days old on 2026-02-01, and no day younger.
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("a.bin", "b.bin"));
  EXPECT_THAT(PathsOf(Plan("2026-01-31T23:59:59.999Z")), ElementsAre("a.bin"));
  Policy("retention:\n  - {families: \"*\", keep_last: 2, keep_days: 32}\n");
  EXPECT_THAT(PathsOf(Plan()), IsEmpty());
  EXPECT_THAT(PathsOf(Plan("2026-02-02T00:00:00.000Z")), ElementsAre("a.bin"));
}

TEST_F(RetentionPlan, SaysWhyAFileGoesWhatIsLostAndNothingOfToday) {
  AddRun("a", kDay1);
  AddRun("b", kDay2);
  const RetentionReport report = Plan();
  ASSERT_EQ(report.list.items.size(), 1u);
  const DeletionItem& item = report.list.items[0];
  EXPECT_EQ(item.size_bytes, std::string("weights of a").size());
  EXPECT_EQ(item.why, "recorded 2026-01-01: not the last of family mlp (policy.yaml:3)");
  EXPECT_THAT(item.lost, HasSubstr("how far they differ cannot"));
  EXPECT_THAT(item.runs, ElementsAre("a"));
  EXPECT_EQ(DigestOf(report.list), DigestOf(Plan("2026-03-01T00:00:00.000Z").list));
  EXPECT_EQ(DigestOf(report.list), DigestOf(*ParseDeletionList(TextOf(report.list), "list")));
}

TEST_F(RetentionPlan, KeepsAFamilyThatNoRuleNamesAndTakesTheFirstThatDoes) {
  AddRun("a", kDay1);
  AddRun("b", kDay2);
  Policy("retention:\n  - {families: \"cnn*\", keep_last: 1}\n");
  EXPECT_EQ(WhyKept(Plan(), "a"), "no rule names family mlp");
  Policy(
      "retention:\n  - {families: \"ml*\", keep_last: 9}\n  - {families: \"*\", keep_last: 1}\n");
  EXPECT_EQ(WhyKept(Plan(), "a"), "among the last 9 of family mlp (policy.yaml:3)");
}

TEST_F(RetentionPlan, KeepsWhatIsHeldAndWhatSomebodyHasToLookAt) {
  for (const char* run : {"a", "b", "c", "d"}) AddRun(run, kDay1);
  AddRun("z", kDay2);
  Judge("b", "drifted", kDay3);
  Judge("c", "identical", kDay3);
  Policy(
      "retention:\n  - {families: \"*\", keep_last: 1}\n"
      "holds:\n  - {runs: \"a*\", families: mlp, reason: case 7}\n"
      "  - {runs: \"d\", families: other, reason: case 8}\n");
  const RetentionReport report = Plan();
  EXPECT_THAT(PathsOf(report), ElementsAre("d.bin"));
  EXPECT_EQ(WhyKept(report, "a"), "hold: case 7 (policy.yaml:5)");
  EXPECT_EQ(WhyKept(report, "b"), "open: its last verdict is drifted");
  EXPECT_EQ(WhyKept(report, "c"), "last good run of family mlp");
}

TEST_F(RetentionPlan, KeepsWhatAWaiverIsAboutWhileItHolds) {
  Manifest waived = Made("a", kDay1, "a.bin", "w");
  waived.probe_families = {"gemm"};
  Put("root/a.bin", "w");
  Add(waived);
  AddRun("z", kDay2);
  Policy(
      "retention:\n  - {families: \"*\", keep_last: 1}\nwaivers:\n"
      "  - {probes: \"family:gemm\", reason: r, signed_by: Ada, until: 2026-02-10}\n");
  EXPECT_THAT(WhyKept(Plan(), "a"), HasSubstr("waiver 'family:gemm' of what it depends on holds"));
  EXPECT_THAT(PathsOf(Plan("2026-02-11T00:00:00.000Z")), ElementsAre("a.bin"));
}

// What of "a", which declares these families, is deleted while this waiver holds.
class RetentionWaivers : public RetentionWorld {
 protected:
  std::vector<std::string> Deleted(const std::string& probes) const {
    Policy("retention:\n  - {families: \"*\", keep_last: 1}\nwaivers:\n  - {probes: \"" + probes +
           "\", reason: r, signed_by: Ada, until: 2026-02-10}\n");
    return PathsOf(Plan());
  }
  void AddDeclaring(const std::vector<std::string>& families) const {
    Manifest run = Made("a", kDay1, "a.bin", "w");
    run.probe_families = families;
    Put("root/a.bin", "w");
    Add(run);
    AddRun("z", kDay2);
  }
};

TEST_F(RetentionWaivers, AreAboutARunByTheFamiliesOfTheProbesThatTheyName) {
  AddDeclaring({"gemm"});
  for (const char* kept : {"gemm_*", "blas_bits", "family:gemm", "family:g*", "*"}) {
    EXPECT_THAT(Deleted(kept), IsEmpty()) << kept;
  }
  for (const char* deleted : {"nccl_*", "conv_bits", "family:collective"}) {
    EXPECT_THAT(Deleted(deleted), ElementsAre("a.bin")) << deleted;
  }
}

TEST_F(RetentionWaivers, OfScalarArithmeticOrOfProbesThatNobodyKnowsAreAboutEveryRun) {
  AddDeclaring({"gemm"});
  for (const char* kept : {"fp_scalar", "fp_*", "family:scalar", "site_probe_7"}) {
    EXPECT_THAT(Deleted(kept), IsEmpty()) << kept;
  }
  EXPECT_THAT(Deleted("family:site"), ElementsAre("a.bin"));
}

TEST_F(RetentionWaivers, AreAllAboutARunThatDeclaresNoFamily) {
  AddDeclaring({});
  for (const char* kept : {"nccl_*", "gemm_bits", "family:collective", "family:site", "*"}) {
    EXPECT_THAT(Deleted(kept), IsEmpty()) << kept;
  }
}

TEST_F(RetentionPlan, KeepsTheNewestGoodRunThatIsNotRetired) {
  AddRun("c", kDay1);
  AddRun("b", kDay2);
  AddRun("a", "2026-01-02T12:00:00.000Z");
  AddRun("z", kDay3);
  // The one that was verified last is neither the newest nor, after it is retired, any.
  Judge("b", "identical", "2026-01-04T00:00:00.000Z");
  Judge("c", "identical", "2026-01-05T00:00:00.000Z");
  Judge("a", "identical", "2026-01-06T00:00:00.000Z");
  EXPECT_EQ(WhyKept(Plan(), "a"), "last good run of family mlp");
  ASSERT_TRUE(store_->Retire("a", "gone", At(kDay3)).ok());
  const RetentionReport report = Plan();
  EXPECT_EQ(WhyKept(report, "b"), "last good run of family mlp");
  EXPECT_THAT(PathsOf(report), ElementsAre("a.bin", "c.bin"));
}

TEST_F(RetentionPlan, KeepsTheLastGoodRunBeforeOneThatSomebodyHasToLookAt) {
  AddRun("a", "2026-01-01T01:00:00.000Z");
  AddRun("b", "2026-01-01T02:00:00.000Z");
  AddRun("d", "2026-01-01T03:00:00.000Z");
  AddRun("n", kDay2);
  AddRun("z", kDay3);
  Judge("a", "identical", kDay3);
  Judge("b", "equivalent", kDay3);
  Judge("n", "identical", kDay3);
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("a.bin", "b.bin", "d.bin"));
  Judge("d", "drifted", kDay3);
  const RetentionReport report = Plan();
  EXPECT_THAT(PathsOf(report), ElementsAre("a.bin"));
  EXPECT_EQ(WhyKept(report, "b"), "last good run before d, which somebody has to look at");
  EXPECT_EQ(WhyKept(report, "n"), "last good run of family mlp");
}

TEST_F(RetentionPlan, CountsNoRetiredRunsAmongTheLast) {
  Policy("retention:\n  - {families: \"*\", keep_last: 2}\n");
  AddRun("a", "2026-01-01T01:00:00.000Z");
  AddRun("b", "2026-01-01T02:00:00.000Z");
  AddRun("c", "2026-01-01T03:00:00.000Z");
  AddRun("d", "2026-01-01T04:00:00.000Z");
  for (const char* run : {"c", "b"}) ASSERT_TRUE(store_->Retire(run, "gone", At(kDay3)).ok());
  const RetentionReport report = Plan();
  EXPECT_EQ(WhyKept(report, "a"), "among the last 2 of family mlp (policy.yaml:3)");
  EXPECT_EQ(WhyKept(report, "c"), "among the last 2 of family mlp (policy.yaml:3)");
  EXPECT_THAT(PathsOf(report), ElementsAre("b.bin"));
}

TEST_F(RetentionPlan, KeepsARunWhoseRecordDoesNotSayWhenItBegan) {
  Manifest manifest = Made("a", kDay1, "a.bin", "w");
  manifest.started = {};
  manifest.ended = {};
  Put("root/a.bin", "w");
  Add(manifest);
  AddRun("z", kDay2);
  Policy("retention:\n  - {families: \"*\", keep_last: 1, keep_days: 1}\n");
  EXPECT_EQ(WhyKept(Plan(), "a"), "its record does not say when it began");
  EXPECT_THAT(PathsOf(Plan()), IsEmpty());
}

TEST_F(RetentionPlan, KeepsWhatAnotherRunNeedsUnlessThatIsRetired) {
  AddRun("a", kDay1);
  Manifest needs = Made("z", kDay2, "z.bin", "z");
  needs.data.push_back({.name = "init",
                        .location = "elsewhere.bin",
                        .path = "init.bin",
                        .kind = DataKind::kFile,
                        .sha256 = Sha256HexOf("weights of a"),
                        .size_bytes = 12,
                        .other_digest = {},
                        .source = {},
                        .made_by = {}});
  Add(needs);
  EXPECT_EQ(WhyKept(Plan(), "a"), "is data 'init' of run z");
  ASSERT_TRUE(store_->Retire("z", "gone", At(kDay3)).ok());
  AddRun("zz", kDay3);
  const RetentionReport report = Plan();
  ASSERT_THAT(PathsOf(report), ElementsAre("a.bin"));
  EXPECT_THAT(report.list.items[0].lost, HasSubstr("it is data 'init' of run z"));
}

TEST_F(RetentionPlan, KeepsAFileThatARunThatIsKeptNamesToo) {
  Put("root/model.bin", "shared");
  Add(Made("a", kDay1, "model.bin", "shared"));
  Add(Made("z", kDay2, "model.bin", "shared"));
  EXPECT_EQ(WhyKept(Plan(), "a"), "is also of run z, which is kept");
}

// Its own file has been written over by one of the same size: the twin is the last copy.
TEST_F(RetentionPlan, KeepsTheLastCopyOfWhatAKeptRunMade) {
  Put("root/a.bin", "weights of x");
  Put("root/b.bin", "weights of x");
  Put("root/c.bin", "another file");
  Add(Made("a", kDay1, "a.bin", "weights of x"));
  Add(Made("b", kDay2, "b.bin", "weights of x"));
  Add(Made("c", kDay3, "c.bin", "another file"));
  Policy(
      "retention: [{families: '*', keep_last: 1}]\n"
      "holds: [{families: '*', runs: 'b', reason: 'case 7'}]\n");
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("a.bin")) << "b has its own";
  Put("root/b.bin", "weights of y");
  const RetentionReport report = Plan();
  EXPECT_THAT(PathsOf(report), IsEmpty());
  EXPECT_THAT(WhyKept(report, "a"), HasSubstr("also of run b, which is kept"));
  EXPECT_THAT(report.idle_holds, IsEmpty());
}

TEST_F(RetentionPlan, SaysThatAHoldNamesNoRun) {
  AddRun("a", kDay1);
  Policy(
      "retention: [{families: '*', keep_last: 1}]\n"
      "holds: [{families: 'mpl', reason: 'case 7'}]\n");
  EXPECT_THAT(Plan().idle_holds, ElementsAre(HasSubstr("case 7")));
}

TEST_F(RetentionPlan, KeepsWhatIsNotWhatWasRecorded) {
  Put("root/a.bin", "something else by now");
  Add(Made("a", kDay1, "a.bin", "weights"));
  AddRun("z", kDay2);
  EXPECT_EQ(WhyKept(Plan(), "a"), "is not what was recorded: 21 bytes, recorded 7");
  EXPECT_THAT(PathsOf(Plan()), IsEmpty());
}

TEST_F(RetentionPlan, LeavesTheRunsFolderByNoPath) {
  namespace fs = std::filesystem;
  const std::string text = "outside";
  Put("outside.bin", text);
  Put("root/real/inside.bin", text);
  fs::create_symlink(folder_.path(), Root() / "up");
  fs::create_symlink("real", Root() / "folder");
  fs::create_symlink("../outside.bin", Root() / "link.bin");
  // No history takes a place with "..".
  for (const char* place : {"../outside.bin", "real/../../outside.bin"}) {
    EXPECT_FALSE(store_->Add(Made("up", kDay1, place, text), At(kDay3)).ok()) << place;
    EXPECT_FALSE(BelowRoot(place, Root()).ok()) << place;
  }
  const char* places[] = {"up/outside.bin", "link.bin", "folder/inside.bin", "/etc/hostname"};
  int i = 0;
  for (const char* place : places) Add(Made(fmt::format("a{}", i++), kDay1, place, text));
  Add(Made("b", kDay1, (folder_.path() / "outside.bin").string(), text));
  EXPECT_FALSE(BelowRoot("s3://bucket/outside.bin", Root()).ok());
  AddRun("z", kDay2);
  const RetentionReport report = Plan();
  EXPECT_THAT(PathsOf(report), IsEmpty());
  EXPECT_EQ(report.kept_files.size(), 5u);
  // By its absolute path it is the same file.
  Add(Made("d", kDay1, (fs::canonical(Root()) / "real/inside.bin").string(), text));
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("real/inside.bin"));
}

TEST_F(RetentionPlan, NeverListsRecordsDrillsOrTheHistory) {
  const std::string manifest = "{\"schema\": \"rharness.manifest/v1\", \"run_id\": \"x\"}";
  const std::string late = "{\"run_id\": \"x\", \"schema\": \"rharness.verdict/v1\"}";
  const auto put = [&](const std::string& run, const std::string& place, const std::string& text) {
    Put("root/" + place, text);
    Add(Made(run, kDay1, place, text, "log"));
  };
  put("a", "a.json", manifest);
  put("b", "b.json", late);
  put("c", "drill/runs/x/1/artifacts/model.bin", "w");
  Put("root/drill/journal.jsonl", "");
  put("d", "signed.intoto.jsonl", "{}");
  put("g", "other.bin", std::string("SQLite format 3\0 and more", 24));
  put("h", "ada.txt", "-----BEGIN PRIVATE KEY-----\n");
  put("i", "renamed.jsonl",
      "{\"payload\": \"e30=\", \"payloadType\": \"application/vnd.in-toto+json\"}");
  put("j", "kept.json", "[{\"schema\": \"rharness.manifest/v1\"}]");
  put("k", "runs.db.audit/lock", "x");
  Put("root/runs.db.audit/entries.jsonl", "");
  Put("root/runs.db.audit/nodes", "");
  put("l", ".rharness-deletions", "x");
  put("e", "metrics.json", "{\"metrics\": {}}");
  std::filesystem::create_hard_link(folder_.path() / "policy.yaml", Root() / "p.yaml");
  Add(Made("f", kDay1, "p.yaml", *ReadFile(folder_.path() / "policy.yaml")));
  AddRun("z", kDay2);
  const RetentionReport report = Plan();
  EXPECT_THAT(PathsOf(report), ElementsAre("metrics.json"));
  EXPECT_EQ(WhyKept(report, "a"), "is a record of rharness (rharness.manifest/v1)");
  EXPECT_EQ(WhyKept(report, "b"), "is a record of rharness (rharness.verdict/v1)");
  EXPECT_EQ(WhyKept(report, "c"), "is a file of the drill in drill");
  EXPECT_EQ(WhyKept(report, "d"), "is a signed statement");
  EXPECT_EQ(WhyKept(report, "f"), "is a file of rharness");
  EXPECT_EQ(WhyKept(report, "g"), "is a database");
  EXPECT_EQ(WhyKept(report, "h"), "is a key or a certificate");
  EXPECT_EQ(WhyKept(report, "i"), "is a signed statement");
  EXPECT_EQ(WhyKept(report, "j"), "is a record of rharness");
  EXPECT_EQ(WhyKept(report, "k"), "is a file of an audit log");
  EXPECT_EQ(WhyKept(report, "l"), "is a note of rharness");
}

TEST_F(RetentionPlan, KeepsShardsWithTheirIndexOrNone) {
  Manifest run = Made("a", kDay1, "ckpt/index.json", "{}");
  run.artifacts[0].parts = {{"shard-1.bin", 2, Sha256HexOf("s1")}};
  Put("root/ckpt/index.json", "{}");
  Put("root/ckpt/shard-1.bin", "s1");
  Add(run);
  AddRun("z", kDay2);
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("ckpt/index.json", "ckpt/shard-1.bin"));
}

TEST_F(RetentionPlan, IsRefusedWithoutRules) {
  Policy("drill: optional\n");
  const auto report = PlanRetention({.root = Root(),
                                     .history = "h",
                                     .policy = (folder_.path() / "policy.yaml").string(),
                                     .never = {}},
                                    At(kDay3), store_.get());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(report.error().ToString(), HasSubstr("has no rules of retention"));
}

}  // namespace
}  // namespace rharness
