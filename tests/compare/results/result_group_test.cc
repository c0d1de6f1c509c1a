// Groups of runs: what must agree, what is counted, which files are taken.
#include "compare/results/result_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/files.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void Write(const std::filesystem::path& path, const LogSpec& spec) {
  const Status status = WriteFileAtomic(path, WriteLog(spec));
  ASSERT_TRUE(status.ok()) << status.error().ToString();
}

TEST(ResultGroup, HoldsWhatItsRunsShare) {
  const ResultGroup group = MakeGroup("a", RunsReaching({4, 5, 4, 4, 4}, 1, 1));
  EXPECT_TRUE(group.coherent);
  EXPECT_TRUE(group.seeds_distinct);
  EXPECT_EQ(group.benchmark, "retinanet");
  EXPECT_EQ(group.global_batch_size, 256);
  EXPECT_THAT(group.converged, ElementsAre(4, 5, 4, 4, 4));
  EXPECT_EQ(group.quantum, 1.0);
  EXPECT_TRUE(group.findings.empty()) << group.findings.front().message;
}

TEST(ResultGroup, ResolvesWhatMostRunsDoAtTheTarget) {
  std::vector<LogSpec> specs = RunsReaching({12, 12, 12}, 3, 1);
  specs[1] = RunsReaching({12}, 1, 2).front();
  EXPECT_EQ(MakeGroup("a", specs).quantum, 3.0) << "the median of 3, 1 and 3";
}

TEST(ResultGroup, FindsRunsOfAnotherConfiguration) {
  std::vector<LogSpec> specs = RunsReaching({4, 4, 4, 4, 4}, 1, 1);
  specs[2].batch_size = 512;
  const ResultGroup batch = MakeGroup("a", specs);
  EXPECT_FALSE(batch.coherent);
  EXPECT_TRUE(HasFinding(batch.findings, "mixed_batch_size"));
  specs[2].batch_size = 256;
  specs[3].learning_rate = "0.2";
  const ResultGroup rate = MakeGroup("a", specs);
  EXPECT_FALSE(rate.coherent);
  ASSERT_TRUE(HasFinding(rate.findings, "mixed_hyperparameter"));
  EXPECT_THAT(rate.findings.front().message,
              HasSubstr("opt_base_learning_rate is 0.2 in result_4.txt and 0.0001 in result_1"));
  specs[3].learning_rate = "0.0001";
  specs[4].benchmark = "ssd";
  EXPECT_FALSE(MakeGroup("a", specs).coherent);
}

TEST(ResultGroup, FindsSeedsThatTwoRunsShare) {
  std::vector<LogSpec> specs = RunsReaching({4, 4, 4, 4, 4}, 1, 1);
  specs[4].seed = 2;
  const ResultGroup group = MakeGroup("a", specs);
  EXPECT_FALSE(group.seeds_distinct);
  EXPECT_TRUE(HasFinding(group.findings, "duplicate_seed"));
}

TEST(ResultGroup, CountsRunsThatDidNotConverge) {
  const ResultGroup group = MakeGroup("a", RunsReaching({4, -8, 4, 4, -8}, 1, 1));
  EXPECT_EQ(group.not_converged, 2);
  EXPECT_THAT(group.converged, ElementsAre(4, 4, 4));
  EXPECT_TRUE(HasFinding(group.findings, "not_converged"));
}

TEST(ResultGroup, FindsAWrongNumberOfRunsAndNonFiniteEvaluations) {
  LogSpec bad;
  bad.evaluations = {{1, std::numeric_limits<double>::quiet_NaN()}, {2, 0.3}};
  std::string log = WriteLog(bad);
  log.replace(log.find("\"value\": nan"), 12, "\"value\": NaN");
  auto run = ParseMllog(log, "bad.txt");
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  const auto group = BuildResultGroup("a", {*run});
  ASSERT_TRUE(group.ok());
  EXPECT_TRUE(HasFinding(group->findings, "run_count"));
  EXPECT_TRUE(HasFinding(group->findings, "non_finite_evaluation"));
}

TEST(ResultGroup, RefusesAGroupOfNoRuns) { EXPECT_FALSE(BuildResultGroup("a", {}).ok()); }

TEST(ResultGroup, ReadsTheResultFilesOfAFolderInTheOrderOfTheirNumbers) {
  auto temp = ScopedTempDir::Make();
  ASSERT_TRUE(temp.ok());
  const auto folder = temp->path() / "Sub" / "results" / "Sys" / "retinanet";
  for (const int i : {10, 2, 1}) {
    Write(folder / fmt::format("result_{}.txt", i), {.seed = i});
  }
  Write(folder / "notes.txt", {.seed = 99});
  const auto group = LoadResultGroup(folder);
  ASSERT_TRUE(group.ok()) << group.error().ToString();
  EXPECT_EQ(group->name, "Sub/Sys");
  EXPECT_EQ(group->submitter, "Sub");
  ASSERT_EQ(group->runs.size(), 3u);
  EXPECT_THAT(group->runs[0].seeds, ElementsAre("1"));
  EXPECT_THAT(group->runs[2].seeds, ElementsAre("10"));
  Write(temp->path() / "other" / "result_0.txt", {});
  const auto groups = LoadResultGroups(temp->path());
  ASSERT_TRUE(groups.ok()) << groups.error().ToString();
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[1].name, "other");
  EXPECT_EQ((*groups)[1].submitter, "Org");
}

TEST(ResultGroup, NamesTheFileThatCannotBeRead) {
  auto temp = ScopedTempDir::Make();
  ASSERT_TRUE(temp.ok());
  EXPECT_EQ(LoadResultGroup(temp->path()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(LoadResultGroup(temp->path() / "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(LoadResultGroups(temp->path()).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(temp->path() / "result_0.txt", "x\n:::MLLOG {\n").ok());
  EXPECT_THAT(LoadResultGroup(temp->path()).error().ToString(), HasSubstr("result_0.txt: line 2"));
}

TEST(ResultGroup, RefusesALinkThatLeavesTheFolder) {
  auto temp = ScopedTempDir::Make();
  ASSERT_TRUE(temp.ok());
  Write(temp->path() / "elsewhere.txt", {});
  std::filesystem::create_directory(temp->path() / "group");
  std::filesystem::create_symlink(temp->path() / "elsewhere.txt",
                                  temp->path() / "group" / "result_0.txt");
  EXPECT_EQ(LoadResultGroup(temp->path() / "group").error().code, ErrorCode::kIntegrity);
}

}  // namespace
}  // namespace rharness
