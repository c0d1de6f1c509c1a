// DiskMeter against the blocks that stat(2) reports for files made here.
#include "harness/base/disk_meter.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class DiskMeterTest : public testing::Test {
 protected:
  std::uint64_t Blocks(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  fs::path Write(const std::string& name, std::size_t bytes) {
    const fs::path path = root_->path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << std::string(bytes, 'x');
    return path;
  }
  Result<ScopedTempDir> root_ = ScopedTempDir::Make();
};

TEST_F(DiskMeterTest, SumsFilesAndFolders) {
  const fs::path a = Write("a", 100'000);
  const fs::path b = Write("deep/er/b", 50'000);
  const std::uint64_t expected =
      Blocks(a) + Blocks(b) + Blocks(root_->path() / "deep") + Blocks(root_->path() / "deep/er");
  ASSERT_GE(expected, 150'000u);
  EXPECT_EQ(DiskMeter(root_->path()).MeasureNow(), expected);
}

TEST_F(DiskMeterTest, CountsAFileWithSeveralNamesOnce) {
  const fs::path a = Write("a", 100'000);
  fs::create_hard_link(a, root_->path() / "b");
  EXPECT_EQ(DiskMeter(root_->path()).MeasureNow(), Blocks(a));
}

TEST_F(DiskMeterTest, DoesNotFollowSymbolicLinks) {
  fs::create_directory_symlink("/usr", root_->path() / "usr");
  EXPECT_EQ(DiskMeter(root_->path()).MeasureNow(), Blocks(root_->path() / "usr"));
}

TEST_F(DiskMeterTest, SmallStepsEndWithTheSameSum) {
  for (int i = 0; i < 40; ++i) Write("folder" + std::to_string(i) + "/file", 5000);
  DiskMeter meter(root_->path());
  int steps = 1;
  while (!meter.Step(1)) ++steps;
  EXPECT_GT(steps, 40);
  EXPECT_EQ(meter.used_bytes(), DiskMeter(root_->path()).MeasureNow());
}

TEST_F(DiskMeterTest, LooksAtNoProcessWhereOnlyNamesAreAskedFor) {
  const fs::path a = Write("a", 100'000);
  const std::uint64_t named = Blocks(a);
  const fs::path gone = Write("gone", 50'000);
  const std::ifstream open(gone);
  fs::remove(gone);
  DiskMeter meter(root_->path());
  EXPECT_EQ(meter.MeasureNamed(), named);
  EXPECT_GT(meter.MeasureNow(), named);
  EXPECT_EQ(meter.MeasureNamed(), named);
}

TEST_F(DiskMeterTest, AMissingRootMeasuresNothing) {
  EXPECT_EQ(DiskMeter(root_->path() / "absent").MeasureNow(), 0u);
  EXPECT_EQ(DiskMeter(root_->path() / "absent").MeasureNamed(), 0u);
}

}  // namespace
}  // namespace rharness
