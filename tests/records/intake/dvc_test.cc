// DVC repositories, laid out by hand as DVC lays them out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/compare/weights/safetensors_file.h"
#include "tests/records/intake/dvc_repository.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kCsv[] = "a,b\r\n1,2\r\n";

using Dvc = DvcRepositoryTest;

TEST_F(Dvc, StageBecomesARunWithCommandParametersDataMetricsAndCurves) {
  const std::string weights = FileOf({{"w", "F32", "[2]", BytesOf<float>({1.0F, 2.0F})}});
  Put(".dvc/config", "[core]\n remote = r\n['remote \"r\"']\n url = https://u:p@host/store\n");
  Put("raw.csv", kCsv);
  Put("raw.csv.dvc", "outs:\n" + Entry("raw.csv", kCsv));
  Put("params.yaml", "seed: 8\ntrain: {lr: 0.1}\n");
  Put("model.safetensors", weights);
  Put("metrics.json", R"({"acc": 0.5, "nested": {"f1": 0.25}, "name": "x"})");
  Put("loss.csv", "step,loss\n1,0.5\n2,0.25\n");
  Put("dvc.yaml", R"(
stages:
  train:
    cmd: python3 train.py --lr ${train.lr}
    metrics: [{metrics.json: {cache: false}}]
    plots: [loss.csv]
)");
  PutLock("  train:\n    cmd: python3 train.py --lr 0.1\n    deps:\n" + Entry("raw.csv", kCsv) +
          "    params: {params.yaml: {seed: 7, train: {lr: 0.1}}}\n    outs:\n" +
          Entry("loss.csv", "step,loss\n1,0.5\n2,0.25\n") +
          Entry("metrics.json", R"({"acc": 0.5, "nested": {"f1": 0.25}, "name": "x"})") +
          Entry("model.safetensors", weights));
  const ImportOutcome outcome = Import();
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  EXPECT_THAT(outcome.refused, SizeIs(0));
  ASSERT_THAT(outcome.runs, SizeIs(1));
  const Manifest& run = outcome.runs[0];
  EXPECT_THAT(run.run_id, testing::StartsWith("dvc-train-"));
  EXPECT_EQ(run.family, "train");
  EXPECT_THAT(run.command, ElementsAre("python3", "train.py", "--lr", "0.1"));
  EXPECT_THAT(WorthOf(run, "command"), HasSubstr("exact dvc.lock stages.train.cmd"));
  EXPECT_EQ(run.hyperparameters.at("train.lr").ToDouble(), 0.1);
  EXPECT_EQ(run.hyperparameters.at("seed").ToInt64(), 7);
  EXPECT_TRUE(HasRemark(run, "params.yaml has other values today: seed (8 there, 7 recorded)"));
  ASSERT_THAT(run.data, SizeIs(1));
  EXPECT_EQ(run.data[0].path, "raw.csv");
  EXPECT_EQ(run.data[0].sha256, Sha256HexOf(kCsv));
  EXPECT_EQ(run.data[0].other_digest, "md5:" + TestMd5(kCsv));
  EXPECT_EQ(run.data[0].location, (root() / "raw.csv").string());
  EXPECT_EQ(run.data[0].source, "https://host/store/files/md5/" + TestMd5(kCsv).substr(0, 2) + "/" +
                                    TestMd5(kCsv).substr(2));
  EXPECT_THAT(WorthOf(run, "data[0]"), HasSubstr("md5 verified"));
  EXPECT_EQ(MetricOf(run, "acc"), 0.5);
  EXPECT_EQ(MetricOf(run, "nested.f1"), 0.25);
  EXPECT_THAT(run.metrics, SizeIs(2));
  ASSERT_NE(CurveOf(run, "loss"), nullptr);
  EXPECT_THAT(CurveOf(run, "loss")->values, ElementsAre(0.5, 0.25));
  ASSERT_THAT(run.artifacts, SizeIs(3));
  EXPECT_EQ(ArtifactOf(run, "metrics.json")->role, "metrics");
  const Artifact* model = ArtifactOf(run, "model.safetensors");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->role, "weights");
  EXPECT_EQ(model->sha256, Sha256HexOf(weights));
  EXPECT_EQ(model->tensors.at(0).name, "w");
  EXPECT_THAT(WorthOf(run, "image"), "missing");
  EXPECT_THAT(WorthOf(run, "code.commit"), "missing");
  EXPECT_THAT(Import().runs.at(0).run_id, run.run_id);
}

