// DVC repositories in git: commits, experiments, and that nothing of git's configuration runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/records/intake/dvc_repository.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class DvcInGit : public DvcRepositoryTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root());
    Git({"init", "-q"});
    Put(".gitignore", "/.dvc/cache\n/out\n/data\n");
    Put(".dvc/config", "");
    Put("train.py", "one");
    Put("lib/a.py", "two");
    Put("data", "d");
    Put("out", "o");
    Put("params.yaml", "lr: 1\n");
    Put("dvc.yaml", "stages: {train: {cmd: a, metrics: [m.json]}}\n");
    PutCached("o");
    PutStage("1", R"({"acc": 1})");
    base_ = Commit();
  }
  void PutStage(const std::string& lr, const std::string& metrics) {
    const std::string listing = R"([{"md5": ")" + TestMd5("two") + R"(", "relpath": "a.py"}])";
    Put("m.json", metrics);
    PutLock("  train:\n    cmd: a\n    deps:\n" + Entry("train.py", "one") +
            Entry("lib", TestMd5(listing) + ".dir", true) + Entry("data", "d") +
            "    params: {params.yaml: {lr: " + lr + "}}\n    outs:\n" + Entry("m.json", metrics) +
            Entry("out", "o"));
  }
  // As DVC keeps them; the workspace is put back.
  std::string PutExperiment(const std::string& name, const std::string& lr,
                            const std::string& metrics) {
    Put("params.yaml", "lr: " + lr + "\n");
    PutStage(lr, metrics);
    const std::string commit = Commit();
    Git({"update-ref", "refs/exps/" + base_.substr(0, 2) + "/" + base_.substr(2) + "/" + name,
         commit});
    Git({"reset", "-q", "--hard", base_});
    return commit;
  }
  std::string base_;
};

TEST_F(DvcInGit, HeadIsAHintWhereItHasTheCodeAsItWas) {
  const Manifest run = Import().runs.at(0);
  EXPECT_EQ(run.code.commit, base_);
  EXPECT_EQ(run.code.repository, std::filesystem::canonical(root()).string());
  EXPECT_THAT(WorthOf(run, "code.commit"),
              HasSubstr("hint HEAD of today; dvc.lock names no commit"));
  ASSERT_THAT(run.data, SizeIs(1));  // train.py and lib are in the commit
  EXPECT_EQ(run.data[0].path, "data");
}

TEST_F(DvcInGit, HeadWithOtherCodeOrParametersIsNotTheRuns) {
  Put("train.py", "changed");
  Commit();
  Put("train.py", "one");
  Manifest run = Import().runs.at(0);
  EXPECT_EQ(run.code.commit, "");
  EXPECT_TRUE(HasRemark(run, "HEAD is not the run's, for it has other versions of train.py"));
  ASSERT_THAT(run.data, SizeIs(3));
  EXPECT_EQ(run.data[0].sha256, Sha256HexOf("one"));
  Put("params.yaml", "lr: 2\n");
  Commit();
  run = Import().runs.at(0);
  EXPECT_EQ(run.code.commit, "");
  EXPECT_TRUE(HasRemark(run, "other versions of params.yaml"));
}

TEST_F(DvcInGit, ExperimentsAreRunsOfTheirOwnCommits) {
  const std::string a = PutExperiment("exp-a", "2", R"({"acc": 2})");
  PutExperiment("exp-b", "3", R"({"acc": 3})");
  Git({"update-ref", "refs/exps/exec/EXEC_HEAD", base_});
  Git({"update-ref", "refs/exps/stash", base_});
  // One that changed nothing.
  Git({"update-ref", "refs/exps/" + base_.substr(0, 2) + "/" + base_.substr(2) + "/same", base_});
  const ImportOutcome outcome = Import();
  EXPECT_THAT(outcome.refused, SizeIs(0));
  ASSERT_THAT(outcome.runs, SizeIs(3));
  const Manifest& first = outcome.runs[0];
  EXPECT_EQ(first.code.commit, a);
  EXPECT_EQ(WorthOf(first, "code.commit"), "exact refs/exps, experiment exp-a");
  EXPECT_EQ(WorthOf(first, "code.dirty"), "exact refs/exps, experiment exp-a");
  EXPECT_EQ(first.hyperparameters.at("lr").ToInt64(), 2);
  EXPECT_EQ(MetricOf(first, "acc"), 2.0);  // in git alone
  EXPECT_EQ(MetricOf(outcome.runs[1], "acc"), 3.0);
  EXPECT_EQ(MetricOf(outcome.runs[2], "acc"), 1.0);
  EXPECT_THAT(WorthOf(outcome.runs[2], "code.commit"), HasSubstr("hint"));
  EXPECT_EQ(ArtifactOf(first, "out")->sha256, Sha256HexOf("o"));
  EXPECT_EQ(Git({"status", "--porcelain"}), "");
}

TEST_F(DvcInGit, ResultThatTheWorkspaceTookFromAnExperimentIsOneRun) {
  PutExperiment("exp-a", "2", R"({"acc": 2})");
  Put("params.yaml", "lr: 2\n");
  PutStage("2", R"({"acc": 2})");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(1));
  EXPECT_THAT(WorthOf(outcome.runs[0], "code.commit"), HasSubstr("exact"));
}

TEST_F(DvcInGit, NothingOfTheRepositorysConfigurationRuns) {
  Put("evil.sh", "#!/bin/sh\ntouch " + (root() / "ran").string() + "\ncat\n");
  std::filesystem::permissions(root() / "evil.sh", std::filesystem::perms::owner_all);
  const std::string evil = root() / "evil.sh";
  for (const char* key : {"core.fsmonitor", "filter.x.smudge", "filter.x.clean", "diff.x.textconv",
                          "core.sshCommand", "core.pager", "core.hooksPath"}) {
    Git({"config", key, evil});
  }
  Put(".gitattributes", "* filter=x diff=x\n");
  Put(".git/hooks/post-checkout", "#!/bin/sh\ntouch ran\n");
  std::filesystem::remove(root() / "ran");
  EXPECT_THAT(Import().runs, SizeIs(1));
  EXPECT_FALSE(std::filesystem::exists(root() / "ran"));
}

TEST_F(DvcInGit, BelowTheRootOfGitRunsInTheirFolder) {
  Put("sub/.dvc/config", "");
  Put("sub/code.py", "c");
  Put("sub/out", "o");
  PutLock(
      "  t:\n    cmd: a\n    deps:\n" + Entry("code.py", "c") + "    outs:\n" + Entry("out", "o"),
      "sub/");
  const std::string head = Commit();
  const Manifest run = Import("dvc", "sub").runs.at(0);
  EXPECT_EQ(run.working_directory, "sub");
  EXPECT_EQ(run.code.commit, head);
  EXPECT_THAT(run.data, SizeIs(0));
  EXPECT_EQ(run.artifacts.at(0).path, "out");
}

}  // namespace
}  // namespace rharness
