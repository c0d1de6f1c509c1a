// A rerun that goes on from what its record left outside of its folder.
#include "harness/judge/left_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LeftFiles : public testing::Test {
 protected:
  LeftFiles() { recorded_.observation.emplace().inputs.emplace(); }
  // Written an hour before the record began, or since.
  std::string File(const std::string& name, bool since = true) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(WriteFileAtomic(path, name).ok());
    recorded_.started = SystemClock().Now() + std::chrono::hours(since ? -1 : 1);
    return path.string();
  }
  std::vector<std::string> Found(const std::vector<std::string>& read) const {
    std::optional<Observation> rerun(std::in_place);
    rerun->inputs.emplace();
    for (const std::string& path : read) rerun->inputs->push_back({.path = path});
    std::vector<std::string> found;
    for (const Finding& one : FindLeftFiles(recorded_, rerun)) {
      EXPECT_EQ(one.code, "missing_start") << "which keeps the verdict open";
      found.push_back(one.subject);
    }
    return found;
  }

  const ScopedTempDir folder_ = ScopedTempDir::Make("rharness-left-").value();
  mutable Manifest recorded_;
};

TEST_F(LeftFiles, AreThoseThatTheRerunAloneReadAndThatAreNewer) {
  const std::string state = File("state.dat");
  EXPECT_THAT(Found({state, "config.yaml", "/nowhere/state.dat"}), ElementsAre("input " + state));
  recorded_.observation->inputs->push_back({.path = state});
  EXPECT_THAT(Found({state}), IsEmpty()) << "the recorded run read it, too";
  recorded_.observation->inputs->back().path = "state.dat";
  EXPECT_THAT(Found({state}), IsEmpty()) << "in its own folder";
  recorded_.observation->inputs->back().path = "ate.dat";
  EXPECT_EQ(Found({state}).size(), 1U);
}

TEST_F(LeftFiles, AreNoOlderFilesNoCachesAndNoPrograms) {
  const std::string program = File("wrapper");
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  EXPECT_THAT(Found({program}), IsEmpty());
  EXPECT_THAT(Found({File("old.dat", false)}), IsEmpty());
  EXPECT_THAT(Found({File(".cache/x/y"), File("hub/models--a/blobs/b")}), IsEmpty());
}

TEST_F(LeftFiles, AreNotKnownWhereOneOfTheTwoWasNotObserved) {
  const std::string state = File("state.dat");
  recorded_.observation->inputs.reset();
  EXPECT_THAT(Found({state}), IsEmpty());
  recorded_.observation.reset();
  EXPECT_THAT(Found({state}), IsEmpty());
  EXPECT_THAT(FindLeftFiles(recorded_, std::nullopt), IsEmpty());
}

TEST(UnknownStart, IsEachFileThatTheRecordedRunReadAndWroteOver) {
  Manifest recorded;
  EXPECT_THAT(FindUnknownStart(recorded), IsEmpty());
  recorded.observation.emplace();
  EXPECT_THAT(FindUnknownStart(recorded), IsEmpty());
  recorded.observation->overwritten = {"ckpt/last.pt", "state.json"};
  const std::vector<Finding> found = FindUnknownStart(recorded);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].code, kStartNotRecorded);
  EXPECT_EQ(found[0].layer, Layer::kData);
  EXPECT_EQ(found[1].subject, "input state.json");
}

}  // namespace
}  // namespace rharness