TEST_F(Dvc, DataThatChangedSinceAreNoPinAndBothHashesAreSaid) {
  Put("data.csv", "new");
  const ImportOutcome outcome = ImportDep(Entry("data.csv", "old"));
  ASSERT_THAT(outcome.runs, SizeIs(1));
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.data.at(0).sha256, "");
  EXPECT_EQ(run.data.at(0).location, "");
  EXPECT_THAT(WorthOf(run, "data[0]"), HasSubstr("hint"));
  EXPECT_TRUE(HasRemark(run, TestMd5("new")));
  EXPECT_TRUE(HasRemark(run, "recorded is " + TestMd5("old")));
}

TEST_F(Dvc, CacheHasWhatTheWorkspaceLost) {
  Put("data.csv", "new");
  const std::string md5 = PutCached("old");
  const Manifest run = ImportDep(Entry("data.csv", "old")).runs.at(0);
  EXPECT_EQ(run.data.at(0).sha256, Sha256HexOf("old"));
  EXPECT_THAT(run.data.at(0).location, testing::EndsWith(md5.substr(2)));
  EXPECT_TRUE(HasRemark(run, "the cache has what was recorded"));
}

TEST_F(Dvc, CacheThatIsDamagedIsNotBelieved) {
  const std::string md5 = TestMd5("old");
  Put(".dvc/cache/files/md5/" + md5.substr(0, 2) + "/" + md5.substr(2), "forged");
  const Manifest run = ImportDep(Entry("data.csv", "old")).runs.at(0);
  EXPECT_EQ(run.data.at(0).sha256, "");
  EXPECT_TRUE(HasRemark(run, "the cache is damaged"));
}

TEST_F(Dvc, CachesOfBeforeDvcThreeAndInOtherFoldersAreFound) {
  const std::string md5 = TestMd5("a\nb\n");
  Put("store/" + md5.substr(0, 2) + "/" + md5.substr(2), "a\r\nb\r\n");
  Put("out", "o");
  Put(".dvc/config", "[cache]\ndir = ../store\n");
  PutLock("  train:\n    cmd: a\n    deps:\n    - {path: t, md5: " + md5 + "}\n    outs:\n" +
          Entry("out", "o"));
  const Manifest run = Import("dvc").runs.at(0);
  EXPECT_EQ(run.data.at(0).other_digest, "md5-dos2unix:" + md5);
  EXPECT_EQ(run.data.at(0).sha256, Sha256HexOf("a\r\nb\r\n"));
  EXPECT_THAT(WorthOf(run, "data[0]"), HasSubstr("counts CRLF as LF"));
}

class DvcDirectory : public Dvc {
 protected:
  std::string Listing() const {
    return R"([{"md5": ")" + TestMd5("x") + R"(", "relpath": "a.csv"}, {"md5": ")" + TestMd5("y") +
           R"(", "relpath": "s/\u00e9.csv"}])";
  }
  std::string Hash() const { return TestMd5(Listing()) + ".dir"; }
  std::string TreeSha256() {
    std::filesystem::create_directories(root() / "other/s");
    Put("other/a.csv", "x");
    Put("other/s/\u00e9.csv", "y");
    return HashTree(root() / "other")->sha256;
  }
};

TEST_F(DvcDirectory, InTheWorkspaceIsHashedByItsFiles) {
  Put("data/a.csv", "x");
  Put("data/s/\u00e9.csv", "y");
  const Manifest run = ImportDep(Entry("data", Hash(), true)).runs.at(0);
  EXPECT_EQ(run.data.at(0).kind, DataKind::kDirectory);
  EXPECT_EQ(run.data.at(0).sha256, TreeSha256());
  EXPECT_EQ(run.data.at(0).sha256, HashTree(root() / "data")->sha256);
  EXPECT_EQ(run.data.at(0).location, (root() / "data").string());
  EXPECT_EQ(run.data.at(0).size_bytes, 2u);
}

