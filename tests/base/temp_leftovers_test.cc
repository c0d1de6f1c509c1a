// What killed processes left in the folder of temporary files: removed, and nothing that is used.
#include "harness/base/temp_leftovers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class TempLeftovers : public testing::Test {
 protected:
  TempLeftovers() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  ~TempLeftovers() override {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
  }
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  // As a process leaves it that took the lock so long ago and was killed.
  void Leave(const std::string& name, int minutes) const {
    ASSERT_TRUE(FolderLock::Take(At(name)).ok());
    ASSERT_TRUE(WriteFileAtomic(At(name) / "notes", "x").ok());
    fs::last_write_time(At(name) / "lock",
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }

 private:
  ScopedTempDir folder_ = *ScopedTempDir::Make();
  std::string before_;
};

TEST_F(TempLeftovers, AreTheOldOnesThatNobodyHolds) {
  Leave("mine-killed", 5);
  Leave("mine-young", 0);
  Leave("mine-held", 5);
  Leave("other-killed", 5);
  fs::create_directories(At("mine-without-lock"));
  fs::create_directory_symlink(At("other-killed"), At("mine-link"));
  const auto held = FolderLock::Take(At("mine-held"));
  ASSERT_TRUE(held.ok());
  RemoveLeftovers("mine-");
  EXPECT_FALSE(fs::exists(At("mine-killed")));
  for (const char* stays :
       {"mine-young", "mine-held", "other-killed", "mine-without-lock", "mine-link"}) {
    EXPECT_TRUE(fs::exists(fs::symlink_status(At(stays)))) << stays;
  }
  EXPECT_TRUE(fs::exists(At("other-killed/notes")));
}

}  // namespace
}  // namespace rharness
