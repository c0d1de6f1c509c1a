// Folders of MLPerf results through the door of `rharness compare`: read once, named when
// unreadable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "harness/base/files.h"
#include "harness/judge/comparison/compare_all.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Pair;

class CompareResultFolders : public testing::Test {
 protected:
  void SetUp() override {
    auto temp = ScopedTempDir::Make();
    ASSERT_TRUE(temp.ok());
    temp_.emplace(std::move(*temp));
  }

  // A group of five runs; the folder's name says nothing.
  std::filesystem::path Group(const std::string& name, int first_seed, double interval = 1.0,
                              const LogSpec& common = {}) {
    const std::filesystem::path folder = temp_->path() / name;
    for (const LogSpec& spec :
         RunsReaching(std::vector<double>(5, 4 * interval), interval, first_seed, common)) {
      std::filesystem::create_directories(folder);
      const auto file = folder / fmt::format("result_{}.txt", spec.seed - first_seed);
      EXPECT_TRUE(WriteFileAtomic(file, WriteLog(spec)).ok());
    }
    return folder;
  }

  void Break(const std::filesystem::path& folder) {
    EXPECT_TRUE(WriteFileAtomic(folder / "result_3.txt", ":::MLLOG {\"key\": \n").ok());
  }

  ComparisonRequest Request(const std::string& a, const std::string& b) {
    ComparisonRequest request{.a = temp_->path() / a, .b = temp_->path() / b};
    request.load = [this](const std::filesystem::path& path, const SubjectOptions& options) {
      ++loads_[path.string()];
      return LoadSubject(path, options);
    };
    return request;
  }

  std::optional<ScopedTempDir> temp_;
  std::map<std::string, int> loads_;
};

TEST_F(CompareResultFolders, AreReadOnce) {
  Group("a", 1);
  Group("b", 11);
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  ASSERT_EQ(set->comparisons.size(), 1u);
  EXPECT_EQ(set->comparisons[0].a.kind, SideKind::kResults);
  EXPECT_EQ(set->comparisons[0].a.detail, "5 runs of retinanet, evaluated every epoch");
  EXPECT_EQ(loads_.size(), 2u);
  EXPECT_THAT(loads_, Each(Pair(testing::_, 1)));
}

TEST_F(CompareResultFolders, OfManyGroupsAreReadOnceEach) {
  for (const char* group : {"a/x", "a/y", "b/x", "b/y"}) Group(group, 1);
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  EXPECT_EQ(set->comparisons.size(), 2u);
  EXPECT_EQ(loads_.size(), 6u) << "and the folders that hold them";
  EXPECT_THAT(loads_, Each(Pair(testing::_, 1)));
}

// Its files alone are of no kind that is compared, and two ways of saying nothing are no answer.
TEST_F(CompareResultFolders, OfALogThatIsNotReadSayWhy) {
  for (const char side : {'a', 'b'}) {
    for (const char run : {'0', '1'}) {
      const auto metrics = temp_->path() / std::string(1, side) / std::string(32, run) / "metrics";
      std::filesystem::create_directories(metrics);
      ASSERT_TRUE(WriteFileAtomic(metrics / "loss", "1 0.5 1\n").ok());
    }
  }
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(set.error().message, HasSubstr("holds several runs"));
}

TEST_F(CompareResultFolders, WithAnUnreadableLogAreNamedAndNotComparedAsFiles) {
  Group("a", 1);
  Break(Group("b", 11));
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_FALSE(set.ok()) << set->comparisons.size() << " files were compared";
  EXPECT_THAT(set.error().ToString(), HasSubstr("b/result_3.txt: line 1"));
}

TEST_F(CompareResultFolders, AmongManyAnUnreadableGroupIsThatPairsResult) {
  for (const char* group : {"a/x", "a/y", "b/x", "b/y"}) Group(group, 1);
  Break(temp_->path() / "b/y");
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  ASSERT_EQ(set->comparisons.size(), 2u);
  EXPECT_EQ(set->comparisons[0].verdict, Verdict::kIdentical);
  const Comparison& broken = set->comparisons[1];
  EXPECT_EQ(broken.name, "y");
  EXPECT_EQ(broken.verdict, Verdict::kNotComparable);
  EXPECT_THAT(broken.headline, HasSubstr("result_3.txt: line 1"));
}

TEST_F(CompareResultFolders, OnTwoGridsAreNotComparable) {
  Group("a", 1, 1.0);
  Group("b", 11, 3.0);
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  const Comparison& comparison = set->comparisons[0];
  EXPECT_EQ(comparison.verdict, Verdict::kNotComparable);
  EXPECT_EQ(comparison.headline,
            "b was evaluated every 3 epochs, a every epoch: that alone moves the count at the "
            "target by +50 %")
      << "4 epochs are the second evaluation of the coarser grid, at 6";
}

TEST_F(CompareResultFolders, OfFractionsOfAnEpochKeepTheirPositionsApart) {
  const LogSpec rgat{.benchmark = "rgat"};
  Group("a", 1, 0.05, rgat);
  Group("b", 11, 0.05, rgat);
  const auto set = CompareAll(Request("a", "b"));
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  ASSERT_EQ(set->comparisons[0].curves.size(), 1u);
  const CurveComparison& curve = set->comparisons[0].curves[0];
  EXPECT_EQ(curve.name, "eval_accuracy, mean of the runs, by millionths of epochs");
  EXPECT_EQ(curve.steps, (std::vector<std::int64_t>{100'000, 150'000, 200'000}));
}

}  // namespace
}  // namespace rharness