TEST_F(DvcDirectory, WithIgnoredFilesHasNoPlaceThatIsJustIt) {
  Put("data/a.csv", "x");
  Put("data/s/\u00e9.csv", "y");
  Put("data/s/b.tmp", "z");
  Put(".dvcignore", "*.tmp\n");
  const Manifest run = ImportDep(Entry("data", Hash(), true)).runs.at(0);
  EXPECT_EQ(run.data.at(0).sha256, TreeSha256());
  EXPECT_EQ(run.data.at(0).location, "");
  std::filesystem::remove(root() / ".dvcignore");
  EXPECT_EQ(ImportDep(Entry("data", Hash(), true)).runs.at(0).data.at(0).sha256, "");
}

TEST_F(DvcDirectory, InTheCacheIsPutTogetherFromItsListing) {
  PutCached(Listing(), ".dir");
  PutCached("x");
  EXPECT_EQ(ImportDep(Entry("data", Hash(), true)).runs.at(0).data.at(0).sha256, "");
  PutCached("y");
  const Manifest run = ImportDep(Entry("data", Hash(), true)).runs.at(0);
  EXPECT_EQ(run.data.at(0).sha256, TreeSha256());
  EXPECT_EQ(run.data.at(0).location, "");
  EXPECT_TRUE(HasRemark(run, "--dvc-cache"));
}

TEST_F(DvcDirectory, OutputGivesAnArtifactAFile) {
  Put("model/a.csv", "x");
  Put("model/s/\u00e9.csv", "y");
  Put("dvc.yaml", "stages: {train: {cmd: a, plots: [{model: {cache: false}}]}}\n");
  PutLock("  train:\n    cmd: a\n    outs:\n" + Entry("model", Hash(), true));
  const Manifest run = Import().runs.at(0);
  ASSERT_THAT(run.artifacts, SizeIs(2));
  EXPECT_EQ(run.artifacts[0].path, "model/a.csv");
  EXPECT_EQ(run.artifacts[1].sha256, Sha256HexOf("y"));
  EXPECT_TRUE(HasRemark(run, "plot model/a.csv"));  // which is no table
}

TEST_F(Dvc, PathsThatLeaveTheRepositoryAreNotRead) {
  WriteFileAtomic(root().parent_path() / "secret", "s").ok();
  const Manifest run =
      ImportDep(Entry("../secret", "s") + Entry((root().parent_path() / "secret").string(), "s") +
                "    - {path: 's3://u:p@b/k.csv', etag: '1'}\n")
          .runs.at(0);
  ASSERT_THAT(run.data, SizeIs(3));
  for (const DataItem& item : run.data) {
    EXPECT_EQ(item.sha256, "");
    EXPECT_EQ(item.location, "");
  }
  EXPECT_EQ(run.data[2].source, "s3://b/k.csv");
  EXPECT_TRUE(HasRemark(run, "lies outside of the repository"));
  EXPECT_EQ(ToJson(run).Dump().find(Sha256HexOf("s")), std::string::npos);
}

TEST_F(Dvc, LinksAreNotFollowed) {
  WriteFileAtomic(root().parent_path() / "secret", "s").ok();
  Put(".dvc/config", "");
  PutLink("link", "../secret");
  PutLink("loop", ".");
  Put("sub/x", "x");
  PutLink("sub/dvc.lock", "../dvc.lock");
  const ImportOutcome outcome = ImportDep(Entry("link", "s") + Entry("loop/loop/link", "s"));
  const Manifest& run = outcome.runs.at(0);
  EXPECT_EQ(run.data.at(0).sha256, "");
  EXPECT_EQ(run.data.at(1).sha256, "");
  ASSERT_THAT(outcome.refused, SizeIs(1));
  EXPECT_THAT(outcome.refused[0].first, HasSubstr("sub/dvc.lock"));
  EXPECT_THAT(outcome.refused[0].second, HasSubstr("symbolic link"));
}

