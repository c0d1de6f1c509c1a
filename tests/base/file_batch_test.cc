// Files that get their names together.
#include "harness/base/file_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileBatches : public testing::Test {
 protected:
  std::size_t Names() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      ++count;
    }
    return count;
  }
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  ScopedTempDir folder_ = *ScopedTempDir::Make();
  FileBatch batch_;
};

TEST_F(FileBatches, HaveNoNamesBeforeAllOfThemAreWhole) {
  ASSERT_TRUE(batch_.Add(At("a"), "one").ok());
  ASSERT_TRUE(batch_.Add(At("b"), "two").ok());
  EXPECT_EQ(Names(), 0u);
  EXPECT_TRUE(batch_.Holds(At("a")));
  EXPECT_FALSE(batch_.Holds(At("c")));
  ASSERT_TRUE(batch_.Flush().ok());
  EXPECT_EQ(Names(), 2u);
  EXPECT_EQ(*ReadFile(At("a")), "one");
  EXPECT_EQ(*ReadFile(At("b")), "two");
  EXPECT_FALSE(batch_.Holds(At("a")));
  struct stat status {};
  ASSERT_EQ(::stat(At("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST_F(FileBatches, LeaveNothingWhereNobodyFlushes) {
  {
    FileBatch dropped;
    ASSERT_TRUE(dropped.Add(At("a"), "one").ok());
  }
  EXPECT_EQ(Names(), 0u);
}

TEST_F(FileBatches, WriteNothingOverWhatCameMeanwhile) {
  ASSERT_TRUE(batch_.Add(At("a"), "one").ok());
  ASSERT_TRUE(WriteFileAtomic(At("a"), "other").ok());
  const Status flushed = batch_.Flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().code, ErrorCode::kIo);
  EXPECT_THAT(flushed.error().ToString(), HasSubstr(At("a").string()));
  EXPECT_EQ(*ReadFile(At("a")), "other");
}

TEST_F(FileBatches, TakeAnyNumberInAnyFolder) {
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(batch_.Add(At(i % 2 == 0 ? "x" : "y/z") / std::to_string(i), "text").ok());
  }
  ASSERT_TRUE(batch_.Flush().ok());
  EXPECT_EQ(Names(), 603u);
  EXPECT_EQ(*ReadFile(At("y/z/599")), "text");
}

TEST_F(FileBatches, AreForFoldersOnly) {
  ASSERT_TRUE(WriteFileAtomic(At("a"), "a file").ok());
  EXPECT_FALSE(batch_.Add(At("a/b"), "one").ok());
}

}  // namespace
}  // namespace rharness
