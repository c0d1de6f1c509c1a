// Names by time and id, and outputs that take the recorded ones.
#include "harness/execution/rerun/names_of_rerun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

TEST(ShapeOfName, IsThatOfOtherRuns) {
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"2026-11-30", "2027-01-02"},
           {"08-01-02", "23-59-00"},
           {"Nov30_08-01-02_host", "Jan02_23-59-00_host"},
           {"model_20261130T080102.pt", "model_20270102T235900.pt"},
           {"run-1764489600", "run-1799999999"},
           {"run-20261130_080102-x7k2j9q1", "run-20270102_235900-abcd0000"},
           {"0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"},
           {"9b2e7c1a-1111-4222-8333-444455556666", "0a0b0c0d-9999-4888-9777-0123456789ab"}}) {
    EXPECT_NE(ShapeOfName(one), "") << one;
    EXPECT_EQ(ShapeOfName(one), ShapeOfName(other)) << one;
  }
  for (const char* name : {"model.pt", "version_12", "checkpoint-100000", "step_001000.pt",
                           "epoch=3-step=60.ckpt", "resnet50", "seed_20991", "v2.10.08"}) {
    EXPECT_EQ(ShapeOfName(name), "") << name;
  }
  EXPECT_NE(ShapeOfName("a_2026-11-30"), ShapeOfName("b_2026-11-30"));
}

class NamesOfRerun : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
    manifest_.artifacts = {{.role = "weights", .path = "out/2026-11-30/08-01-02/model.pt"}};
    manifest_.metrics_path = "out/2026-11-30/08-01-02/log.csv";
  }
  void Write(const std::string& name) {
    fs::create_directories((folder_->path() / name).parent_path());
    ASSERT_TRUE(WriteFileAtomic(folder_->path() / name, name).ok());
  }
  std::vector<Finding> Take() {
    const auto held = HeldFolder::Open(folder_->path());
    const auto remarks = TakeRecordedNames(manifest_, workspace_, *held);
    EXPECT_TRUE(remarks.ok());
    return *remarks;
  }
  bool IsThere() const { return fs::exists(folder_->path() / manifest_.artifacts[0].path); }

  std::unique_ptr<ScopedTempDir> folder_;
  Manifest manifest_;
  Workspace workspace_;
};

TEST_F(NamesOfRerun, AreReplacedByTheRecordedOnes) {
  Write("out/2027-01-02/23-59-00/model.pt");
  Write("out/2027-01-02/23-59-00/log.csv");
  const auto remarks = Take();
  ASSERT_THAT(remarks, SizeIs(2));
  EXPECT_EQ(remarks[0].code, "output_renamed");
  EXPECT_EQ(remarks[0].observed, "2027-01-02");
  EXPECT_TRUE(IsThere());
  EXPECT_TRUE(fs::exists(folder_->path() / manifest_.metrics_path));
}

TEST_F(NamesOfRerun, StayWhereTheOutputIsThere) {
  Write(manifest_.artifacts[0].path);
  Write(manifest_.metrics_path);
  Write("out/2027-01-02/23-59-00/model.pt");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(NamesOfRerun, StayWhereTwoCouldBeMeant) {
  Write("out/2027-01-02/23-59-00/model.pt");
  Write("out/2027-01-03/00-00-01/model.pt");
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_FALSE(IsThere());
}

TEST_F(NamesOfRerun, StayWhereTheFolderIsTheCommitsOrOfTheData) {
  Write("out/2027-01-02/23-59-00/model.pt");
  workspace_.checkout = {{.path = "out/2027-01-02/23-59-00/model.pt", .name = "1"}};
  EXPECT_THAT(Take(), IsEmpty());
  workspace_.checkout.clear();
  manifest_.data = {{.name = "old", .path = "out/2027-01-02"}};
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(NamesOfRerun, StayWhereALinkStandsInTheirPlace) {
  Write("elsewhere/23-59-00/model.pt");
  fs::create_directories(folder_->path() / "out");
  fs::create_directory_symlink(folder_->path() / "elsewhere", folder_->path() / "out/2027-01-02");
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_FALSE(IsThere());
}

}  // namespace
}  // namespace rharness