TEST_F(Dvc, MalformedFilesAreNamedAndOthersAreKept) {
  Put("bad/dvc.lock", "schema: '2.0'\nstages: {a: [");
  Put("bad.dvc", "outs: 5\n");
  Put("old.dvc", "cmd: x\n");
  Put("dvc.yaml", "stages: [\n");
  const ImportOutcome outcome = ImportDep("");
  EXPECT_THAT(outcome.runs, SizeIs(1));
  std::string refused;
  for (const auto& [where, why] : outcome.refused) refused += where + " " + why + "\n";
  EXPECT_THAT(outcome.refused, SizeIs(4)) << refused;
  for (const char* name : {"bad/dvc.lock", "bad.dvc", "old.dvc", "dvc.yaml"}) {
    EXPECT_THAT(refused, HasSubstr(name));
  }
}

TEST_F(Dvc, SubfoldersAndWorkingDirectoriesCountFromTheirOwnPlace) {
  Put(".dvc/config", "");
  Put("a/b/in", "i");
  Put("a/b/out", "o");
  Put("raw", "r");
  Put("a/dvc.yaml", "stages:\n  near: {cmd: x, wdir: b}\n  far: {cmd: x, wdir: b}\n");
  PutLock("  near:\n    cmd: run\n    deps:\n" + Entry("in", "i") + "    outs:\n" +
              Entry("out", "o") + "  far:\n    cmd: run 1\n    deps:\n" + Entry("../../raw", "r") +
              "    outs:\n" + Entry("out", "o"),
          "a/");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(2));
  const Manifest& near = outcome.runs[0];
  EXPECT_EQ(near.family, "a/dvc.yaml:near");
  EXPECT_EQ(near.working_directory, "a/b");
  EXPECT_EQ(near.data.at(0).path, "in");
  EXPECT_EQ(near.artifacts.at(0).path, "out");
  const Manifest& far = outcome.runs[1];
  EXPECT_EQ(far.working_directory, "");
  EXPECT_THAT(far.command, ElementsAre("env", "-C", "a/b", "run", "1"));
  EXPECT_EQ(far.data.at(0).path, "raw");
  EXPECT_EQ(far.artifacts.at(0).path, "a/b/out");
  EXPECT_THAT(Import("dvc", "a").runs, SizeIs(2));
  EXPECT_THAT(Import("dvc", "a/dvc.lock").runs, SizeIs(2));
}

TEST_F(Dvc, ItemsOfTwoOwnersAndNewerDvcFilesAreTold) {
  Put("raw", "r");
  Put("raw.dvc", "outs:\n" + Entry("raw", "new"));
  Put("again.dvc", "outs:\n" + Entry("raw", "new"));
  const Manifest run = ImportDep(Entry("raw", "r")).runs.at(0);
  EXPECT_TRUE(HasRemark(run, "'raw' is written by more than one stage or .dvc file"));
  EXPECT_TRUE(HasRemark(run, "now has md5:" + TestMd5("new")));
  EXPECT_EQ(run.data.at(0).sha256, Sha256HexOf("r"));
}

TEST_F(Dvc, WithoutArtifactsNothingIsHashed) {
  Put("data.csv", "d");
  ImportDep(Entry("data.csv", "d"));
  const Manifest run = Import("dvc", "", false).runs.at(0);
  EXPECT_EQ(run.data.at(0).sha256, "");
  EXPECT_EQ(run.artifacts.at(0).sha256, "");
  EXPECT_THAT(WorthOf(run, "data[0]"), HasSubstr("--no-artifacts"));
}

TEST_F(Dvc, StagesWithoutOutputsAreNoRuns) {
  Put(".dvc/config", "");
  PutLock("  train:\n    cmd: a\n");
  const ImportOutcome outcome = Import();
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_EQ(outcome.status.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rharness
